import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import { Failure } from '../failure.ts'
import { takeLease, type Database, type Lease, type Tables } from '../store/index.ts'

type Call = { projectId: string; key: string; body: unknown }

/** A call that is the first of its key, for as long as it runs. After it the next one finds its answer or tries again. */
export type FirstCall = AsyncDisposable & {
  /** In the transaction that makes the answer true. */
  keep(transaction: Transaction<Tables>, answer: unknown): Promise<void>
}

type Parts = { store: Database; now: Clock }

const keptMs = 24 * 60 * 60 * 1000
const pollMs = 100

/**
 * Finds out whether a call with this `Idempotency-Key` was made before: its answer, or the right to be the first. One
 * that arrives while the first is under way waits for it; the same key with another body is a mistake.
 */
export async function claimCall(
  parts: Parts & { config: Config },
  call: Call,
): Promise<{ answer: unknown } | { first: FirstCall }> {
  const bodyHash = createHash('sha256').update(JSON.stringify(call.body)).digest()
  const deadline = performance.now() + parts.config.limits.executeTimeoutMs
  while (performance.now() < deadline) {
    const lease = await takeLease(parts.store, `idempotency/${call.projectId}/${call.key}`)
    const row = await findCall(parts, call)
    const isOther = row !== undefined && !row.bodyHash.equals(bodyHash)
    const isAnswered = row !== undefined && row.answer !== null
    // One without an answer that nobody holds died on the way, whatever it was about.
    if (lease !== undefined && !isAnswered) return { first: await beginCall(parts, call, { bodyHash, lease }) }
    await lease?.[Symbol.asyncDispose]()
    if (isOther) throw otherBody()
    if (isAnswered) return { answer: row.answer }
    await wait(pollMs)
  }
  throw stillUnderWay()
}

async function beginCall(
  { store, now }: Parts,
  { projectId, key }: Call,
  { bodyHash, lease }: { bodyHash: Buffer; lease: Lease },
): Promise<FirstCall> {
  const fresh = { bodyHash, answer: null, createdAt: new Date(now()) }
  await store.db
    .insertInto('idempotentCalls')
    .values({ projectId, key, ...fresh })
    .onConflict((conflict) => conflict.columns(['projectId', 'key']).doUpdateSet(fresh))
    .execute()
  return {
    async keep(transaction, answer) {
      if (!(await lease.isHeld(transaction))) throw stillUnderWay()
      await transaction
        .updateTable('idempotentCalls')
        .set({ answer: JSON.stringify(answer) })
        .where('projectId', '=', projectId)
        .where('key', '=', key)
        .execute()
    },
    [Symbol.asyncDispose]: () => lease[Symbol.asyncDispose](),
  }
}

function findCall({ store, now }: Parts, { projectId, key }: Call) {
  return store.db
    .selectFrom('idempotentCalls')
    .select(['bodyHash', 'answer'])
    .where('projectId', '=', projectId)
    .where('key', '=', key)
    .where('createdAt', '>', new Date(now() - keptMs))
    .executeTakeFirst()
}

/** Answers that are kept no longer. */
export async function forgetOldCalls({ store, now }: Parts): Promise<void> {
  await store.db
    .deleteFrom('idempotentCalls')
    .where('createdAt', '<', new Date(now() - keptMs))
    .execute()
}

function otherBody(): Failure {
  return new Failure('conflict', {
    reason: 'idempotency_mismatch',
    message: 'This Idempotency-Key was used with another body. Use a new key for a new call.',
  })
}

function stillUnderWay(): Failure {
  return new Failure('overloaded', {
    message: 'The first call with this key is still under way.',
    retryAfterSeconds: 5,
  })
}
