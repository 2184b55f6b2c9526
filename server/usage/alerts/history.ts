import type { Value } from '../../../api/wire-codec.ts'
import type { alertEvent, alertDelivery } from '../../../api/alerts.ts'
import type { Caller } from '../../access/index.ts'
import { newestFirst, type Page, type Database } from '../../store/index.ts'
import { requireAlert } from './manage.ts'
import { dropDeleted, dropRemoved } from './send/notify.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'

export type AlertEvent = Value<typeof alertEvent>

export type Delivery = Value<typeof alertDelivery>

type Input = { projectId: string; alertId: string; limit: number; cursor?: string | undefined }

/** Events of an alert, newest first. */
export async function listEvents(app: { store: Database }, caller: Caller, input: Input): Promise<Page<AlertEvent>> {
  await requireAlert(app, caller, { ...input, least: 'viewer' })
  const events = app.store.db
    .selectFrom('alertEvents')
    .select(['id', 'at', 'kind', 'value', 'threshold', 'silenced'])
    .where('alertId', '=', input.alertId)
  return newestFirst(events, input)
}

/** Deliveries of an alert, newest first. */
export async function listDeliveries(app: { store: Database }, caller: Caller, input: Input): Promise<Page<Delivery>> {
  await requireAlert(app, caller, { ...input, least: 'viewer' })
  const deliveries = app.store.db
    .selectFrom('alertDeliveries')
    .select(['id', 'eventId', 'channelId', 'channelType', 'target', 'status', 'attempt'])
    .select(['createdAt', 'nextAttemptAt', 'finishedAt', 'responseStatus', 'error'])
    .where('alertId', '=', input.alertId)
  return newestFirst(deliveries, input)
}

/**
 * Events are deleted after their retention, deliveries with them, deleted alerts and
 * removed channels with their last delivery.
 */
export async function forgetOldAlerts(app: { store: Database; now: Clock; config: Config }): Promise<void> {
  const before = new Date(app.now() - app.config.limits.alertRetentionDays * 86_400_000)
  await app.store.db.deleteFrom('alertEvents').where('at', '<', before).execute()
  await dropDeleted(app.store.db)
  await dropRemoved(app.store.db)
}
