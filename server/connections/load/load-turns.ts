import type { Transaction } from 'kysely'
import type { Config } from '../../config.ts'
import { Failure } from '../../failure.ts'
import { awaitLease, type Database, type Tables } from '../../store/index.ts'

/** The right to fetch a datasource while no other call does, on any replica. */
export type Turn = AsyncDisposable & {
  /** Aborted with the caller's signal, or when the turn is lost. */
  signal: AbortSignal
  /** Within the transaction that stores the data: throws when the turn was lost meanwhile. */
  keep(transaction: Transaction<Tables>): Promise<void>
}

type SourceKey = { projectId: string; datasourceId: string }

/**
 * Waits until this datasource is not being fetched, in any process, and holds it. Executes and refreshes of one
 * datasource take turns, so that the data stored last was fetched last.
 */
export async function takeTurn(
  { store, config }: { store: Database; config: Config },
  { projectId, datasourceId }: SourceKey,
  signal: AbortSignal | undefined,
): Promise<Turn> {
  const name = `datasource/${projectId}/${datasourceId}`
  const lease = await awaitLease(store, name, { waitMs: config.limits.executeTimeoutMs, signal })
  if (lease === undefined) throw stillBusy()
  const lost = new AbortController()
  lease.signal.addEventListener('abort', () => lost.abort(stillBusy()), { once: true })
  return {
    signal: signal === undefined ? lost.signal : AbortSignal.any([signal, lost.signal]),
    async keep(transaction) {
      if (!(await lease.isHeld(transaction))) throw stillBusy()
    },
    [Symbol.asyncDispose]: () => lease[Symbol.asyncDispose](),
  }
}

function stillBusy(): Failure {
  return new Failure('overloaded', {
    message: 'This datasource is being fetched already. Try again when that is done.',
    retryAfterSeconds: 5,
  })
}
