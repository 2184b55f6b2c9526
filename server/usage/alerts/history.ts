import type { Caller } from '../../access/index.ts'
import { pageAfter, type ChannelType, type Page, type Database } from '../../store/index.ts'
import type { EventKind } from './measure/alert.ts'
import { requireAlert } from './manage.ts'
import { dropDeleted, dropRemoved } from './send/notify.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'

export type AlertEvent = {
  id: string
  at: Date
  kind: EventKind
  value: number | null
  threshold: number | null
  /** Nobody was told: the alert was silenced. */
  silenced: boolean
}

export type Delivery = {
  id: string
  eventId: string
  channelId: string
  channelType: ChannelType
  target: string
  status: 'pending' | 'delivered' | 'failed'
  attempt: number
  createdAt: Date
  nextAttemptAt: Date | null
  finishedAt: Date | null
  responseStatus: number | null
  error: string | null
}

type Input = { projectId: string; alertId: string; limit: number; cursor?: string | undefined }

/** Newest first. */
export async function listEvents(app: { store: Database }, caller: Caller, input: Input): Promise<Page<AlertEvent>> {
  await requireAlert(app, caller, { ...input, least: 'viewer' })
  return pageAfter(
    (after, limit) =>
      app.store.db
        .selectFrom('alertEvents')
        .select(['id', 'at', 'kind', 'value', 'threshold', 'silenced'])
        .where('alertId', '=', input.alertId)
        .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    input,
    (event) => event.id,
  )
}

/** Newest first. */
export async function listDeliveries(app: { store: Database }, caller: Caller, input: Input): Promise<Page<Delivery>> {
  await requireAlert(app, caller, { ...input, least: 'viewer' })
  return pageAfter(
    (after, limit) =>
      app.store.db
        .selectFrom('alertDeliveries')
        .select([
          'id',
          'eventId',
          'channelId',
          'channelType',
          'target',
          'status',
          'attempt',
          'createdAt',
          'nextAttemptAt',
          'finishedAt',
          'responseStatus',
          'error',
        ])
        .where('alertId', '=', input.alertId)
        .$if(after !== undefined, (query) => query.where('id', '<', after ?? ''))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    input,
    (delivery) => delivery.id,
  )
}

/**
 * What alerts went through is history for a while, and then nothing. Deliveries go with their events, deleted alerts and
 * removed channels with their last delivery.
 */
export async function forgetOldAlerts(app: { store: Database; now: Clock; config: Config }): Promise<void> {
  const before = new Date(app.now() - app.config.limits.alertRetentionDays * 86_400_000)
  await app.store.db.deleteFrom('alertEvents').where('at', '<', before).execute()
  await dropDeleted(app.store.db)
  await dropRemoved(app.store.db)
}
