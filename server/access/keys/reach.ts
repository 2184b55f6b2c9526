import { pageAfter, type Page, type Database } from '../../store/index.ts'
import type { Caller } from '../people/caller.ts'
import type { ProjectDirectory } from '../people/project-directory.ts'
import { readKey } from './find.ts'
import { permitsWithin, type Permission } from './permissions.ts'
import { namedProjects } from './scope.ts'
import type { Clock } from '../../clock.ts'

/** One project that a key reaches, and what of it. */
export type Reach = {
  projectId: string
  projectName: string
  environments: Array<ReachedEnvironment & { deployed: string[] }>
}

/** A port: which names answer in a place right now. */
type DeployedQueries = { list(projectId: string, environment: string): ReadonlyArray<{ name: string }> }

type ReachedEnvironment = { name: string; queries: readonly string[] | '*' }

/** Reach of a key among existing queries, project by project; nothing while it is disabled, expired or revoked. */
export async function reachOfKey(
  app: { store: Database; projects: ProjectDirectory; now: Clock; deployments: DeployedQueries },
  caller: Caller,
  { keyId, ...page }: { keyId: string; limit: number; cursor?: string | undefined },
): Promise<Page<Reach>> {
  const key = await readKey(app.store.db, caller, keyId)
  const isExpired = key.expiresAt !== null && key.expiresAt.getTime() <= app.now()
  if (key.revokedAt !== null || key.disabledAt !== null || isExpired) return { items: [], nextCursor: null }
  const everywhere = key.permissions.some(({ projectId }) => projectId === '*')
  const named = namedProjects(key.permissions)
  if (!everywhere && named.length === 0) return { items: [], nextCursor: null }
  const found = await pageAfter(
    (after, limit) => app.projects.list({ among: everywhere ? null : named, after, limit }),
    page,
    (project) => project.id,
  )
  const environments = await app.projects.environmentsOf(found.items.map(({ id }) => id))
  const items = found.items.map(({ id, name }) => ({
    projectId: id,
    projectName: name,
    environments: reachedOf(
      key.permissions.filter(({ projectId }) => projectId === '*' || projectId === id),
      environments.filter((environment) => environment.projectId === id).map((environment) => environment.name),
    ).map((reached) => ({ ...reached, deployed: deployedWithin(app, id, reached) })),
  }))
  return { items: items.filter((item) => item.environments.length > 0), nextCursor: found.nextCursor }
}

/** Permissions add up: a list of queries beside a permission without one is no restriction. */
function reachedOf(permissions: Permission[], environments: string[]): ReachedEnvironment[] {
  return environments.flatMap((name): ReachedEnvironment[] => {
    const covering = permissions.filter((permission) => permitsWithin(permission, { environment: name }))
    if (covering.length === 0) return []
    if (covering.some(({ queries }) => queries === null)) return [{ name, queries: '*' }]
    return [{ name, queries: [...new Set(covering.flatMap(({ queries }) => queries ?? []))].sort() }]
  })
}

/** The names that a call with the key would be answered under right now. */
function deployedWithin(
  app: { deployments: DeployedQueries },
  projectId: string,
  reached: ReachedEnvironment,
): string[] {
  return app.deployments
    .list(projectId, reached.name)
    .map((deployment) => deployment.name)
    .filter((name) => reached.queries === '*' || reached.queries.includes(name))
    .sort()
}
