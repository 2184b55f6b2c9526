import type { Transaction } from 'kysely'
import { newId } from '../../ids.ts'
import type { Tables } from '../../store/index.ts'
import { messageOf, type Alert, type EventKind, type Verdict } from './alert.ts'

type Event = {
  alert: Alert
  verdict: Pick<Verdict, 'state' | 'startedAt'>
  kind: EventKind
  value: number | null
  at: Date
}

/** Writes an event into the history and, for each channel of the alert, a delivery that is due at once. */
export async function announce(transaction: Transaction<Tables>, event: Event): Promise<string[]> {
  const { alert, verdict, kind, value, at } = event
  const eventId = newId('alertEvent', at.getTime())
  await transaction
    .insertInto('alert_events')
    .values({
      id: eventId,
      alert_id: alert.id,
      at,
      kind,
      value,
      threshold: alert.threshold,
      message: JSON.stringify(messageOf(alert, verdict, { kind, value, at })),
    })
    .execute()
  const channels = await transaction
    .selectFrom('alert_channels')
    .select(['id', 'type', 'target'])
    .where('alert_id', '=', alert.id)
    .where('removed_at', 'is', null)
    .orderBy('position')
    .execute()
  const deliveries = channels.map((channel) => ({
    id: newId('delivery', at.getTime()),
    event_id: eventId,
    alert_id: alert.id,
    channel_id: channel.id,
    channel_type: channel.type,
    target: channel.target,
    status: 'pending' as const,
    created_at: at,
    next_attempt_at: at,
  }))
  if (deliveries.length > 0) await transaction.insertInto('alert_deliveries').values(deliveries).execute()
  return deliveries.map(({ id }) => id)
}

type Rows = Pick<Transaction<Tables>, 'selectFrom' | 'deleteFrom'>

/** Removes the channels that were taken from their alerts and have been told the last they were to be told. */
export async function dropRemoved(db: Rows): Promise<void> {
  const awaited = pending(db).select('channel_id')
  await db.deleteFrom('alert_channels').where('removed_at', 'is not', null).where('id', 'not in', awaited).execute()
}

/** Removes what was deleted and has told everyone: one alert, or all such. */
export async function dropDeleted(db: Rows, alertId?: string): Promise<void> {
  await db
    .deleteFrom('alerts')
    .where('deleted_at', 'is not', null)
    .$if(alertId !== undefined, (query) => query.where('id', '=', alertId ?? ''))
    .where('id', 'not in', pending(db).select('alert_id'))
    .execute()
}

function pending(db: Rows) {
  return db.selectFrom('alert_deliveries').where('status', '=', 'pending')
}
