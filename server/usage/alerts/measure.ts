import { nextRun } from '../../jobs/index.ts'
import type { Drift } from '../../store/index.ts'
import { countWindow, timesOfWindow } from '../figures.ts'
import { percentile } from '../latencies.ts'
import type { Alert, Measured } from './alert.ts'

/** Runs SQL; an evaluation uses one connection for everything. */
export type Run = (text: string, values: unknown[]) => Promise<Array<Record<string, unknown>>>

const minuteMs = 60_000

/** The value of an alert's metric at a moment, in the unit of its threshold. */
export async function measure(run: Run, alert: Alert, at: Date): Promise<Measured> {
  if (alert.type === 'job_failed') return countFailedJobs(run, alert, at)
  if (alert.type === 'data_stale') return measureAge(run, alert, at)
  if (alert.type === 'schema_drift') return countDrifted(run, alert, at)
  const filter = {
    projectId: alert.projectId,
    environment: alert.environment ?? undefined,
    query: alert.query ?? undefined,
  }
  const from = new Date(at.getTime() - alert.windowMinutes * minuteMs)
  const window = { from, to: at }
  const { requests, errors, asked, unanswered } = await countWindow(run, filter, window)
  const least = Math.max(1, alert.minRequests)
  if (alert.type === 'error_rate_above') return { value: share(errors, requests), enough: requests >= least }
  if (alert.type === 'unanswered_rate_above') return { value: share(unanswered, asked), enough: asked >= least }
  if (alert.type === 'p95_latency_above') {
    const enough = requests >= least
    const times = enough ? await timesOfWindow(run, filter, window) : new Map<number, number>()
    return { value: percentile(times, 0.95) ?? 0, enough }
  }
  return { value: requests, enough: true }
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

async function countFailedJobs(run: Run, { projectId, windowMinutes }: Alert, at: Date): Promise<Measured> {
  const from = new Date(at.getTime() - windowMinutes * minuteMs)
  const rows = await run(
    `select count(*) as count from jobs
      where project_id = $1 and status = 'failed' and finished_at > $2 and finished_at <= $3`,
    [projectId, from, at],
  )
  return { value: Number(rows[0]?.['count'] ?? 0), enough: true }
}

/**
 * How many minutes old the oldest data is; without a threshold, how many minutes later than its schedule promised. Data
 * that is promised and never came is as old as the promise.
 */
async function measureAge(run: Run, alert: Alert, at: Date): Promise<Measured> {
  const rows = (await run(
    `select d.table_name, d.schedule, d.schedule_time_zone as zone,
            coalesce(greatest(d.refreshed_at, max(o.created_at)), case when d.schedule is not null then d.created_at end) as fresh
       from datasources d left join data_objects o on o.datasource_id = d.id and o.kind = 'response_data'
      where d.project_id = $1 group by d.id`,
    [alert.projectId],
  )) as Array<{ table_name: string; schedule: string | null; zone: string; fresh: Date | null }>
  const read = alert.query === null && alert.environment === null ? null : tablesOf(await deployed(run, alert))
  const ages = rows.flatMap(({ table_name: table, schedule, zone, fresh }) => {
    if (fresh === null || (read !== null && !read.has(table))) return []
    if (alert.threshold !== null) return [(at.getTime() - fresh.getTime()) / minuteMs]
    return schedule === null ? [] : [(at.getTime() - nextRun(schedule, zone, fresh).getTime()) / minuteMs]
  })
  return { value: Math.max(0, ...ages), enough: ages.length > 0 }
}

/** How many deployed queries read a column that is gone or has another type since the window began. */
async function countDrifted(run: Run, alert: Alert, at: Date): Promise<Measured> {
  const from = new Date(at.getTime() - alert.windowMinutes * minuteMs)
  const rows = (await run(
    `select d.table_name, o.drift from data_objects o join datasources d on d.id = o.datasource_id
      where o.project_id = $1 and o.kind = 'response_data' and o.drift is not null and o.created_at > $2
        and o.created_at <= $3`,
    [alert.projectId, from, at],
  )) as Array<{ table_name: string; drift: Drift }>
  if (rows.length === 0) return { value: 0, enough: true }
  const queries = await deployed(run, alert)
  const touched = queries.filter(({ tables }) =>
    rows.some(({ table_name: table, drift }) => {
      const columns = new Set([...drift.removed, ...drift.changed.map(({ name }) => name)])
      return (tables[table] ?? []).some((column) => columns.has(column))
    }),
  )
  return { value: touched.length, enough: true }
}

type Deployed = { tables: Record<string, string[]> }

async function deployed(run: Run, { projectId, environment, query }: Alert): Promise<Deployed[]> {
  return (await run(
    `select v.tables from deployments d join query_versions v on v.id = d.version_id
      where d.project_id = $1 and ($2::text is null or d.environment = $2) and ($3::text is null or d.name = $3)`,
    [projectId, environment, query],
  )) as Deployed[]
}

function tablesOf(queries: Deployed[]): Set<string> {
  return new Set(queries.flatMap(({ tables }) => Object.keys(tables)))
}
