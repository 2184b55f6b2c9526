import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import type { Database } from './open-database.ts'
import type { Tables } from './tables.ts'

/** The right to do something while no other process does. Renewed until it is let go of. */
export type Lease = AsyncDisposable & {
  /** Aborted when another process has it, which happens to one that could not renew it in time. */
  signal: AbortSignal
  /** Within a transaction: whether it still stands. If so nobody else gets it before the transaction ends. */
  isHeld(transaction: Transaction<Tables>): Promise<boolean>
}

const leaseSeconds = 30
const renewMs = 10_000

/** Takes the lease of this name where it is free or has lapsed; undefined where someone has it. */
export async function takeLease(store: Pick<Database, 'db' | 'pool'>, name: string): Promise<Lease | undefined> {
  const holder = randomUUID()
  const claim = async () => (await claimLeases(store.pool, [name], { holder, seconds: leaseSeconds })).length > 0
  if (!(await claim())) return undefined
  const lost = new AbortController()
  const renewing = setInterval(() => {
    claim()
      .then((isOurs) => isOurs || lost.abort(new Error(`Another process holds ${name}.`)))
      // The database is away for a moment: `isHeld` will tell whether the lease still stands.
      .catch(() => undefined)
  }, renewMs)
  return {
    signal: lost.signal,
    async isHeld(transaction) {
      const row = await transaction
        .selectFrom('leases')
        .select('holder')
        .where('name', '=', name)
        .where('holder', '=', holder)
        .forUpdate()
        .executeTakeFirst()
      return row !== undefined
    },
    async [Symbol.asyncDispose]() {
      clearInterval(renewing)
      // Without an answer the lease lapses by itself.
      await releaseLeases(store.pool, [name], holder).catch(() => undefined)
    },
  }
}

const pollMs = 100

/** Waits until the lease of this name is free, and takes it; undefined where that takes too long. */
export async function awaitLease(
  store: Pick<Database, 'db' | 'pool'>,
  name: string,
  { waitMs, signal }: { waitMs: number; signal?: AbortSignal | undefined },
): Promise<Lease | undefined> {
  const deadline = performance.now() + waitMs
  let lease = await takeLease(store, name)
  while (lease === undefined && performance.now() < deadline) {
    signal?.throwIfAborted()
    await wait(pollMs)
    lease = await takeLease(store, name)
  }
  return lease
}

/** Takes or renews those that are free, lapsed or the holder's own; answers their names. */
export async function claimLeases(
  connection: Pick<Pool | PoolClient, 'query'>,
  names: string[],
  { holder, seconds }: { holder: string; seconds: number },
): Promise<string[]> {
  const { rows } = await connection.query<{ name: string }>(
    `insert into leases select name, $2, clock_timestamp() + make_interval(secs => $3) from unnest($1::text[]) as name order by name
     on conflict (name) do update set holder = excluded.holder, until = excluded.until
       where leases.holder = $2 or leases.until < clock_timestamp()
     returning name`,
    [names, holder, seconds],
  )
  return rows.map(({ name }) => name)
}

/** A condition in SQL: nobody holds the lease of this name, itself an expression. */
export function unleased(nameText: string): string {
  return `not exists (select from leases where name = ${nameText} and until >= clock_timestamp())`
}

export async function releaseLeases(
  connection: Pick<Pool | PoolClient, 'query'>,
  names: string[],
  holder: string,
): Promise<void> {
  await connection.query('delete from leases where name = any($1) and holder = $2', [names, holder])
}

/** Those of processes that died. */
export async function forgetLapsedLeases({ store }: { store: Pick<Database, 'pool'> }): Promise<void> {
  await store.pool.query("delete from leases where until < clock_timestamp() - interval '1 day'")
}
