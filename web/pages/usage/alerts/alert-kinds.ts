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

/** All that the web app knows of each type. One that is missing does not compile. */
const kinds: Record<AlertType, Omit<Kind, 'type'>> = {
  error_rate_above: {
    label: 'Too many errors',
    name: 'Too many errors',
    fires: 'above',
    unit: '% of calls',
    factor: 0.01,
    threshold: 5,
    optional: false,
    windowed: true,
    scoped: true,
    unjudged: few,
  },
  p95_latency_above: {
    label: 'Too slow',
    name: 'Slow answers',
    fires: 'above',
    unit: 'ms at p95',
    factor: 1,
    threshold: 1000,
    optional: false,
    windowed: true,
    scoped: true,
    unjudged: few,
  },
  requests_above: {
    label: 'More calls than usual',
    name: 'Many calls',
    fires: 'above',
    unit: 'calls',
    factor: 1,
    threshold: 1000,
    optional: false,
    windowed: true,
    scoped: true,
    unjudged: none,
  },
  requests_below: {
    label: 'Fewer calls than usual',
    name: 'Few calls',
    fires: 'below',
    unit: 'calls',
    factor: 1,
    threshold: 1,
    optional: false,
    windowed: true,
    scoped: true,
    unjudged: none,
  },
  unanswered_rate_above: {
    label: 'Too many unanswered questions',
    name: 'Unanswered questions',
    fires: 'above',
    unit: '% of questions',
    factor: 0.01,
    threshold: 30,
    optional: false,
    windowed: true,
    scoped: true,
    unjudged: 'there were fewer questions than it takes',
  },
  confidence_below: {
    label: 'Questions answered unsurely',
    name: 'Unsure answers',
    fires: 'below',
    unit: '% confidence on average',
    factor: 0.01,
    threshold: 70,
    optional: false,
    windowed: true,
    scoped: true,
    unjudged: 'there were fewer answers to questions than it takes',
  },
  flagged_share_above: {
    label: 'Too many answers that leave something out',
    name: 'Answers that leave something out',
    fires: 'above',
    unit: '% of answers to questions',
    factor: 0.01,
    threshold: 20,
    optional: false,
    windowed: true,
    scoped: true,
    unjudged: 'there were fewer answers to questions than it takes',
  },
  job_failed: {
    label: 'A refresh failed',
    name: 'Failed refresh',
    fires: 'above',
    unit: null,
    factor: 1,
    threshold: null,
    optional: true,
    windowed: false,
    scoped: false,
    unjudged: none,
  },
  data_stale: {
    label: 'Data is late',
    name: 'Late data',
    fires: 'above',
    unit: 'minutes old',
    factor: 1,
    threshold: null,
    optional: true,
    windowed: false,
    scoped: false,
    unjudged: 'no table was loaded, or promised by a schedule',
  },
  data_held: {
    label: 'New data is held',
    name: 'Held data',
    fires: 'above',
    unit: null,
    factor: 1,
    threshold: null,
    optional: true,
    windowed: false,
    scoped: false,
    unjudged: none,
  },
  schema_drift: {
    label: 'The shape of data changed',
    name: 'Changed data',
    fires: 'above',
    unit: null,
    factor: 1,
    threshold: null,
    optional: true,
    windowed: false,
    scoped: false,
    unjudged: none,
  },
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
