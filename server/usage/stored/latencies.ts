/**
 * Counts of calls by duration, in logarithmic buckets: the sketch of DDSketch with a relative error of 1 %. Two are
 * merged by adding counts bucket by bucket, which SQL does as well as this file.
 */
export type Latencies = Map<number, number>

const relativeError = 0.01
const gamma = (1 + relativeError) / (1 - relativeError)
const logGamma = Math.log(gamma)
/** Shorter times, zero among them, count as this. */
const minMs = 0.01
const maxMs = 86_400_000

export function bucketOf(ms: number): number {
  return Math.ceil(Math.log(Math.min(Math.max(ms, minMs), maxMs)) / logGamma)
}

/** The same in SQL. */
export function bucketText(column: string): string {
  return `ceil(ln(least(greatest(${column}, ${minMs}), ${maxMs})::float8) / ${logGamma})::smallint`
}

export function addLatency(latencies: Latencies, bucket: number, count = 1): void {
  latencies.set(bucket, (latencies.get(bucket) ?? 0) + count)
}

/** The time that `share` of the calls did not exceed, within 1 %; null of no calls. */
export function percentile(latencies: Latencies, share: number): number | null {
  let total = 0
  for (const count of latencies.values()) total += count
  if (total === 0) return null
  // Nearest rank: p95 of two calls is the slower one.
  const rank = Math.max(1, Math.ceil(share * total - 1e-9))
  let seen = 0
  let last = 0
  for (const [bucket, count] of [...latencies].toSorted(([left], [right]) => left - right)) {
    seen += count
    last = bucket
    if (seen >= rank) break
  }
  return round((2 * gamma ** last) / (gamma + 1))
}

/** Milliseconds as answers show them. */
export function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
