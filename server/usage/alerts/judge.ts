import type { Alert, Measured, Verdict } from './alert.ts'
import { alertTypeOf } from './alert-types.ts'

const minuteMs = 60_000

/** From an alert as it stands and what was measured to how it stands now and what is to be told. */
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

function minutesBetween(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / minuteMs
}
