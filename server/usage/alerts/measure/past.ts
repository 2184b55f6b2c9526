import { failedJobTimes } from '../../../jobs/index.ts'
import { batchMs } from '../../stored/batches.ts'
import { callCountsText, windowOf, type CallCounts, share } from '../../report/figures.ts'
import { addLatency, percentile, type Latencies } from '../../stored/latencies.ts'
import type { Alert, Measured } from './alert.ts'
import { isEnough, type Measuring, type MeasureCounts } from './measure.ts'

export type PastSpan = { fromMs: number; toMs: number }

/** Measures at the end of a minute of the span, called for one minute after the other. */
export type History = (alert: Alert, minute: number) => Measured

/** Before `knownFromMs`, or beyond the retention named, nothing is recorded. */
export type AlertPast = { measure: History } & ({ retention: Retention } | { knownFromMs: number })

type Retention = 'rollupRetentionDays' | 'requestRetentionDays' | 'jobRetentionDays'

/** Reads all that an alert measures at the minutes of a span; a span of one minute is an evaluation. */
export type ReadPast = (measuring: Measuring, alert: Alert, span: PastSpan) => Promise<AlertPast>

const minuteMs = 60_000

/** Calls by minute, as figures count them. */
export function pastOfCounts(measure: MeasureCounts): ReadPast {
  return async (measuring, alert, span) => {
    const rows = await readCalls<CallCounts>(measuring, alert, {
      span,
      select: (start) => `select ${start} as start, ${callCountsText} from calls group by 1`,
    })
    const sum: CallCounts = { requests: 0, errors: 0, asked: 0, unanswered: 0, answered: 0, flagged: 0 }
    const names = Object.keys(sum) as Array<keyof CallCounts>
    const add: Add<CallCounts> = (row, sign) => {
      for (const name of names) sum[name] += sign * row[name]
    }
    const history = slideWindow({ alert, span, rows }, add, (current) => measure(current, sum))
    return { measure: history, retention: 'rollupRetentionDays' }
  }
}

export const pastOfLatency: ReadPast = async (measuring, alert, span) => {
  const rows = await readCalls<{ bucket: number; count: number }>(measuring, alert, {
    span,
    select: (start) => `select ${start} as start, bucket, sum(count)::bigint as count
      from calls, unnest(buckets, counts) as each(bucket, count) group by 1, bucket`,
  })
  const times: Latencies = new Map()
  let requests = 0
  let p95: number | null = null
  const add: Add<{ bucket: number; count: number }> = ({ bucket, count }, sign) => {
    requests += sign * count
    addLatency(times, bucket, sign * count)
    p95 = null
  }
  const history = slideWindow({ alert, span, rows }, add, (current) => {
    if (!isEnough(current, requests)) return { value: 0, enough: false }
    p95 ??= percentile(new Map([...times].filter(([, count]) => count > 0)), 0.95) ?? 0
    return { value: p95, enough: true }
  })
  return { measure: history, retention: 'rollupRetentionDays' }
}

/**
 * Confidence of answers that were found for a question: a query that the caller named has none. It is in the log alone,
 * which is retained for a shorter time than figures.
 */
export const pastOfConfidence: ReadPast = async ({ store }, alert, span) => {
  const { rows } = await store.pool.query<{ start: Date; answers: number; confidence: number }>(
    `select ${minuteText('at')} as start, count(confidence)::bigint as answers, sum(confidence)::float8 as confidence
       from requests
      where project_id = $1 and ($2::text is null or environment = $2) and ($3::text is null or query = $3)
        and entry = 'question' and status < 400 and confidence is not null
        and start > $4::timestamptz - interval '${batchMs} ms' and start < $5 and at >= $4 and at < $5
      group by 1`,
    [alert.projectId, alert.environment, alert.query, firstOf(alert, span), new Date(span.toMs)],
  )
  const sum = { answers: 0, confidence: 0 }
  const add: Add<typeof sum> = ({ answers, confidence }, sign) => {
    sum.answers += sign * answers
    sum.confidence += sign * confidence
  }
  const history = slideWindow({ alert, span, rows }, add, (current) => ({
    value: share(sum.confidence, sum.answers),
    enough: isEnough(current, sum.answers),
  }))
  return { measure: history, retention: 'requestRetentionDays' }
}

export const pastOfJobs: ReadPast = async ({ store }, alert, span) => {
  const windowMs = alert.windowMinutes * minuteMs
  const from = new Date(span.fromMs - windowMs)
  const times = await failedJobTimes(store, alert.projectId, { from, to: new Date(span.toMs) })
  const measure: History = (_alert, minute) => {
    const endMs = span.fromMs + (minute + 1) * minuteMs
    return { value: times.filter((ms) => ms > endMs - windowMs && ms <= endMs).length, enough: true }
  }
  return { measure, retention: 'jobRetentionDays' }
}

/** The first moment of the first window. */
function firstOf({ windowMinutes }: Alert, { fromMs }: PastSpan): Date {
  return new Date(fromMs - (windowMinutes - 1) * minuteMs)
}

/** Minutes as the span cuts them, which need not be those of the clock. Value 4 is where the first window begins. */
function minuteText(column: string): string {
  return `date_bin('1 minute', ${column}, $4::timestamptz)`
}

/** Calls that an alert looks at, from where the first window begins; coarser than minutes where there is one window. */
async function readCalls<Row>(
  { store }: Measuring,
  alert: Alert,
  { span, select }: { span: PastSpan; select: (start: string) => string },
): Promise<Array<Row & { start: Date }>> {
  const isOne = span.toMs - span.fromMs <= minuteMs
  const window = { from: firstOf(alert, span), to: new Date(span.toMs - 1) }
  const { text, values } = await windowOf(store, alert, window, isOne ? undefined : ['minute'])
  const { rows } = await store.pool.query<Row & { start: Date }>(
    `with calls as (${text}) ${select(minuteText('start'))}`,
    values,
  )
  return rows
}

type Add<Row> = (row: Row, sign: 1 | -1) => void
type Slid<Row> = { alert: Alert; span: PastSpan; rows: Array<Row & { start: Date }> }

/** Slides the window by a minute at a time: the minute that ends is added and the one that leaves is subtracted. */
function slideWindow<Row>(
  { alert: { windowMinutes }, span, rows }: Slid<Row>,
  add: Add<Row>,
  measure: (alert: Alert) => Measured,
): History {
  const byMinute = Map.groupBy(rows, ({ start }) => Math.floor((start.getTime() - span.fromMs) / minuteMs))
  const change = (minute: number, sign: 1 | -1): void => byMinute.get(minute)?.forEach((row) => add(row, sign))
  for (let minute = 1 - windowMinutes; minute < 0; minute += 1) change(minute, 1)
  return (alert, minute) => {
    change(minute, 1)
    change(minute - windowMinutes, -1)
    return measure(alert)
  }
}
