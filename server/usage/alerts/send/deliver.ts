import { randomUUID } from 'node:crypto'
import type { Vault } from '../../../access/index.ts'
import type { Observe } from '../../../observe.ts'
import {
  claimLeases,
  inTransaction,
  releaseLeases,
  unleased,
  type ChannelType,
  type Database,
} from '../../../store/index.ts'
import type { Message } from '../measure/alert.ts'
import type { ChannelSecrets, Sender, SendOutcome } from './send.ts'

type Parts = { store: Pick<Database, 'db' | 'pool'>; vault: Vault; sender: Sender; observe: Observe }

type Claimed = {
  id: string
  alertId: string
  channelType: ChannelType
  target: string
  attempt: number
  createdAt: Date
  message: Message
  /** Null when the channel is gone. */
  channelId: string | null
  sealed: Buffer | null
}

const secondMs = 1000
/** The pause after each attempt; the last one repeats. */
const pausesMs = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400].map((seconds) => seconds * secondMs)
const givenUpMs = 24 * 3_600 * secondMs
/** Someone who has not finished by then is taken for dead. */
const leaseSeconds = 180
const maxAtOnce = 50

/**
 * Delivers what is due. Each delivery is claimed first, so that replicas share the work; all go at once, so that one
 * receiver that hangs holds up nobody else's. What a crash interrupts is tried again: a receiver may see it twice.
 */
export async function deliverDue(parts: Parts, { now, signal }: { now: () => Date; signal: AbortSignal }) {
  const holder = randomUUID()
  const claimed = await claim(parts.store, { at: now(), holder })
  await Promise.all(
    claimed.map(async (delivery) => {
      const at = now()
      try {
        const sent = await send(parts, delivery, { at, signal })
        await settle(parts, delivery, { sent, at: now() })
        await releaseLeases(parts.store.pool, [leaseName(delivery)], holder)
      } catch (error) {
        // It stays claimed until its lease is over, and is then due again.
        if (!signal.aborted) parts.observe({ kind: 'fault', where: 'alert-deliveries', error })
      }
    }),
  )
  return claimed.length
}

/** Each has a lease of its own: a process that dies leaves them due, and the next may try once the lease has lapsed. */
async function claim(store: Pick<Database, 'pool'>, { at, holder }: { at: Date; holder: string }): Promise<Claimed[]> {
  const { rows: due } = await store.pool.query<{ id: string }>(
    `select id from alert_deliveries where status = 'pending' and next_attempt_at <= $1
        and ${unleased("'delivery/' || id")}
      order by next_attempt_at limit ${maxAtOnce}`,
    [at],
  )
  if (due.length === 0) return []
  let claimed: Claimed[] = []
  await inTransaction(store, async (connection) => {
    const names = await claimLeases(connection, due.map(leaseName), { holder, seconds: leaseSeconds })
    const { rows } = await connection.query<Claimed>(
      `with taken as (
         update alert_deliveries set attempt = attempt + 1
          where 'delivery/' || id = any($1) and id = any($2) and status = 'pending' and next_attempt_at <= $3
         returning *)
       select t.id, t.alert_id as "alertId", t.channel_type as "channelType", t.target, t.attempt,
              t.created_at as "createdAt", e.message, c.id as "channelId", coalesce(s.sealed_secrets, c.sealed_secrets) as sealed
         from taken t join alert_events e on e.id = t.event_id left join alert_channels c on c.id = t.channel_id
              left join notification_channels s on s.id = c.shared_id`,
      [names, due.map(({ id }) => id), at],
    )
    claimed = rows
  })
  return claimed
}

function leaseName({ id }: { id: string }): string {
  return `delivery/${id}`
}

async function send(
  { vault, sender }: Parts,
  delivery: Claimed,
  { at, signal }: { at: Date; signal: AbortSignal },
): Promise<SendOutcome> {
  const { channelId, sealed, channelType: type, id, target, message } = delivery
  if (channelId === null) return { ok: false, status: null, error: 'The channel was removed.', final: true }
  const secrets = sealed === null ? {} : (vault.open(sealed) as ChannelSecrets)
  return sender.send({ id, type, target, secrets, message }, { at, signal })
}

async function settle(
  { store, observe }: Parts,
  { id, alertId, attempt, createdAt }: Claimed,
  { sent, at }: { sent: SendOutcome; at: Date },
): Promise<void> {
  const pauseMs = pausesMs[Math.min(attempt, pausesMs.length) - 1] ?? 0
  const next = new Date(at.getTime() + pauseMs)
  const isOver = sent.ok || sent.final || next.getTime() - createdAt.getTime() > givenUpMs
  await store.db
    .updateTable('alertDeliveries')
    .set({
      status: sent.ok ? 'delivered' : isOver ? 'failed' : 'pending',
      responseStatus: sent.status,
      error: sent.ok ? null : sent.error.slice(0, 500),
      nextAttemptAt: isOver ? null : next,
      finishedAt: isOver ? at : null,
    })
    .where('id', '=', id)
    .where('attempt', '=', attempt)
    .execute()
  if (!sent.ok) {
    observe({ kind: 'alert-undelivered', alertId, deliveryId: id, final: isOver, reason: sent.error.slice(0, 200) })
  }
}
