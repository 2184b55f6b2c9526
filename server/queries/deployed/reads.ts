import { countOf, type Database } from '../../store/index.ts'

/** A query with the tables that its draft and what is deployed of it read. */
export type QueryReads = {
  id: string
  name: string
  tags: string[]
  reads: string[]
  deployments: Array<{ environment: string; version: number; reads: string[] }>
}

/** By name, so many as are asked for, and how many there are. */
export async function readQueryReads(
  { db }: Pick<Database, 'db'>,
  { projectId, limit }: { projectId: string; limit: number },
): Promise<{ queries: QueryReads[]; total: number }> {
  const drafts = await db
    .selectFrom('queries')
    .select(['id', 'name', 'tags', 'reads'])
    .where('projectId', '=', projectId)
    .orderBy('name')
    .limit(limit)
    .execute()
  const total = await countOf(db.selectFrom('queries').where('projectId', '=', projectId))
  if (drafts.length === 0) return { queries: [], total: 0 }
  const ids = drafts.map(({ id }) => id)
  const live = await db
    .selectFrom('deployments')
    .innerJoin('queryVersions', 'queryVersions.id', 'deployments.versionId')
    .select(['deployments.queryId', 'deployments.environment', 'queryVersions.version', 'queryVersions.tables'])
    .where('deployments.queryId', '=', (is) => is.fn.any(is.val(ids)))
    .orderBy('deployments.environment')
    .execute()
  const newest = await db
    .selectFrom('queryVersions')
    .distinctOn('queryId')
    .select(['queryId', 'tables'])
    .where('queryId', '=', (is) => is.fn.any(is.val(ids)))
    .orderBy('queryId')
    .orderBy('version', 'desc')
    .execute()
  const liveOf = Map.groupBy(live, ({ queryId }) => queryId)
  const newestOf = new Map(newest.map(({ queryId, tables }) => [queryId, tables]))
  const queries = drafts.map(({ id, name, tags, reads }) => ({
    id,
    name,
    tags,
    // A query saved before drafts had it: its newest version.
    reads: Object.keys(reads ?? newestOf.get(id) ?? {}),
    deployments: (liveOf.get(id) ?? []).map(({ environment, version, tables }) => ({
      environment,
      version,
      reads: Object.keys(tables),
    })),
  }))
  return { queries, total }
}
