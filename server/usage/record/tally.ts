import { randomInt } from 'node:crypto'
import { isRejected, type CallKind, type QueryAnswered } from '../stored/call.ts'
import { addLatency, bucketOf, type Latencies } from '../stored/latencies.ts'

/** The calls of one minute that agree in everything they are counted by. */
export type Count = {
  /** Unique to this row of this process: what it writes again replaces what it wrote before. */
  writer: number
  of: CallKind
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
  /** The count of a kind and minute; undefined when there is no room for a further one. */
  find(kind: CallKind, start: number): Count | undefined
  size(): number
  /** Counts that changed since the last time, in the columns of `usage_rollups`. */
  take(): TakenCount[]
  /** Counts that could not be written are taken again. */
  putBack(taken: TakenCount[]): void
  /** Lets go of minutes that are over and written. */
  forget(before: number): void
}

export type TakenCount = { count: Count; row: Record<string, unknown> }

/** Counts calls by minute. Bounded: beyond `maxCounts` nothing new is counted. */
export function openTally(maxCounts: number): Tally {
  const counts = new Map<string, Count>()
  return {
    find(of, start) {
      const key = keyOf(of, start)
      let count = counts.get(key)
      if (count === undefined && counts.size < maxCounts) {
        const zero = { calls: 0, totalMs: 0, sqlMs: 0, rows: 0, bytes: 0 }
        count = { writer: randomInt(2 ** 48 - 1), of, start, ...zero, latencies: new Map(), dirty: true }
        counts.set(key, count)
      }
      return count
    },
    size: () => counts.size,
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

export function countCall(count: Count, { totalMs, sqlMs, rows, bytes }: QueryAnswered): void {
  count.calls += 1
  count.totalMs += totalMs
  count.sqlMs += sqlMs
  count.rows += rows
  count.bytes += bytes
  count.dirty = true
  if (!isRejected(count.of.status)) addLatency(count.latencies, bucketOf(totalMs))
}

/** A query that was not found is counted under no name: names that callers make up would be without number. */
function keyOf(kind: CallKind, start: number): string {
  const query = kind.version === null ? '' : kind.query
  const { projectId, environment, version, keyId, entry, status, error, reason, cache } = kind
  return `${start} ${projectId} ${environment} ${query} ${version} ${keyId} ${entry} ${status} ${error} ${reason} ${cache}`
}

function rowOf({ of, start, latencies, ...count }: Count): Record<string, unknown> {
  return {
    project_id: of.projectId,
    grain: 'minute',
    start: new Date(start),
    writer: count.writer,
    environment: of.environment ?? '',
    query: of.version === null ? '' : (of.query ?? ''),
    version: of.version ?? 0,
    key_id: of.keyId ?? '',
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
