import type { Alert, AlertType } from '../../deploy/shared/usage-wire.ts'

type Kind = {
  type: AlertType
  label: string
  /** The purpose, as the name that is offered. */
  name: string
  /** On which side of the threshold. */
  fires: 'above' | 'below'
  /** The label beside the threshold; null where there is none to set. */
  unit: string | null
  /** From what is typed to what is stored: a share is typed as a percentage. */
  factor: number
  threshold: number | null
  /** Whether it can do without a threshold. */
  optional: boolean
  /** Whether it looks at the calls of some time. */
  windowed: boolean
  /** Whether it is about single queries and environments. */
  scoped: boolean
  /** Why nothing of the past could be judged, in the end of a sentence. */
  unjudged: string
}

const few = 'there were fewer calls than it takes'
const none = 'nothing of that time is kept'

/** Fires on the calls of some time, once there are enough of them. */
const ofCalls = { fires: 'above', factor: 1, optional: false, windowed: true, scoped: true, unjudged: few } as const
const ofQuestions = { ...ofCalls, factor: 0.01, unjudged: 'there were fewer questions than it takes' }
const ofAnswers = { ...ofQuestions, unjudged: 'there were fewer answers to questions than it takes' }
/** Fires as soon as it happens. */
const ofData = {
  fires: 'above',
  unit: null,
  factor: 1,
  threshold: null,
  optional: true,
  windowed: false,
  scoped: false,
  unjudged: none,
} as const

/** All that the web app knows of each type. One that is missing does not compile. */
const kinds: Record<AlertType, Omit<Kind, 'type'>> = {
  error_rate_above: {
    ...ofCalls,
    label: 'Too many errors',
    name: 'Too many errors',
    unit: '% of calls',
    factor: 0.01,
    threshold: 5,
  },
  p95_latency_above: { ...ofCalls, label: 'Too slow', name: 'Slow answers', unit: 'ms at p95', threshold: 1000 },
  requests_above: {
    ...ofCalls,
    label: 'More calls than usual',
    name: 'Many calls',
    unit: 'calls',
    threshold: 1000,
    unjudged: none,
  },
  requests_below: {
    ...ofCalls,
    label: 'Fewer calls than usual',
    name: 'Few calls',
    fires: 'below',
    unit: 'calls',
    threshold: 1,
    unjudged: none,
  },
  unanswered_rate_above: {
    ...ofQuestions,
    label: 'Too many unanswered questions',
    name: 'Unanswered questions',
    unit: '% of questions',
    threshold: 30,
  },
  confidence_below: {
    ...ofAnswers,
    label: 'Questions answered unsurely',
    name: 'Unsure answers',
    fires: 'below',
    unit: '% confidence on average',
    threshold: 70,
  },
  flagged_share_above: {
    ...ofAnswers,
    label: 'Too many answers that leave something out',
    name: 'Answers that leave something out',
    unit: '% of answers to questions',
    threshold: 20,
  },
  job_failed: { ...ofData, label: 'A refresh failed', name: 'Failed refresh' },
  data_stale: {
    ...ofData,
    label: 'Data is late',
    name: 'Late data',
    unit: 'minutes old',
    unjudged: 'no table was loaded, or promised by a schedule',
  },
  data_held: { ...ofData, label: 'New data is held', name: 'Held data' },
  schema_drift: { ...ofData, label: 'The shape of data changed', name: 'Changed data' },
}

const types = Object.keys(kinds) as AlertType[]

export const alertChoices = types.map((type) => ({ value: type, label: kinds[type].label }))

export function kindOf(type: AlertType): Kind {
  return { type, ...kinds[type] }
}

/** When it fires, as a sentence. */
export function sayRule({ type, threshold, window_minutes: minutes, environment, query }: Alert): string {
  const { label, unit, factor, windowed, fires } = kindOf(type)
  const limit =
    threshold === null || unit === null ? '' : `: ${fires} ${Number((threshold / factor).toFixed(2))} ${unit}`
  const where = [query ?? '', environment === null ? '' : `in ${environment}`].filter((each) => each !== '').join(' ')
  return `${label}${limit}${windowed ? ` within ${minutes} min` : ''}${where === '' ? '' : ` · ${where}`}`
}

/** The measured value, in the unit in which its limit is typed. */
export function sayMeasured(type: AlertType, value: number | null): string {
  if (value === null) return ''
  const { unit, factor } = kindOf(type)
  const typed = (value / factor).toLocaleString('en', { maximumFractionDigits: 2 })
  return unit === null ? typed : `${typed} ${unit}`
}
