import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import type { App } from '../app.ts'
import { Failure } from '../failure.ts'
import type { Tables } from '../store/index.ts'

type Call = { projectId: string; key: string; body: unknown }

/** A call that is the first of its key. Its answer is kept in the transaction that makes it true. */
export type FirstCall = {
  keep(transaction: Transaction<Tables>, answer: unknown): Promise<void>
  /** It failed: the next call of the key may try again. */
  release(): Promise<void>
}

const keptMs = 24 * 60 * 60 * 1000
const pollMs = 100

/**
 * Finds out whether a call with this `Idempotency-Key` was made before: its answer, or the right to be the first. One
 * that arrives while the first is under way waits for it; the same key with another body is a mistake.
 */
export async function claimCall(
  app: Pick<App, 'store' | 'now' | 'config'>,
  call: Call,
): Promise<{ answer: unknown } | { first: FirstCall }> {
  const bodyHash = createHash('sha256').update(JSON.stringify(call.body)).digest()
  // Longer than any execute may take: an owner that is older died on the way.
  const patienceMs = app.config.limits.executeTimeoutMs + 30_000
  await forget(app, call, patienceMs)
  for (const deadline = app.now() + patienceMs; app.now() < deadline;) {
    const inserted = await app.store.db
      .insertInto('idempotent_calls')
      .values({ project_id: call.projectId, key: call.key, body_hash: bodyHash, created_at: new Date(app.now()) })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    if (inserted.numInsertedOrUpdatedRows === 1n) return { first: firstCall(app, call) }
    const row = await rowOf(app, call).executeTakeFirst()
    if (row !== undefined && !row.body_hash.equals(bodyHash)) {
      throw new Failure('conflict', {
        reason: 'idempotency_mismatch',
        message: 'This Idempotency-Key was used with another body. Use a new key for a new call.',
      })
    }
    if (row?.answer !== undefined && row.answer !== null) return { answer: row.answer }
    await wait(pollMs)
  }
  throw new Failure('overloaded', { message: 'The first call with this key is still under way.', retryAfterSeconds: 5 })
}

function firstCall(app: Pick<App, 'store'>, { projectId, key }: Call): FirstCall {
  return {
    async keep(transaction, answer) {
      await transaction
        .updateTable('idempotent_calls')
        .set({ answer: JSON.stringify(answer) })
        .where('project_id', '=', projectId)
        .where('key', '=', key)
        .execute()
    },
    async release() {
      await app.store.db
        .deleteFrom('idempotent_calls')
        .where('project_id', '=', projectId)
        .where('key', '=', key)
        .where('answer', 'is', null)
        .execute()
    },
  }
}

function rowOf(app: Pick<App, 'store'>, { projectId, key }: Call) {
  return app.store.db
    .selectFrom('idempotent_calls')
    .select(['body_hash', 'answer'])
    .where('project_id', '=', projectId)
    .where('key', '=', key)
}

/** Answers that are kept no longer. */
export async function forgetOldCalls(app: Pick<App, 'store' | 'now'>): Promise<void> {
  await app.store.db
    .deleteFrom('idempotent_calls')
    .where('created_at', '<', new Date(app.now() - keptMs))
    .execute()
}

async function forget(app: Pick<App, 'store' | 'now'>, call: Call, patienceMs: number): Promise<void> {
  await app.store.db
    .deleteFrom('idempotent_calls')
    .where('project_id', '=', call.projectId)
    .where((where) =>
      where.or([
        where('created_at', '<', new Date(app.now() - keptMs)),
        where.and([where('answer', 'is', null), where('created_at', '<', new Date(app.now() - patienceMs))]),
      ]),
    )
    .execute()
}
