import { setTimeout as wait } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import type { Config } from '../../config.ts'
import { Failure } from '../../failure.ts'
import { takeLease, type Database, type Tables } from '../../store/index.ts'

/** The right to fetch a datasource while nobody else does, on whichever replica. */
export type Turn = AsyncDisposable & {
  /** Ends with the caller's patience, or when the turn is lost. */
  signal: AbortSignal
  /** Within the transaction that stores what was fetched: refuses when the turn was lost meanwhile. */
  keep(transaction: Transaction<Tables>): Promise<void>
}

type SourceKey = { projectId: string; datasourceId: string }

const pollMs = 100

/**
 * Waits until nobody fetches this datasource, and holds it from then on. Executes and refreshes of one datasource take
 * turns: what is stored last was fetched last.
 */
export async function takeTurn(
  { store, config }: { store: Database; config: Config },
  { projectId, datasourceId }: SourceKey,
  signal: AbortSignal | undefined,
): Promise<Turn> {
  const name = `datasource/${projectId}/${datasourceId}`
  const deadline = performance.now() + config.limits.executeTimeoutMs
  let lease = await takeLease(store, name)
  while (lease === undefined) {
    signal?.throwIfAborted()
    if (performance.now() > deadline) throw stillBusy()
    await wait(pollMs)
    lease = await takeLease(store, name)
  }
  const held = lease
  const lost = new AbortController()
  held.signal.addEventListener('abort', () => lost.abort(stillBusy()), { once: true })
  return {
    signal: signal === undefined ? lost.signal : AbortSignal.any([signal, lost.signal]),
    async keep(transaction) {
      if (!(await held.isHeld(transaction))) throw stillBusy()
    },
    [Symbol.asyncDispose]: () => held[Symbol.asyncDispose](),
  }
}

function stillBusy(): Failure {
  return new Failure('overloaded', {
    message: 'This datasource is being fetched already. Try again when that is done.',
    retryAfterSeconds: 5,
  })
}
