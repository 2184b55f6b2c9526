import type { Database } from '../../store/index.ts'

/** A query as it was deployed for a time, with the columns that it read of each table; null: it still is. */
export type PastReads = {
  name: string
  environment: string
  tables: Record<string, string[]>
  from: Date
  to: Date | null
}

/** The deployments of a project at some time of a span. Queries that are gone by now are gone from this, too. */
export async function readPastReads(
  { db }: Pick<Database, 'db'>,
  projectId: string,
  { from, to }: { from: Date; to: Date },
): Promise<PastReads[]> {
  const rows = await db
    .with('acts', (query) =>
      query
        .selectFrom('deploymentActs')
        .innerJoin('queries', 'queries.id', 'deploymentActs.queryId')
        .select(['deploymentActs.queryId', 'queries.name', 'environment', 'version', 'at'])
        .select((act) =>
          act.fn
            .agg<Date | null>('lead', ['at'])
            .over((over) => over.partitionBy(['deploymentActs.queryId', 'environment']).orderBy('deploymentActs.id'))
            .as('until'),
        )
        .where('queries.projectId', '=', projectId),
    )
    .selectFrom('acts')
    .innerJoin('queryVersions', (join) =>
      join.onRef('queryVersions.queryId', '=', 'acts.queryId').onRef('queryVersions.version', '=', 'acts.version'),
    )
    .leftJoin('deployments', (join) =>
      join
        .onRef('deployments.queryId', '=', 'acts.queryId')
        .onRef('deployments.environment', '=', 'acts.environment')
        .on('acts.until', 'is', null),
    )
    .select(['acts.name', 'acts.environment', 'queryVersions.tables', 'acts.at', 'acts.until', 'deployments.queryId'])
    .where('acts.at', '<', to)
    .where((row) => row.or([row('acts.until', 'is', null), row('acts.until', '>', from)]))
    .execute()
  // Deployments without an end that are not there any more went with their environment: nobody knows when.
  return rows.flatMap(({ at, until, queryId, ...read }) =>
    until === null && queryId === null ? [] : [{ ...read, from: at, to: until }],
  )
}
