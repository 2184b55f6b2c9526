import type { AlertType } from '../../../api/alerts.ts'
import type { Database } from '../../store/index.ts'
import { batchMs } from '../stored/batches.ts'
import { rejectedText } from '../stored/call.ts'
import { addLatency, percentile, type Latencies } from '../stored/latencies.ts'
import type { Alert, Measured } from './measure/alert.ts'
import { isEnough, share } from './measure/measure.ts'

export type PastSpan = { fromMs: number; toMs: number }

/** What would be measured at the end of each minute of a span, asked in their order. */
export type History = (alert: Alert, minute: number) => Measured

/** And since when what it looks at is kept. */
export type AlertPast = { measure: History; knownFromMs: number }

/** What the calls of one minute came to. */
type Minute = Record<(typeof counted)[number], number> & { times: Array<[bucket: number, count: number]> }
export type Minutes = ReadonlyMap<number, Minute>

const minuteMs = 60_000
const counted = ['requests', 'errors', 'asked', 'unanswered', 'answered', 'flagged', 'sure', 'confidence'] as const

/** The calls that an alert looks at, by minute since the beginning of the span. Minutes without a call are left out. */
export async function readMinutes(store: Pick<Database, 'pool'>, alert: Alert, span: PastSpan): Promise<Minutes> {
  const { projectId, environment, query, type } = alert
  const values = [projectId, environment, query, new Date(span.fromMs), new Date(span.toMs)]
  const where = `project_id = $1 and ($2::text is null or environment = $2) and ($3::text is null or query = $3)
    and start >= $4 and start < $5 and not ${rejectedText}`
  const minutes = new Map<number, Minute>()
  const minuteAt = (start: Date): Minute => {
    const at = Math.floor((start.getTime() - span.fromMs) / minuteMs)
    let minute = minutes.get(at)
    if (minute === undefined) {
      minute = { ...(Object.fromEntries(counted.map((name) => [name, 0])) as Omit<Minute, 'times'>), times: [] }
      minutes.set(at, minute)
    }
    return minute
  }
  const calls = await store.pool.query<{ start: Date } & Omit<Minute, 'times'>>(
    `select start, sum(calls)::bigint as requests, coalesce(sum(calls) filter (where status >= 400), 0)::bigint as errors,
            coalesce(sum(calls) filter (where entry = 'question'), 0)::bigint as asked,
            coalesce(sum(calls) filter (where entry = 'question' and status = 422), 0)::bigint as unanswered,
            coalesce(sum(calls) filter (where entry = 'question' and status < 400), 0)::bigint as answered,
            coalesce(sum(calls) filter (where entry = 'question' and status < 400 and reason = 'unexpressed'), 0)::bigint
              as flagged, 0 as sure, 0 as confidence
       from usage_rollups where grain = 'minute' and ${where} group by start`,
    values,
  )
  for (const { start, ...figures } of calls.rows) Object.assign(minuteAt(start), figures)
  if (type === 'p95_latency_above') {
    const times = await store.pool.query<{ start: Date; bucket: number; count: number }>(
      `select start, bucket, sum(count)::bigint as count from usage_rollups, unnest(buckets, counts) as each(bucket, count)
        where grain = 'minute' and ${where} group by start, bucket`,
      values,
    )
    for (const { start, bucket, count } of times.rows) minuteAt(start).times.push([bucket, count])
  }
  if (type === 'confidence_below') {
    const sure = await store.pool.query<{ minute: Date; sure: number; confidence: number }>(
      `select date_trunc('minute', at) as minute, count(confidence)::bigint as sure,
              coalesce(sum(confidence), 0)::float8 as confidence
         from requests where entry = 'question' and status < 400 and confidence is not null
          and project_id = $1 and ($2::text is null or environment = $2) and ($3::text is null or query = $3)
          and start > $4::timestamptz - interval '${batchMs} ms' and start < $5 and at >= $4 and at < $5 group by 1`,
      values,
    )
    for (const { minute, ...figures } of sure.rows) Object.assign(minuteAt(minute), figures)
  }
  return minutes
}

type Sums = Record<(typeof counted)[number], number>

/** What a type makes of the counts of its window; those not named here look at errors. */
const measures: Partial<Record<AlertType, (alert: Alert, sum: Sums) => Measured>> = {
  unanswered_rate_above: (alert, { unanswered, asked }) => shareOf(alert, unanswered, asked),
  flagged_share_above: (alert, { flagged, answered }) => shareOf(alert, flagged, answered),
  confidence_below: (alert, { confidence, sure }) => shareOf(alert, confidence, sure),
  requests_above: (_alert, { requests }) => ({ value: requests, enough: true }),
  requests_below: (_alert, { requests }) => ({ value: requests, enough: true }),
}

function measured(alert: Alert, sum: Sums): Measured {
  return measures[alert.type]?.(alert, sum) ?? shareOf(alert, sum.errors, sum.requests)
}

function shareOf(alert: Alert, part: number, whole: number): Measured {
  return { value: share(part, whole), enough: isEnough(alert, whole) }
}

/** The window slides: each minute adds the one that ends and takes out the one that leaves. */
export function countedHistory(alert: Alert, minutes: Minutes): History {
  const { windowMinutes } = alert
  const sum = Object.fromEntries(counted.map((name) => [name, 0])) as Sums
  const add = (minute: Minute | undefined, sign: 1 | -1): void => {
    if (minute !== undefined) for (const name of counted) sum[name] += sign * minute[name]
  }
  // Minutes are counted from a window before the first that is judged.
  for (let at = 0; at < windowMinutes; at += 1) add(minutes.get(at), 1)
  return (of, minute) => {
    add(minutes.get(minute + windowMinutes), 1)
    add(minutes.get(minute), -1)
    return measured(of, sum)
  }
}

export function latencyHistory(alert: Alert, minutes: Minutes): History {
  const { windowMinutes } = alert
  const times: Latencies = new Map()
  let requests = 0
  let known: number | null = null
  const add = (minute: Minute | undefined, sign: 1 | -1): void => {
    if (minute === undefined) return
    requests += sign * minute.requests
    for (const [bucket, count] of minute.times) addLatency(times, bucket, sign * count)
    known = null
  }
  for (let at = 0; at < windowMinutes; at += 1) add(minutes.get(at), 1)
  return (of, minute) => {
    add(minutes.get(minute + windowMinutes), 1)
    add(minutes.get(minute), -1)
    if (!isEnough(of, requests)) return { value: 0, enough: false }
    known ??= percentile(new Map([...times].filter(([, count]) => count > 0)), 0.95) ?? 0
    return { value: known, enough: true }
  }
}
