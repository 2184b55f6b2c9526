export const taken: string[]
export const programs: string[]
export const runtimeParts: string[]
export const packageManifest: {
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
}
