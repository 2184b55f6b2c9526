import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import type { App } from '../app.ts'
import { Failure } from '../failure.ts'
import type { Tables } from '../store/index.ts'

/** The right to fetch a datasource while nobody else does, on whichever replica. */
export type Turn = AsyncDisposable & {
  /** Ends with the caller's patience, or when the turn is lost. */
  signal: AbortSignal
  /** Within the transaction that stores what was fetched: refuses when the turn was lost meanwhile. */
  keep(transaction: Transaction<Tables>): Promise<void>
}

type SourceKey = { projectId: string; datasourceId: string }

const leaseSeconds = 30
const renewMs = 10_000
const pollMs = 100

/**
 * Waits until nobody fetches this datasource, and holds it from then on. Executes and refreshes of one datasource take
 * turns: what is stored last was fetched last.
 */
export async function takeTurn(
  app: Pick<App, 'store' | 'config'>,
  source: SourceKey,
  signal: AbortSignal | undefined,
): Promise<Turn> {
  const holder = randomUUID()
  const deadline = performance.now() + app.config.limits.executeTimeoutMs
  while (!(await claim(app, source, holder))) {
    signal?.throwIfAborted()
    if (performance.now() > deadline) throw stillBusy()
    await wait(pollMs)
  }
  const lost = new AbortController()
  const renewing = setInterval(() => {
    claim(app, source, holder)
      .then((isOurs) => isOurs || lost.abort(stillBusy()))
      // The database is away for a moment: storing what was fetched will tell whether the turn still stands.
      .catch(() => undefined)
  }, renewMs)
  return {
    signal: signal === undefined ? lost.signal : AbortSignal.any([signal, lost.signal]),
    async keep(transaction) {
      const row = await transaction
        .selectFrom('datasource_turns')
        .select('holder')
        .where('project_id', '=', source.projectId)
        .where('datasource_id', '=', source.datasourceId)
        .where('holder', '=', holder)
        .forUpdate()
        .executeTakeFirst()
      if (row === undefined) throw stillBusy()
    },
    async [Symbol.asyncDispose]() {
      clearInterval(renewing)
      const turns = app.store.db.deleteFrom('datasource_turns').where('project_id', '=', source.projectId)
      // Without an answer the lease ends by itself.
      await turns
        .where('datasource_id', '=', source.datasourceId)
        .where('holder', '=', holder)
        .execute()
        .catch(() => undefined)
    },
  }
}

/** Takes the turn where it is free or lapsed, or renews it where it is ours. By the database's clock, which all share. */
async function claim(app: Pick<App, 'store'>, source: SourceKey, holder: string): Promise<boolean> {
  const { rowCount } = await app.store.pool.query(
    `insert into datasource_turns values ($1, $2, $3, now() + make_interval(secs => $4))
     on conflict (project_id, datasource_id) do update set holder = excluded.holder, until = excluded.until
       where datasource_turns.holder = $3 or datasource_turns.until < now()`,
    [source.projectId, source.datasourceId, holder, leaseSeconds],
  )
  return rowCount === 1
}

function stillBusy(): Failure {
  return new Failure('overloaded', {
    message: 'This datasource is being fetched already. Try again when that is done.',
    retryAfterSeconds: 5,
  })
}
