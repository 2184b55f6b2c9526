type Packages = Record<string, { version?: string; dev?: boolean; dependencies?: Record<string, string> }>
type Installed = { license: string; holders: string[] }

export function withPackages(
  notice: string,
  packages: Packages,
  imported: string[],
  read?: (path: string) => Installed | undefined,
): string
export function importedByTheApp(): string[]
