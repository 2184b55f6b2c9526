type Manifest = Partial<Record<string, Record<string, string>>>
type Lock = { packages: Record<string, Record<string, unknown>> }

export const allowedLicenses: Set<string>
export function supplyProblems(manifest: Manifest, lock: Lock, isInstalled: (path: string) => boolean): string[]
