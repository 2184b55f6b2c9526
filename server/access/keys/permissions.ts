/** One line of what a key reaches. `*` is every one there is, now and later. */
export type Permission = {
  projectId: string
  environments: readonly string[] | '*'
  /** Null: every query. */
  queries: readonly string[] | null
}

/** Something a call may be about; without a query, the project and environment as such. */
export type Target = { projectId: string; environment: string; queryName?: string | undefined }

export function permits(permissions: readonly Permission[], target: Target): boolean {
  return permissions.some(
    (permission) =>
      (permission.projectId === '*' || permission.projectId === target.projectId) && permitsWithin(permission, target),
  )
}

/** Whether one permission covers the environment and the query, whatever the project. */
export function permitsWithin(
  { environments, queries }: Permission,
  { environment, queryName }: Omit<Target, 'projectId'>,
): boolean {
  return (
    (environments === '*' || environments.includes(environment)) &&
    (queries === null || queryName === undefined || queries.includes(queryName))
  )
}

/** The names of the queries that a key is limited to there; null where it reaches every one. */
export function permittedQueries(
  permissions: readonly Permission[],
  { projectId, environment }: Omit<Target, 'queryName'>,
): readonly string[] | null {
  const names = new Set<string>()
  for (const permission of permissions) {
    if (!permits([permission], { projectId, environment })) continue
    if (permission.queries === null) return null
    for (const name of permission.queries) names.add(name)
  }
  return [...names]
}

/** The only project that a key names, else undefined. */
export function onlyProject(permissions: readonly Permission[]): string | undefined {
  const [first] = permissions
  if (first === undefined || first.projectId === '*') return undefined
  return permissions.every(({ projectId }) => projectId === first.projectId) ? first.projectId : undefined
}

/** The only environment that a key names, else undefined. */
export function onlyEnvironment(permissions: readonly Permission[]): string | undefined {
  const first = permissions[0]?.environments
  if (first === undefined || first === '*') return undefined
  const [only] = first
  return permissions.every(({ environments }) => environments !== '*' && environments.every((name) => name === only))
    ? only
    : undefined
}

/** Keys that reach production begin with `slc_live_`, all others with `slc_test_`. */
export function kindFor(permissions: readonly Permission[]): 'live' | 'test' {
  return permissions.some((permission) => permitsWithin(permission, { environment: 'production' })) ? 'live' : 'test'
}
