import { heldVersions, liveTables } from '../../data/index.ts'
import type { Database, SourceKind } from '../../store/index.ts'

/** How the last fetch of a source went, and what it left. */
export type SourceHealth = {
  id: string
  name: string
  kind: SourceKind
  table: string
  tags: string[]
  schedule: string | null
  timeZone: string
  nextRefreshAt: Date | null
  lastError: { code: string; message: string } | null
  /** Why its newest data waits, where it does. */
  held: string | null
  createdAt: Date
  /**
   * When it was last asked with success, whether or not anything was new; a model is as old as what it was built from,
   * however often it is built.
   */
  freshAt: Date | null
  /** Since when a model should have been built anew: a table that it was built from has a newer version, or it has none. */
  lateSince: Date | null
  /** Rows of the data that serves; null where there is none. */
  rows: number | null
  asOf: Date | null
}

/** Every source of a project, by name. */
export async function readSourceHealth(store: Pick<Database, 'db'>, projectId: string): Promise<SourceHealth[]> {
  const sources = await store.db
    .selectFrom('datasources')
    .select(['id', 'name', 'kind', 'tableName', 'tags', 'schedule', 'scheduleTimeZone', 'nextRefreshAt', 'refreshedAt'])
    .select(['lastError', 'createdAt'])
    .where('projectId', '=', projectId)
    .orderBy('tableName')
    .execute()
  const [live, held] = await Promise.all([liveTables(store, projectId), heldVersions(store, projectId)])
  return sources.map(({ tableName: table, scheduleTimeZone: timeZone, refreshedAt, ...source }) => {
    const data = live.get(source.id)
    const isModel = source.kind === 'model'
    const asked = [isModel ? null : refreshedAt, data?.fetchedAt ?? null]
    const times = asked.flatMap((at) => (at === null ? [] : [at.getTime()]))
    return {
      ...source,
      table,
      timeZone,
      held: held.get(source.id)?.heldBecause.message ?? null,
      freshAt: times.length === 0 ? null : new Date(Math.max(...times)),
      lateSince: isModel ? lateSince(live, source) : null,
      rows: data?.rows ?? null,
      asOf: data?.fetchedAt ?? null,
    }
  })
}

type Live = Awaited<ReturnType<typeof liveTables>>

function lateSince(live: Live, { id, createdAt }: Pick<SourceHealth, 'id' | 'createdAt'>): Date | null {
  const data = live.get(id)
  if (data === undefined) return createdAt
  const newer = (data.builtFrom ?? []).flatMap(({ datasourceId, version }) => {
    const now = live.get(datasourceId)
    return now === undefined || now.version === version ? [] : [now.servesSince.getTime()]
  })
  return newer.length === 0 ? null : new Date(Math.min(...newer))
}

/** How fresh the data of a table is, and when it is promised. */
export type Freshness = Pick<SourceHealth, 'schedule' | 'timeZone' | 'freshAt' | 'lateSince'> & {
  tableName: string
  isModel: boolean
}

/** Every table of a project. Data that is promised and never came is as old as the promise. */
export async function readFreshness(store: Pick<Database, 'db'>, projectId: string): Promise<Freshness[]> {
  const sources = await readSourceHealth(store, projectId)
  return sources.map(({ table: tableName, kind, schedule, timeZone, createdAt, freshAt, lateSince: late }) => {
    const promisedAt = schedule === null ? null : createdAt
    const isModel = kind === 'model'
    return { tableName, isModel, schedule, timeZone, lateSince: late, freshAt: freshAt ?? promisedAt }
  })
}
