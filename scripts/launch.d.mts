type Launch = {
  program: string
  cwd: string
  compileCache: string
  environment?: Record<string, string | undefined>
}

export function findNode(): string
export function launch(options: Launch): void
