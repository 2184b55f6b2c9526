import type { AlertType } from '../../../../api/alerts.ts'
import type { Alert, Measured } from './alert.ts'
import {
  countDrifted,
  countHeld,
  errorRate,
  flaggedShare,
  measureAge,
  requestCount,
  unansweredRate,
  type Measure,
  type Measuring,
} from './measure.ts'
import { pastOfConfidence, pastOfCounts, pastOfJobs, pastOfLatency, type ReadPast } from './past.ts'
import { pastOfDrift, pastOfFreshness, pastOfHeld } from './past-data.ts'

/** Values that a threshold can have, in the unit of its metric. */
type Threshold = { min: number; max: number; isWhole: boolean; isOptional: boolean; words: string }

type AlertTypeRow = {
  /** The metric, in the middle of a sentence. */
  metric: string
  show: (value: number) => string
  threshold: Threshold
  /** The side of the threshold on which all is well. */
  good: 'below' | 'above'
  /** Whether an environment and a query narrow it down. */
  isScoped: boolean
  past: ReadPast
  /** How it is measured now, where that is recorded apart from the past: of data, whose past is in the log of acts. */
  now?: Measure
  /** Whether a value is bad; `limit` is the threshold that counts in the present state. */
  isBad: (value: number, limit: number | null, alert: Alert) => boolean
}

const share = { min: 0, max: 1, isWhole: false, isOptional: false, words: 'a share from 0 to 1' }
const count = { min: 0, max: 1_000_000_000, isWhole: true, isOptional: false, words: 'a whole number from 0' }

const isAbove: AlertTypeRow['isBad'] = (value, limit) => value > (limit ?? 0)
const isAtLeastOne: AlertTypeRow['isBad'] = (value, limit) => value >= Math.max(1, limit ?? 1)

/** Everything the server knows of each type of alert. A missing type does not compile. */
const alertTypes = {
  error_rate_above: {
    metric: 'error rate',
    show: percent,
    threshold: share,
    good: 'below',
    isScoped: true,
    past: pastOfCounts(errorRate),
    isBad: isAbove,
  },
  p95_latency_above: {
    metric: '95th percentile of response times',
    show: (value) => `${Math.round(value)} ms`,
    threshold: { ...share, max: 3_600_000, words: 'milliseconds from 0 to 3,600,000' },
    good: 'below',
    isScoped: true,
    past: pastOfLatency,
    isBad: isAbove,
  },
  requests_above: {
    metric: 'requests',
    show: plain,
    threshold: count,
    good: 'below',
    isScoped: true,
    past: pastOfCounts(requestCount),
    isBad: isAbove,
  },
  requests_below: {
    metric: 'requests',
    show: plain,
    threshold: { ...count, min: 1, words: 'a whole number from 1' },
    good: 'above',
    isScoped: true,
    past: pastOfCounts(requestCount),
    isBad: (value, limit) => value < (limit ?? 0),
  },
  unanswered_rate_above: {
    metric: 'share of unanswered questions',
    show: percent,
    threshold: share,
    good: 'below',
    isScoped: true,
    past: pastOfCounts(unansweredRate),
    isBad: isAbove,
  },
  confidence_below: {
    metric: 'average confidence of answers to questions',
    show: percent,
    threshold: share,
    good: 'above',
    isScoped: true,
    past: pastOfConfidence,
    isBad: (value, limit) => value < (limit ?? 0),
  },
  flagged_share_above: {
    metric: 'share of answers that leave out a part of the question',
    show: percent,
    threshold: share,
    good: 'below',
    isScoped: true,
    past: pastOfCounts(flaggedShare),
    isBad: isAbove,
  },
  job_failed: {
    metric: 'failed jobs',
    show: plain,
    threshold: { ...count, isOptional: true },
    good: 'below',
    isScoped: false,
    past: pastOfJobs,
    isBad: isAtLeastOne,
  },
  data_stale: {
    metric: 'age of the data',
    show: (value) => `${Math.round(value)} min`,
    threshold: { ...share, max: 5_256_000, isOptional: true, words: 'minutes from 0 to 5,256,000' },
    good: 'below',
    isScoped: true,
    now: measureAge,
    past: pastOfFreshness,
    // The schedule promises where there is no threshold, and the window is its grace.
    isBad: (value, limit, { windowMinutes }) => value > (limit ?? windowMinutes),
  },
  schema_drift: {
    metric: 'deployed queries that a schema change touches',
    show: plain,
    threshold: { ...count, isOptional: true },
    good: 'below',
    isScoped: true,
    now: countDrifted,
    past: pastOfDrift,
    isBad: isAtLeastOne,
  },
  data_held: {
    metric: 'tables whose new data is held',
    show: plain,
    threshold: { ...count, isOptional: true },
    good: 'below',
    isScoped: true,
    now: countHeld,
    past: pastOfHeld,
    isBad: isAtLeastOne,
  },
} satisfies Record<AlertType, AlertTypeRow>

/** The last minute of the past, up to and with this moment. */
export async function measureNow(measuring: Measuring, alert: Alert, at: Date): Promise<Measured> {
  const { now, past } = alertTypeOf(alert.type)
  if (now !== undefined) return now(measuring, alert, at)
  const toMs = at.getTime() + 1
  const { measure } = await past(measuring, alert, { fromMs: toMs - 60_000, toMs })
  return measure(alert, 0)
}

export function alertTypeOf(type: AlertType): AlertTypeRow {
  return alertTypes[type]
}

function percent(value: number): string {
  return `${Math.round(value * 1000) / 10} %`
}

function plain(value: number): string {
  return String(Math.round(value))
}
