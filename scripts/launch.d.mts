type Launch = {
  program: string
  cwd: string
  compileCache: string
  environment?: Record<string, string | undefined>
  isService?: boolean
}

export function cacheFolder(): string
export function findNode(): string
export function serverEnvironment(environment: Record<string, string | undefined>): Record<string, string | undefined>
export function launch(options: Launch): void
