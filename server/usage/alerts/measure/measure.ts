import { nextRun } from '../../../jobs/index.ts'
import type { Database } from '../../../store/index.ts'
import { share, type CallCounts } from '../../report/figures.ts'
import type { Alert, Measured } from './alert.ts'
import type { AlertSources } from './sources.ts'

export type Measuring = { store: Pick<Database, 'db' | 'pool'>; sources: AlertSources }

const minuteMs = 60_000

export type Measure = (measuring: Measuring, alert: Alert, at: Date) => Promise<Measured>

/** Measures the counts of a window, the present one or one of the past. */
export type MeasureCounts = (alert: Alert, counts: CallCounts) => Measured

export const errorRate: MeasureCounts = (alert, { errors, requests }) => shareOf(alert, errors, requests)
export const unansweredRate: MeasureCounts = (alert, { unanswered, asked }) => shareOf(alert, unanswered, asked)
/** Answers to questions that say what they leave out. */
export const flaggedShare: MeasureCounts = (alert, { flagged, answered }) => shareOf(alert, flagged, answered)
export const requestCount: MeasureCounts = (_alert, { requests }) => ({ value: requests, enough: true })

export function isEnough({ minRequests }: Alert, counted: number): boolean {
  return counted >= Math.max(1, minRequests)
}

function shareOf(alert: Alert, part: number, whole: number): Measured {
  return { value: share(part, whole), enough: isEnough(alert, whole) }
}

/** Age of the oldest data in minutes; without a threshold, its delay behind its schedule, or behind what it is built from. */
export const measureAge: Measure = async ({ sources }, alert, at) => {
  const tables = await sources.freshness(alert.projectId)
  const read = alert.query === null && alert.environment === null ? null : tablesOf(await deployed(sources, alert))
  const ages = tables.flatMap(({ tableName, schedule, timeZone, freshAt, isModel, lateSince }) => {
    if (read !== null && !read.has(tableName)) return []
    const minutesSince = (then: Date): number => (at.getTime() - then.getTime()) / minuteMs
    if (alert.threshold !== null) return freshAt === null ? [] : [minutesSince(freshAt)]
    const late = isModel ? [lateSince === null ? 0 : minutesSince(lateSince)] : []
    return schedule === null || freshAt === null ? late : [...late, minutesSince(nextRun(schedule, timeZone, freshAt))]
  })
  return { value: Math.max(0, ...ages), enough: ages.length > 0 }
}

/** Counts deployed queries that read a column which is gone or has another type since the window began. */
export const countDrifted: Measure = async ({ sources }, alert, at) => {
  const from = new Date(at.getTime() - alert.windowMinutes * minuteMs)
  const drifts = await sources.drifts(alert.projectId, { from, to: at })
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

/** Counts tables whose new data is held; with a query or environment, those that it reads. */
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
