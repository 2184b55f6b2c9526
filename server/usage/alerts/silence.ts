import { invalidField } from '../../failure.ts'
import { labelOf, recordAct, requireRole, type Caller } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import type { Database } from '../../store/index.ts'

import { holdAlert, readAlert, type AlertRecord } from './manage.ts'

type AlertKey = { projectId: string; alertId: string }
type Parts = { store: Database; now: Clock }

const minuteMs = 60_000
const maxMs = 30 * 86_400_000

/** Silences an alert for some time: it is evaluated and notifies nobody. It shows until when, by whom and why. */
export async function silenceAlert(
  app: Parts,
  caller: Caller,
  input: AlertKey & { minutes?: number | undefined; until?: Date | undefined; reason: string },
): Promise<AlertRecord> {
  const { minutes, until: given, reason, ...place } = input
  await requireRole(app, caller, place.projectId, 'editor')
  if ((minutes === undefined) === (given === undefined))
    throw invalidField('minutes', 'or until must be given, and not both')
  const until = given ?? new Date(app.now() + (minutes ?? 0) * minuteMs)
  if (until.getTime() <= app.now()) throw invalidField('until', 'must be in the future')
  if (until.getTime() > app.now() + maxMs)
    throw invalidField('until', 'must be within 30 days; switch the alert off instead')
  const silence = { silencedUntil: until, silencedBy: labelOf(caller), silencedReason: reason }
  return change(app, caller, {
    place,
    silence,
    action: 'alert.silenced',
    details: { until: until.toISOString(), reason },
  })
}

/** It tells again. What fires and was told to nobody is told with the next look. */
export async function endSilence(app: Parts, caller: Caller, place: AlertKey): Promise<AlertRecord> {
  await requireRole(app, caller, place.projectId, 'editor')
  const silence = { silencedUntil: null, silencedBy: null, silencedReason: null }
  return change(app, caller, { place, silence, action: 'alert.unsilenced', details: {} })
}

type Change = {
  place: AlertKey
  silence: Pick<AlertRecord, 'silencedUntil' | 'silencedBy' | 'silencedReason'>
  action: string
  details: Record<string, unknown>
}

async function change(app: Parts, caller: Caller, { place, silence, action, details }: Change): Promise<AlertRecord> {
  const { projectId, alertId } = place
  const { name } = await readAlert(app, place)
  await app.store.db.transaction().execute(async (transaction) => {
    await holdAlert(transaction, alertId)
    await transaction.updateTable('alerts').set(silence).where('id', '=', alertId).execute()
    await recordAct(transaction, caller, { action, target: alertId, projectId, details: { name, ...details } })
  })
  return readAlert(app, place)
}
