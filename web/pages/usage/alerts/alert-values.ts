import { channelsOf, linesOf, newChannelsOf, newLine, type ChannelLine } from './alert-channels.tsx'
import { kindOf } from './alert-kinds.ts'
import type { Alert, AlertType, ChangeAlert, NewAlert } from '../../deploy/shared/usage-wire.ts'

/** An alert as it stands in the form. An empty field of a number is none. */
export type AlertValues = {
  type: AlertType
  name: string
  threshold: number | string
  resolveThreshold: number | string
  windowMinutes: number | string
  forMinutes: number | string
  minRequests: number | string
  remindMinutes: number | string
  /** Empty stands for all. */
  environment: string
  query: string
  channels: ChannelLine[]
}

/** The template that is needed most. */
export function firstAlert(environment: string): AlertValues {
  const kind = kindOf('error_rate_above')
  return {
    type: kind.type,
    name: kind.name,
    threshold: kind.threshold ?? '',
    resolveThreshold: '',
    windowMinutes: 5,
    forMinutes: 0,
    minRequests: 1,
    remindMinutes: '',
    environment,
    query: '',
    channels: [newLine(1)],
  }
}

export function alertValuesOf(alert: Alert): AlertValues {
  const { factor } = kindOf(alert.type)
  const typed = (stored: number | null): number | string => (stored === null ? '' : rounded(stored / factor))
  return {
    type: alert.type,
    name: alert.name,
    threshold: typed(alert.threshold),
    resolveThreshold: typed(alert.resolve_threshold),
    windowMinutes: alert.window_minutes,
    forMinutes: alert.for_minutes,
    minRequests: alert.min_requests,
    remindMinutes: alert.remind_minutes ?? '',
    environment: alert.environment ?? '',
    query: alert.query ?? '',
    channels: linesOf(alert),
  }
}

export function newAlertOf(values: AlertValues): NewAlert {
  return { ...rulesOf(values), channels: newChannelsOf(values.channels) }
}

export function alertChangesOf(values: AlertValues): ChangeAlert {
  return { ...rulesOf(values), channels: channelsOf(values.channels) }
}

/** The fields that decide when it fires. */
export function previewOf(values: AlertValues) {
  const { name: _name, ...rules } = rulesOf(values)
  return rules
}

function rulesOf(values: AlertValues) {
  const kind = kindOf(values.type)
  const stored = (typed: number | string): number | null => (typed === '' ? null : rounded(Number(typed) * kind.factor))
  return {
    name: values.name,
    type: values.type,
    threshold: kind.unit === null ? null : stored(values.threshold),
    resolve_threshold: kind.windowed ? stored(values.resolveThreshold) : null,
    ...(values.windowMinutes !== '' && { window_minutes: Number(values.windowMinutes) }),
    ...(values.forMinutes !== '' && { for_minutes: Number(values.forMinutes) }),
    ...(values.minRequests !== '' && { min_requests: Number(values.minRequests) }),
    remind_minutes: values.remindMinutes === '' ? null : Number(values.remindMinutes),
    environment: kind.scoped && values.environment !== '' ? values.environment : null,
    query: kind.scoped && values.query !== '' ? values.query : null,
  }
}

/** A percentage becomes a share and back without a tail of nines. */
function rounded(value: number): number {
  return Number(value.toFixed(6))
}
