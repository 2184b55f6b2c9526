import { nextRun } from '../../../jobs/index.ts'
import type { Alert, Measured } from './alert.ts'
import type { PastRead, PastTable } from './sources.ts'
import type { ReadPast } from './past.ts'

const minuteMs = 60_000

/** Measures at a moment, called in the order of time. */
type MeasureAt = (alert: Alert, ms: number) => Measured

type DataPast = { tables: LookedAt[]; reads: PastRead[]; windowMs: number }

export const pastOfFreshness = pastOfData(({ tables }) => ageAt(tables))
export const pastOfHeld = pastOfData(({ tables }) => heldAt(tables))
export const pastOfDrift = pastOfData(({ tables, reads, windowMs }) => driftedAt(tables, reads, windowMs), {
  readsColumns: true,
})

/** Tables and schedules are those of now, deployed queries those of the time. */
function pastOfData(measureOf: (past: DataPast) => MeasureAt, { readsColumns = false } = {}): ReadPast {
  return async ({ sources }, alert, span) => {
    const { projectId, query, environment, windowMinutes } = alert
    const windowMs = windowMinutes * minuteMs
    const asked = { from: new Date(span.fromMs - windowMs), to: new Date(span.toMs) }
    const [{ tables, knownFrom, columnsKnownFrom }, all] = await Promise.all([
      sources.tablesPast(projectId, asked),
      sources.readsPast(projectId, asked),
    ])
    const reads = all.filter(
      (read) => (environment === null || read.environment === environment) && (query === null || read.name === query),
    )
    const isAllRead = query === null && environment === null
    const lookedAt = tables.map((table) => ({ ...table, isRead: isAllRead ? () => true : isReadBy(reads, table) }))
    const measureAt = measureOf({ tables: lookedAt, reads, windowMs })
    return {
      measure: (current, minute) => measureAt(current, span.fromMs + (minute + 1) * minuteMs),
      knownFromMs: (readsColumns ? columnsKnownFrom : knownFrom).getTime(),
    }
  }
}

type LookedAt = PastTable & { isRead: (ms: number) => boolean }

function isReadBy(reads: PastRead[], { tableName }: PastTable): LookedAt['isRead'] {
  const times = reads.filter(({ tables }) => Object.hasOwn(tables, tableName))
  return (ms) => times.some((each) => isWithin(each, ms))
}

function isWithin({ from, to }: { from: Date; to: Date | null }, ms: number): boolean {
  return from.getTime() <= ms && (to === null || ms < to.getTime())
}

function heldAt(tables: LookedAt[]): MeasureAt {
  const some = tables.filter(({ heldBetween }) => heldBetween.length > 0)
  return (_alert, ms) => {
    const held = some.filter((table) => table.heldBetween.some((each) => isWithin(each, ms)) && table.isRead(ms))
    return { value: held.length, enough: true }
  }
}

function ageAt(tables: LookedAt[]): MeasureAt {
  const clocks = tables.map((table) => ({ ...table, freshAt: freshnessOf(table) }))
  return ({ threshold }, ms) => {
    const ages = clocks.flatMap(({ isRead, freshAt }) => {
      const fresh = freshAt(ms)
      const since = threshold === null ? fresh?.dueMs() : fresh?.atMs
      return since === undefined || since === null || !isRead(ms) ? [] : [(ms - since) / minuteMs]
    })
    return { value: Math.max(0, ...ages), enough: ages.length > 0 }
  }
}

/** The last refresh of a table before a moment, and the next that its schedule promised. */
function freshnessOf({ fresh, promisedAt, schedule, timeZone }: PastTable) {
  const first = promisedAt === null ? [] : [{ since: promisedAt, at: promisedAt }]
  const times = [...first, ...fresh].toSorted((one, other) => one.since.getTime() - other.since.getTime())
  let next = 0
  let last: { atMs: number; dueMs: () => number | null } | null = null
  return (ms: number) => {
    for (let each = times[next]; each !== undefined && each.since.getTime() <= ms; each = times[next]) {
      next += 1
      // An older version that serves again takes nothing back: the source was asked since.
      const atMs = Math.max(each.at.getTime(), last?.atMs ?? 0)
      last = { atMs, dueMs: remembered(() => (schedule === null ? null : dueAfter(schedule, timeZone, atMs))) }
    }
    return last
  }
}

function dueAfter(schedule: string, timeZone: string, atMs: number): number {
  return nextRun(schedule, timeZone, new Date(atMs)).getTime()
}

function remembered<Value>(find: () => Value): () => Value {
  let known: { value: Value } | undefined
  return () => (known ??= { value: find() }).value
}

/** Deployed queries that read a column which a load of the window took away or gave another type. */
function driftedAt(tables: PastTable[], reads: PastRead[], windowMs: number): MeasureAt {
  const touches = tables.flatMap(({ tableName, drifts }) =>
    drifts.flatMap(({ at, drift }) => {
      const lost = new Set([...drift.removed, ...drift.changed.map(({ name }) => name)])
      const until = new Date(at.getTime() + windowMs)
      return reads
        .filter((read) => (read.tables[tableName] ?? []).some((column) => lost.has(column)))
        .map((read) => ({ read, from: at, to: until }))
    }),
  )
  return (_alert, ms) => {
    const touched = touches.filter((touch) => isWithin(touch, ms) && isWithin(touch.read, ms)).map(({ read }) => read)
    return { value: new Set(touched).size, enough: true }
  }
}
