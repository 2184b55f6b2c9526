import { closest, Failure, type FailureDetail } from '../../failure.ts'
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
  const details = permissions.flatMap(({ projectId, environments: wanted }, at): FailureDetail[] => {
    if (projectId === '*' || wanted === '*') return []
    const known = environments.filter((each) => each.projectId === projectId).map(({ name }) => name)
    return wanted
      .filter((name) => !known.includes(name))
      .map((name) => {
        const near = closest(name, known)
        const hint = near === undefined ? `it has ${known.join(', ')}` : `perhaps you meant ${near}`
        return { field: `permissions.${at}.environments`, message: `the project has no environment ${name}; ${hint}` }
      })
  })
  if (details.length > 0) throw new Failure('invalid_request', { reason: 'invalid_field', details })
}
