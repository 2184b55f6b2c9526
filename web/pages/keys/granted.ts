import type { ApiKey, Permission } from '../deploy/shared/wire.ts'

/** Stands for every project, now and later. */
export const everyProject = '*'

/** The ticked permissions, by project. Null stands for all, now and later. */
export type Granted = Record<string, { environments: string[] | null; queries: string[] | null }>

export function permissionsOf(granted: Granted): Permission[] {
  return Object.entries(granted).map(([projectId, { environments, queries }]) =>
    Object.assign({ project_id: projectId, environments: environments ?? ('*' as const) }, queries && { queries }),
  )
}

/** The boxes of a key's permissions; null where a project has several lines, which boxes would run together. */
export function grantedOf(permissions: ApiKey['permissions']): Granted | null {
  const granted: Granted = {}
  for (const { project_id: projectId, environments, queries } of permissions) {
    if (Object.hasOwn(granted, projectId)) return null
    granted[projectId] = { environments: environments === '*' ? null : environments, queries: queries ?? null }
  }
  return granted
}

export function whyNothing(granted: Granted): string | null {
  const lines = Object.values(granted)
  if (lines.length === 0) return 'Tick at least one project.'
  if (lines.some(({ environments }) => environments?.length === 0)) return 'Tick at least one environment.'
  return lines.some(({ queries }) => queries?.length === 0) ? 'Tick at least one query.' : null
}
