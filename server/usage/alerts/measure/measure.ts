import { countFailedJobs, nextRun } from '../../../jobs/index.ts'
import type { Database } from '../../../store/index.ts'
import { confidenceOfWindow, countWindow, timesOfWindow } from '../../report/figures.ts'
import { percentile } from '../../stored/latencies.ts'
import type { Alert, Measured } from './alert.ts'
import type { AlertSources } from './sources.ts'

/** Runs SQL; an evaluation uses one connection for all that this room keeps. */
export type RunSql = (text: string, values: unknown[]) => Promise<Array<Record<string, unknown>>>

type Measuring = { run: RunSql; store: Pick<Database, 'db'>; sources: AlertSources }

const minuteMs = 60_000

export type Measure = (measuring: Measuring, alert: Alert, at: Date) => Promise<Measured>

export const measureErrors: Measure = async ({ run }, alert, at) => {
  const { requests, errors } = await countWindow(run, filterOf(alert), windowOf(alert, at))
  return { value: share(errors, requests), enough: isEnough(alert, requests) }
}

export const measureUnanswered: Measure = async ({ run }, alert, at) => {
  const { asked, unanswered } = await countWindow(run, filterOf(alert), windowOf(alert, at))
  return { value: share(unanswered, asked), enough: isEnough(alert, asked) }
}

/** Of answers that were found for a question: a query that the caller named has no confidence. */
export const measureConfidence: Measure = async ({ run }, alert, at) => {
  const { answers, confidence } = await confidenceOfWindow(run, filterOf(alert), windowOf(alert, at))
  return { value: confidence, enough: isEnough(alert, answers) }
}

/** Of answers to questions: those that say what they leave out. */
export const measureFlagged: Measure = async ({ run }, alert, at) => {
  const { answered, flagged } = await countWindow(run, filterOf(alert), windowOf(alert, at))
  return { value: share(flagged, answered), enough: isEnough(alert, answered) }
}

export const measureLatency: Measure = async ({ run }, alert, at) => {
  const { requests } = await countWindow(run, filterOf(alert), windowOf(alert, at))
  if (!isEnough(alert, requests)) return { value: 0, enough: false }
  const times = await timesOfWindow(run, filterOf(alert), windowOf(alert, at))
  return { value: percentile(times, 0.95) ?? 0, enough: true }
}

export const countRequests: Measure = async ({ run }, alert, at) => {
  const { requests } = await countWindow(run, filterOf(alert), windowOf(alert, at))
  return { value: requests, enough: true }
}

function filterOf({ projectId, environment, query }: Alert) {
  return { projectId, environment: environment ?? undefined, query: query ?? undefined }
}

function windowOf({ windowMinutes }: Alert, at: Date) {
  return { from: new Date(at.getTime() - windowMinutes * minuteMs), to: at }
}

export function isEnough({ minRequests }: Alert, counted: number): boolean {
  return counted >= Math.max(1, minRequests)
}

export function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

export const countFailures: Measure = async ({ store }, alert, at) => {
  return { value: await countFailedJobs(store, alert.projectId, windowOf(alert, at)), enough: true }
}

/** How many minutes old the oldest data is; without a threshold, how many minutes later than its schedule promised. */
export const measureAge: Measure = async ({ sources }, alert, at) => {
  const tables = await sources.freshness(alert.projectId)
  const read = alert.query === null && alert.environment === null ? null : tablesOf(await deployed(sources, alert))
  const ages = tables.flatMap(({ tableName, schedule, timeZone, freshAt }) => {
    if (freshAt === null || (read !== null && !read.has(tableName))) return []
    if (alert.threshold !== null) return [(at.getTime() - freshAt.getTime()) / minuteMs]
    return schedule === null ? [] : [(at.getTime() - nextRun(schedule, timeZone, freshAt).getTime()) / minuteMs]
  })
  return { value: Math.max(0, ...ages), enough: ages.length > 0 }
}

/** How many deployed queries read a column that is gone or has another type since the window began. */
export const countDrifted: Measure = async ({ sources }, alert, at) => {
  const drifts = await sources.drifts(alert.projectId, windowOf(alert, at))
  if (drifts.length === 0) return { value: 0, enough: true }
  const queries = await deployed(sources, alert)
  const touched = queries.filter(({ tables }) =>
    drifts.some(({ tableName, drift }) => {
      const columns = new Set([...drift.removed, ...drift.changed.map(({ name }) => name)])
      return (tables[tableName] ?? []).some((column) => columns.has(column))
    }),
  )
  return { value: touched.length, enough: true }
}

/** How many tables have new data that is held back, of those that are read where a query or environment is named. */
export const countHeld: Measure = async ({ sources }, alert) => {
  const held = await sources.heldTables(alert.projectId)
  const isScoped = alert.query !== null || alert.environment !== null
  const read = isScoped && held.length > 0 ? tablesOf(await deployed(sources, alert)) : null
  return { value: held.filter((table) => read === null || read.has(table)).length, enough: true }
}

type Deployed = { tables: Record<string, string[]> }

async function deployed(sources: AlertSources, { projectId, environment, query }: Alert): Promise<Deployed[]> {
  const all = await sources.tablesRead(projectId)
  return all.filter(
    (each) => (environment === null || each.environment === environment) && (query === null || each.name === query),
  )
}

function tablesOf(queries: Deployed[]): Set<string> {
  return new Set(queries.flatMap(({ tables }) => Object.keys(tables)))
}
