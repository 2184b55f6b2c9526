import type { Transaction } from 'kysely'
import { newId } from '../../../ids.ts'
import type { Tables } from '../../../store/index.ts'
import { messageOf, type Alert, type EventKind, type Verdict } from '../measure/alert.ts'

type Event = {
  alert: Alert
  verdict: Pick<Verdict, 'state' | 'startedAt'>
  kind: EventKind
  value: number | null
  at: Date
  /** It is written into the history and told to nobody. */
  silenced?: boolean
}

/** Writes an event into the history and, for each channel of the alert, a delivery that is due at once. */
export async function announce(transaction: Transaction<Tables>, event: Event): Promise<string[]> {
  const { alert, verdict, kind, value, at, silenced = false } = event
  const eventId = newId('alertEvent', at.getTime())
  await transaction
    .insertInto('alertEvents')
    .values({
      id: eventId,
      alertId: alert.id,
      at,
      kind,
      value,
      threshold: alert.threshold,
      message: JSON.stringify(messageOf(alert, verdict, { kind, value, at })),
      silenced,
    })
    .execute()
  if (silenced) return []
  const channels = await transaction
    .selectFrom('alertChannels')
    .select(['id', 'type', 'target'])
    .where('alertId', '=', alert.id)
    .where('removedAt', 'is', null)
    .orderBy('position')
    .execute()
  const deliveries = channels.map((channel) => ({
    id: newId('delivery', at.getTime()),
    eventId,
    alertId: alert.id,
    channelId: channel.id,
    channelType: channel.type,
    target: channel.target,
    status: 'pending' as const,
    createdAt: at,
    nextAttemptAt: at,
  }))
  if (deliveries.length > 0) await transaction.insertInto('alertDeliveries').values(deliveries).execute()
  return deliveries.map(({ id }) => id)
}

type Rows = Pick<Transaction<Tables>, 'selectFrom' | 'deleteFrom'>

/** Removes the channels that were taken from their alerts and have been told the last they were to be told. */
export async function dropRemoved(db: Rows): Promise<void> {
  const awaited = pending(db).select('channelId')
  await db.deleteFrom('alertChannels').where('removedAt', 'is not', null).where('id', 'not in', awaited).execute()
}

/** Removes what was deleted and has told everyone: one alert, or all such. */
export async function dropDeleted(db: Rows, alertId?: string): Promise<void> {
  await db
    .deleteFrom('alerts')
    .where('deletedAt', 'is not', null)
    .$if(alertId !== undefined, (query) => query.where('id', '=', alertId ?? ''))
    .where('id', 'not in', pending(db).select('alertId'))
    .execute()
}

function pending(db: Rows) {
  return db.selectFrom('alertDeliveries').where('status', '=', 'pending')
}
