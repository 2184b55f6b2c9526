import type { Alert, AlertType } from './usage-wire.ts'

type Kind = {
  type: AlertType
  label: string
  /** What it is for, as the name that is offered. */
  name: string
  /** What stands beside the threshold; null where there is none to set. */
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
}

const kinds: Kind[] = [
  {
    type: 'error_rate_above',
    label: 'Too many errors',
    name: 'Too many errors',
    unit: '% of calls',
    factor: 0.01,
    threshold: 5,
    optional: false,
    windowed: true,
    scoped: true,
  },
  {
    type: 'p95_latency_above',
    label: 'Too slow',
    name: 'Slow answers',
    unit: 'ms for 95 of 100 calls',
    factor: 1,
    threshold: 1000,
    optional: false,
    windowed: true,
    scoped: true,
  },
  {
    type: 'requests_above',
    label: 'More calls than usual',
    name: 'Many calls',
    unit: 'calls',
    factor: 1,
    threshold: 1000,
    optional: false,
    windowed: true,
    scoped: true,
  },
  {
    type: 'requests_below',
    label: 'Fewer calls than usual',
    name: 'Few calls',
    unit: 'calls',
    factor: 1,
    threshold: 1,
    optional: false,
    windowed: true,
    scoped: true,
  },
  {
    type: 'unanswered_rate_above',
    label: 'Too many unanswered questions',
    name: 'Unanswered questions',
    unit: '% of questions',
    factor: 0.01,
    threshold: 30,
    optional: false,
    windowed: true,
    scoped: true,
  },
  {
    type: 'job_failed',
    label: 'A refresh failed',
    name: 'Failed refresh',
    unit: null,
    factor: 1,
    threshold: null,
    optional: true,
    windowed: false,
    scoped: false,
  },
  {
    type: 'data_stale',
    label: 'Data is late',
    name: 'Late data',
    unit: 'minutes old',
    factor: 1,
    threshold: null,
    optional: true,
    windowed: false,
    scoped: false,
  },
  {
    type: 'schema_drift',
    label: 'The shape of data changed',
    name: 'Changed data',
    unit: null,
    factor: 1,
    threshold: null,
    optional: true,
    windowed: false,
    scoped: false,
  },
]

export const alertChoices = kinds.map(({ type, label }) => ({ value: type, label }))

export function kindOf(type: string): Kind {
  const [first] = kinds
  const found = kinds.find((kind) => kind.type === type) ?? first
  if (found === undefined) throw new Error(`There is no alert of type ${type}.`)
  return found
}

/** When it fires, as a sentence. */
export function sayRule({ type, threshold, window_minutes: minutes, environment, query }: Alert): string {
  const { label, unit, factor, windowed } = kindOf(type)
  const limit =
    threshold === null || unit === null
      ? ''
      : `: ${type === 'requests_below' ? 'below' : 'above'} ${Number((threshold / factor).toFixed(2))} ${unit}`
  const where = [query ?? '', environment === null ? '' : `in ${environment}`].filter((each) => each !== '').join(' ')
  return `${label}${limit}${windowed ? ` within ${minutes} min` : ''}${where === '' ? '' : ` · ${where}`}`
}

/** What was measured, in the unit in which its limit is typed. */
export function sayMeasured(type: AlertType, value: number | null): string {
  if (value === null) return ''
  const { unit, factor } = kindOf(type)
  const typed = (value / factor).toLocaleString('en', { maximumFractionDigits: 2 })
  return unit === null ? typed : `${typed} ${unit}`
}
