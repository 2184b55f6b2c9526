import type { AlertType } from '../../../../api/alerts.ts'
import type { Alert } from './alert.ts'
import {
  countDrifted,
  countFailures,
  countHeld,
  countRequests,
  measureAge,
  measureConfidence,
  measureErrors,
  measureFlagged,
  measureLatency,
  measureUnanswered,
  type Measure,
} from './measure.ts'

/** What a threshold can be, in the unit of its metric. */
type Threshold = { min: number; max: number; isWhole: boolean; isOptional: boolean; words: string }

type AlertTypeRow = {
  /** What is measured, in the middle of a sentence. */
  metric: string
  show: (value: number) => string
  threshold: Threshold
  /** The side of the threshold on which all is well. */
  good: 'below' | 'above'
  /** Whether an environment and a query narrow it down. */
  isScoped: boolean
  measure: Measure
  /** Whether a value is bad; `limit` is the threshold that counts in the present state. */
  isBad: (value: number, limit: number | null, alert: Alert) => boolean
}

const share = { min: 0, max: 1, isWhole: false, isOptional: false, words: 'a share from 0 to 1' }
const count = { min: 0, max: 1_000_000_000, isWhole: true, isOptional: false, words: 'a whole number from 0' }

const isAbove: AlertTypeRow['isBad'] = (value, limit) => value > (limit ?? 0)
const isAtLeastOne: AlertTypeRow['isBad'] = (value, limit) => value >= Math.max(1, limit ?? 1)

/** All that the server knows of each type of alert. One that is missing does not compile. */
const alertTypes = {
  error_rate_above: {
    metric: 'error rate',
    show: percent,
    threshold: share,
    good: 'below',
    isScoped: true,
    measure: measureErrors,
    isBad: isAbove,
  },
  p95_latency_above: {
    metric: '95th percentile of response times',
    show: (value) => `${Math.round(value)} ms`,
    threshold: { ...share, max: 3_600_000, words: 'milliseconds from 0 to 3,600,000' },
    good: 'below',
    isScoped: true,
    measure: measureLatency,
    isBad: isAbove,
  },
  requests_above: {
    metric: 'requests',
    show: plain,
    threshold: count,
    good: 'below',
    isScoped: true,
    measure: countRequests,
    isBad: isAbove,
  },
  requests_below: {
    metric: 'requests',
    show: plain,
    threshold: { ...count, min: 1, words: 'a whole number from 1' },
    good: 'above',
    isScoped: true,
    measure: countRequests,
    isBad: (value, limit) => value < (limit ?? 0),
  },
  unanswered_rate_above: {
    metric: 'share of unanswered questions',
    show: percent,
    threshold: share,
    good: 'below',
    isScoped: true,
    measure: measureUnanswered,
    isBad: isAbove,
  },
  confidence_below: {
    metric: 'average confidence of answers to questions',
    show: percent,
    threshold: share,
    good: 'above',
    isScoped: true,
    measure: measureConfidence,
    isBad: (value, limit) => value < (limit ?? 0),
  },
  flagged_share_above: {
    metric: 'share of answers that leave out a part of the question',
    show: percent,
    threshold: share,
    good: 'below',
    isScoped: true,
    measure: measureFlagged,
    isBad: isAbove,
  },
  job_failed: {
    metric: 'failed jobs',
    show: plain,
    threshold: { ...count, isOptional: true },
    good: 'below',
    isScoped: false,
    measure: countFailures,
    isBad: isAtLeastOne,
  },
  data_stale: {
    metric: 'age of the data',
    show: (value) => `${Math.round(value)} min`,
    threshold: { ...share, max: 5_256_000, isOptional: true, words: 'minutes from 0 to 5,256,000' },
    good: 'below',
    isScoped: true,
    measure: measureAge,
    // Without a threshold it is the schedule that promises, and the window is the grace it has.
    isBad: (value, limit, { windowMinutes }) => value > (limit ?? windowMinutes),
  },
  schema_drift: {
    metric: 'deployed queries that a schema change touches',
    show: plain,
    threshold: { ...count, isOptional: true },
    good: 'below',
    isScoped: true,
    measure: countDrifted,
    isBad: isAtLeastOne,
  },
  data_held: {
    metric: 'tables whose new data is held',
    show: plain,
    threshold: { ...count, isOptional: true },
    good: 'below',
    isScoped: true,
    measure: countHeld,
    isBad: isAtLeastOne,
  },
} satisfies Record<AlertType, AlertTypeRow>

export function alertTypeOf(type: AlertType): AlertTypeRow {
  return alertTypes[type]
}

function percent(value: number): string {
  return `${Math.round(value * 1000) / 10} %`
}

function plain(value: number): string {
  return String(Math.round(value))
}
