import type { Value } from '../../api/wire-codec.ts'
import type { projectMap } from '../../api/lineage.ts'
import { fixedLimits } from '../../api/limits.ts'
import { requireRole, type Caller } from '../access/index.ts'
import { readSourceHealth, type SourceHealth } from '../connections/index.ts'
import { nextRun } from '../jobs/index.ts'
import { readModelGraph } from '../models/index.ts'
import { environmentsOf } from '../projects/index.ts'
import { readQueryReads, type QueryCallers, type QueryReads } from '../queries/index.ts'
import { callsByKey, type Usage } from '../usage/index.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Database } from '../store/index.ts'

type Status = 'fresh' | 'stale' | 'waiting' | 'failing' | 'new' | 'draft'

/** A project from its sources to its callers. Calls are those of the last day. */
type ProjectMap = Value<typeof projectMap>

type Parts = {
  store: Database
  usage: Usage
  queryCallers: QueryCallers
  config: Pick<Config, 'limits'>
  now: Clock
}

const dayMs = 86_400_000
const callersMs = 30 * dayMs
/** A fetch that is due takes its time, and waits for others. */
const graceMs = 600_000

export async function readProjectMap(
  app: Parts,
  caller: Caller,
  { projectId }: { projectId: string },
): Promise<ProjectMap> {
  await requireRole(app, caller, projectId, 'viewer')
  const nowMs = app.now()
  const { mapQueries } = app.config.limits
  const mapCallers = fixedLimits.mapCallers.value
  await app.usage.flush()
  const [health, graph, { queries: found, total }, places, counted] = await Promise.all([
    readSourceHealth(app.store, projectId),
    readModelGraph(app.store, projectId),
    readQueryReads(app.store, { projectId, limit: mapQueries }),
    environmentsOf(app.store, [projectId]),
    callsByKey(app.store, projectId, { from: new Date(nowMs - dayMs), to: new Date(nowMs) }),
  ])
  const names = places.map(({ name }) => name)
  const calls = await callsOf(app, { queries: found, environments: names, from: new Date(nowMs - callersMs), counted })
  const sources = health.map((source) => {
    return { ...source, reads: graph.get(source.table) ?? [], ...healthOf(source, nowMs) }
  })
  const statusOf = tableStatuses(sources)
  const tables = sources.map(({ table, rows, asOf, tags }) => {
    return { name: table, status: statusOf(table) ?? 'new', rows, asOf, tags }
  })
  const queries = found.map((query) => withFigures(query, { counted, statusOf }))
  const callers = callersOf(calls)
  const shown = new Set(callers.slice(0, mapCallers).map(({ keyId }) => keyId))
  return {
    sources,
    tables,
    queries,
    environments: names.map((name) => environmentOf(name, queries)),
    callers: callers.slice(0, mapCallers),
    calls: calls.filter(({ keyId }) => shown.has(keyId)),
    leftOut: { queries: total - found.length, callers: callers.length - shown.size },
  }
}

/** How a source does, and why where something is wrong. */
function healthOf(source: SourceHealth, nowMs: number): { status: Status; message: string | null } {
  const { lastError, held, schedule, timeZone, freshAt, lateSince, rows } = source
  if (lastError !== null) return { status: 'failing', message: lastError.message }
  if (held !== null) return { status: 'waiting', message: held }
  if (freshAt === null || rows === null) return { status: 'new', message: null }
  if (lateSince !== null && nowMs > lateSince.getTime() + graceMs)
    return { status: 'stale', message: `A table that it is built from changed at ${lateSince.toISOString()}.` }
  if (schedule === null) return { status: 'fresh', message: null }
  const dueMs = nextRun(schedule, timeZone, freshAt).getTime()
  if (nowMs <= dueMs + graceMs) return { status: 'fresh', message: null }
  return { status: 'stale', message: `It should have been fetched at ${new Date(dueMs).toISOString()}.` }
}

type Source = Pick<ProjectMap['sources'][number], 'table' | 'reads' | 'status'> & { rows: number | null }
type StatusOf = (table: string) => Status | undefined

/** How the data of tables does: it serves on while its source fails, or one that it was built from; it only gets old. */
function tableStatuses(sources: Source[]): StatusOf {
  const known = new Map<string, Status>()
  const byTable = new Map(sources.map((source) => [source.table, source]))
  const statusOf: StatusOf = (table) => {
    const source = byTable.get(table)
    if (source === undefined) return undefined
    let status = known.get(table)
    if (status === undefined) known.set(table, (status = tableStatus(source, statusOf)))
    return status
  }
  return statusOf
}

function tableStatus({ status, rows, reads }: Source, statusOf: StatusOf): Status {
  if (rows === null) return 'new'
  if (status !== 'fresh') return status === 'failing' ? 'stale' : status
  return reads.some((table) => isOld(statusOf(table))) ? 'stale' : 'fresh'
}

function isOld(status: Status | undefined): boolean {
  return status === undefined || ['stale', 'waiting', 'new'].includes(status)
}

type Counted = Awaited<ReturnType<typeof callsByKey>>

function withFigures(
  { name, tags, reads, deployments }: QueryReads,
  { counted, statusOf }: { counted: Counted; statusOf: StatusOf },
): ProjectMap['queries'][number] {
  const own = counted.filter(({ query }) => query === name)
  const live = deployments.map((deployment) => {
    const here = own.filter(({ environment }) => environment === deployment.environment)
    return { ...deployment, calls: sum(here.map((each) => each.calls)), failed: sum(here.map((each) => each.failed)) }
  })
  const read = live.length === 0 ? reads : live.flatMap((each) => each.reads)
  const isStale = read.some((table) => isOld(statusOf(table)))
  const status =
    live.length === 0 ? 'draft' : live.some((each) => each.failed > 0) ? 'failing' : isStale ? 'stale' : 'fresh'
  return { name, tags, reads, deployments: live, status }
}

function environmentOf(name: string, queries: ProjectMap['queries']): ProjectMap['environments'][number] {
  const here = queries.flatMap(({ deployments, status }) =>
    deployments
      .filter(({ environment }) => environment === name)
      .map(({ calls, failed }) => ({ calls, failed, status })),
  )
  const isFailing = here.some(({ failed }) => failed > 0)
  const isStale = here.some(({ status }) => status === 'stale')
  const status = here.length === 0 ? 'new' : isFailing ? 'failing' : isStale ? 'stale' : 'fresh'
  return { name, status, calls: sum(here.map(({ calls }) => calls)) }
}

type Call = ProjectMap['calls'][number] & { keyName: string | null }

async function callsOf(
  app: Parts,
  asked: { queries: QueryReads[]; environments: string[]; from: Date; counted: Counted },
): Promise<Call[]> {
  const found: Call[] = []
  const countOf = new Map(
    asked.counted.map(({ query, environment, keyId, calls }) => [`${query}\n${environment}\n${keyId}`, calls]),
  )
  for (const environment of asked.environments) {
    const here = asked.queries.filter(({ deployments }) => deployments.some((each) => each.environment === environment))
    if (here.length === 0) continue
    const ids = here.map(({ id }) => id)
    const keys = await app.queryCallers.since(ids, environment, asked.from)
    for (const { id, name: query } of here) {
      for (const { keyId, name: keyName, lastCalledAt } of keys.get(id) ?? []) {
        const calls = countOf.get(`${query}\n${environment}\n${keyId}`) ?? 0
        found.push({ query, environment, keyId, keyName, lastCalledAt, calls })
      }
    }
  }
  return found
}

/** Those that call most first, then those that called last. */
function callersOf(calls: Call[]): ProjectMap['callers'] {
  return [...Map.groupBy(calls, ({ keyId }) => keyId)]
    .map(([keyId, own]) => ({
      keyId,
      name: own[0]?.keyName ?? null,
      lastCalledAt: new Date(Math.max(...own.map(({ lastCalledAt }) => lastCalledAt.getTime()))),
      calls: sum(own.map((each) => each.calls)),
    }))
    .toSorted((one, other) => other.calls - one.calls || other.lastCalledAt.getTime() - one.lastCalledAt.getTime())
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
