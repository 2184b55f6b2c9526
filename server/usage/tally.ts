import { randomInt } from 'node:crypto'
import { isRejected, type CallRow } from './call.ts'
import { addLatency, bucketOf, type Latencies } from './latencies.ts'

/** The calls of one minute that agree in everything they are counted by. */
type Count = {
  /** Unique to this row of this process: what it writes again replaces what it wrote before. */
  writer: number
  of: CallRow
  start: number
  calls: number
  totalMs: number
  sqlMs: number
  rows: number
  bytes: number
  latencies: Latencies
  dirty: boolean
}

export type Tally = {
  /** False when there is no room for a further kind of call. */
  add(call: CallRow): boolean
  /** What has changed since the last time, in the columns of `usage_rollups`. */
  take(): TakenCount[]
  /** To be taken again: it could not be written. */
  putBack(taken: TakenCount[]): void
  /** Lets go of minutes that are over and written. */
  forget(before: number): void
}

export type TakenCount = { count: Count; row: Record<string, unknown> }

const minuteMs = 60_000

/** Counts calls by minute. Bounded: beyond `most` kinds of calls at a time nothing new is counted. */
export function openTally(most: number): Tally {
  const counts = new Map<string, Count>()
  return {
    add(call) {
      const start = Math.floor(call.at / minuteMs) * minuteMs
      const key = keyOf(call, start)
      let count = counts.get(key)
      if (count === undefined) {
        if (counts.size >= most) return false
        const zero = { calls: 0, totalMs: 0, sqlMs: 0, rows: 0, bytes: 0 }
        count = { writer: randomInt(2 ** 48 - 1), of: call, start, ...zero, latencies: new Map(), dirty: true }
        counts.set(key, count)
      }
      count.calls += 1
      count.totalMs += call.total_ms
      count.sqlMs += call.sql_ms
      count.rows += call.rows
      count.bytes += call.bytes
      count.dirty = true
      if (!isRejected(call.status)) addLatency(count.latencies, bucketOf(call.total_ms))
      return true
    },
    take() {
      const taken: TakenCount[] = []
      for (const count of counts.values()) {
        if (!count.dirty) continue
        count.dirty = false
        taken.push({ count, row: rowOf(count) })
      }
      return taken
    },
    putBack(taken) {
      for (const { count } of taken) count.dirty = true
    },
    forget(before) {
      for (const [key, count] of counts) if (!count.dirty && count.start < before) counts.delete(key)
    },
  }
}

/** A query that was not found is counted under no name: names that callers make up would be without number. */
function keyOf(call: CallRow, start: number): string {
  const query = call.version === null ? '' : call.query
  const { project_id, environment, version, key_id, entry, status, error, reason, cache } = call
  return `${start} ${project_id} ${environment} ${query} ${version} ${key_id} ${entry} ${status} ${error} ${reason} ${cache}`
}

function rowOf({ of, start, latencies, ...count }: Count): Record<string, unknown> {
  return {
    project_id: of.project_id,
    grain: 'minute',
    start: new Date(start),
    writer: count.writer,
    environment: of.environment ?? '',
    query: of.version === null ? '' : (of.query ?? ''),
    version: of.version ?? 0,
    key_id: of.key_id ?? '',
    entry: of.entry,
    status: of.status,
    error: of.error ?? '',
    reason: of.reason ?? '',
    cache: of.cache ?? '',
    calls: count.calls,
    total_ms: count.totalMs,
    sql_ms: count.sqlMs,
    rows: count.rows,
    bytes: count.bytes,
    buckets: [...latencies.keys()],
    counts: [...latencies.values()],
  }
}
