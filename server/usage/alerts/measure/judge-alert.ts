import type { Alert, EventKind, Measured, Verdict } from './alert.ts'
import { alertTypeOf } from './alert-types.ts'

const minuteMs = 60_000

/** Decides the new state of an alert, and the event to notify of, from its state and a measurement. */
export function judgeAlert(alert: Alert, { value, enough }: Measured, at: Date): Verdict {
  const limit = alert.state === 'firing' ? (alert.resolveThreshold ?? alert.threshold) : alert.threshold
  const isBad = enough && alertTypeOf(alert.type).isBad(value, limit, alert)
  if (!isBad) {
    const event = alert.state === 'firing' ? 'resolved' : null
    return {
      state: 'ok',
      pendingSince: null,
      startedAt: null,
      notifiedAt: event === null ? alert.notifiedAt : at,
      event,
    }
  }
  const pendingSince = alert.pendingSince ?? at
  if (alert.state === 'firing') {
    const { startedAt, notifiedAt, remindMinutes } = alert
    const isDue = remindMinutes !== null && minutesBetween(notifiedAt ?? at, at) >= remindMinutes
    return {
      state: 'firing',
      pendingSince,
      startedAt,
      notifiedAt: isDue ? at : notifiedAt,
      event: isDue ? 'reminder' : null,
    }
  }
  if (minutesBetween(pendingSince, at) < alert.forMinutes) {
    return { state: 'ok', pendingSince, startedAt: null, notifiedAt: alert.notifiedAt, event: null }
  }
  return { state: 'firing', pendingSince, startedAt: at, notifiedAt: at, event: 'firing' }
}

/** The event of a verdict, and whether people are notified. */
export type Telling = { event: EventKind | null; silenced: boolean; unannounced: boolean; notifiedAt: Date | null }

/**
 * A silenced alert notifies nobody that it fires; receivers that were notified before hear that it is resolved. An alert
 * that still fires when the silence ends is announced then.
 */
export function tellingOf(alert: Alert, { event, state, notifiedAt }: Verdict, at: Date): Telling {
  const isSilenced = alert.silencedUntil !== null && alert.silencedUntil > at
  if (event === 'firing') return { event, silenced: isSilenced, unannounced: isSilenced, notifiedAt }
  if (event === 'resolved') return { event, silenced: alert.unannounced, unannounced: false, notifiedAt }
  if (isSilenced) return { event: null, silenced: false, unannounced: alert.unannounced, notifiedAt: alert.notifiedAt }
  const isDue = alert.unannounced && state === 'firing'
  if (isDue) return { event: 'reminder', silenced: false, unannounced: false, notifiedAt: at }
  return { event, silenced: false, unannounced: alert.unannounced, notifiedAt }
}

function minutesBetween(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / minuteMs
}
