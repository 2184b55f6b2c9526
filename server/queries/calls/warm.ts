import type { Catalogs } from '../../data/index.ts'
import type { QueryEngine } from '../../engine/index.ts'
import type { Observe } from '../../observe.ts'
import type { Database } from '../../store/index.ts'

type Parts = { store: Pick<Database, 'db'>; catalogs: Catalogs; engine: QueryEngine; observe: Observe }

/** More are seldom called in the first moments, and each is memory in an executor until it has been idle. */
const maxProjects = 8
/** As a stream: whatever comes first, most of its way is this one. */
const tinyRead: Parameters<QueryEngine['stream']>[2] = {
  dialect: 'duckdb',
  sql: 'SELECT 1 AS one',
  slots: [],
  format: 'ndjson',
  maxRows: 1,
  maxBytes: 1_000,
}

/** Opens the data of the projects that were called last, so that their first call after a start does not wait for it. */
export async function warmProjects(app: Parts): Promise<void> {
  // Where it fails the first call does it, and is told why it cannot.
  const report = (error: unknown): void => app.observe({ kind: 'fault', where: 'opening data ahead', error })
  const projectIds = await projectsCalledLast(app.store).catch((error: unknown) => {
    report(error)
    return []
  })
  for (const projectId of projectIds) await warmProject(app, projectId).catch(report)
}

async function warmProject({ catalogs, engine }: Parts, projectId: string): Promise<void> {
  const catalog = await catalogs.get(projectId)
  if (catalog.engine !== 'duckdb') return
  const { chunks } = await engine.stream(projectId, catalog, tinyRead)
  for await (const _ of chunks);
}

/** Those of which nothing was called yet count by what was deployed last. */
async function projectsCalledLast({ db }: Pick<Database, 'db'>): Promise<string[]> {
  const rows = await db
    .selectFrom('deployments')
    .leftJoin('queryCallers', 'queryCallers.queryId', 'deployments.queryId')
    .select('deployments.projectId')
    .groupBy('deployments.projectId')
    .orderBy(
      (by) => by.fn.max('queryCallers.lastCalledAt'),
      (order) => order.desc().nullsLast(),
    )
    .orderBy((by) => by.fn.max('deployments.deployedAt'), 'desc')
    .limit(maxProjects)
    .execute()
  return rows.map(({ projectId }) => projectId)
}
