import { closest, Failure, maxHints, type FailureDetail } from '../../failure.ts'
import type { Caller } from '../people/caller.ts'
import type { ProjectDirectory } from '../people/project-directory.ts'
import { requireAdministrator, requireRole } from '../people/roles.ts'
import type { Permission } from './permissions.ts'
import type { Database } from '../../store/index.ts'

/** A key reaches no more than its maker owns; every project, only when an administrator says so. */
export async function requireScope(
  app: { store: Database; projects: ProjectDirectory },
  caller: Caller,
  permissions: readonly Permission[],
): Promise<void> {
  if (permissions.some(({ projectId }) => projectId === '*')) requireAdministrator(caller)
  const named = namedProjects(permissions)
  for (const projectId of named) await requireRole(app, caller, projectId, 'owner')
  await requireEnvironments(app, permissions, named)
}

export function namedProjects(permissions: readonly Permission[]): string[] {
  return [...new Set(permissions.map(({ projectId }) => projectId))].filter((projectId) => projectId !== '*')
}

/** A misspelled environment would make a key that is refused only when it is used. */
async function requireEnvironments(
  app: { projects: ProjectDirectory },
  permissions: readonly Permission[],
  projectIds: string[],
): Promise<void> {
  if (projectIds.length === 0) return
  const environments = await app.projects.environmentsOf(projectIds)
  const details: FailureDetail[] = []
  for (const [at, { projectId, environments: wanted }] of permissions.entries()) {
    if (projectId === '*' || wanted === '*') continue
    const known = environments.filter((each) => each.projectId === projectId).map(({ name }) => name)
    for (const name of wanted) {
      if (known.includes(name)) continue
      const near = details.length < maxHints ? closest(name, known) : undefined
      const hint = near === undefined ? `it has ${known.join(', ')}` : `perhaps you meant ${near}`
      details.push({
        field: `permissions.${at}.environments`,
        message: `the project has no environment ${name}; ${hint}`,
      })
    }
  }
  if (details.length > 0) throw new Failure('invalid_request', { reason: 'invalid_field', details })
}
