import type { ApiKey } from '../deploy/shared/wire.ts'

type Target = { projectId: string; environment?: string; query?: string }

/** Whether a line of the key's permissions covers the target; what the target leaves out is not asked. */
export function reaches(
  { permissions }: Pick<ApiKey, 'permissions'>,
  { projectId, environment, query }: Target,
): boolean {
  return permissions.some(
    (line) =>
      (line.project_id === '*' || line.project_id === projectId) &&
      (environment === undefined || line.environments === '*' || line.environments.includes(environment)) &&
      (query === undefined || line.queries === undefined || line.queries.includes(query)),
  )
}

/** The access of a key in this project, in a few words. */
export function sayReach({ permissions }: Pick<ApiKey, 'permissions'>, projectId: string): string {
  const here = permissions.filter((line) => line.project_id === '*' || line.project_id === projectId)
  const words = here.map(({ environments, queries }) => {
    const what =
      queries === undefined ? 'everything' : queries.length <= 2 ? queries.join(' and ') : `${queries.length} queries`
    return `${what} in ${environments === '*' ? 'every environment' : environments.join(' and ')}`
  })
  const others = new Set(permissions.map((line) => line.project_id)).size - (here.length > 0 ? 1 : 0)
  const more = permissions.some((line) => line.project_id === '*')
    ? ['every project']
    : others > 0
      ? [`${others} more ${others === 1 ? 'project' : 'projects'}`]
      : []
  return [...new Set([...words, ...more])].join('; ')
}
