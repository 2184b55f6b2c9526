import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { openPeriodic } from '../flow/index.ts'
import type { Observe } from '../observe.ts'
import type { Database } from './open-database.ts'

/** The processes that share a database, this one among them. */
export type Replicas = {
  /** How many of them answer calls just now; at least one. */
  answering(): number
  close(): Promise<void>
}

type Role = 'all' | 'api' | 'worker'

/** Where the data lies in one folder, no other process can be there. */
export const soleReplica: Replicas = { answering: () => 1, close: () => Promise.resolve() }

const signMs = 1_000
/** A process that gave no sign for as long is not counted; one that was killed takes as long to be. */
const livingSeconds = 3

/** Gives signs of life and counts those of others. While the database is away the last count stands. */
export async function openReplicas(
  { pool }: Pick<Database, 'pool'>,
  { role, observe }: { role: Role; observe: Observe },
): Promise<Replicas> {
  const id = randomUUID()
  let answering = 1
  const sign = async (): Promise<void> => {
    const { rows } = await pool.query<{ answering: number }>(
      `with signed as (
         insert into replicas (id, role, machine) values ($1, $2, $3)
         on conflict (id) do update set seen_at = now() returning id)
       select count(*)::int as answering from replicas
        where id <> $1 and role <> 'worker' and seen_at > now() - make_interval(secs => $4)`,
      [id, role, hostname(), livingSeconds],
    )
    const others = rows[0]?.answering ?? 0
    answering = Math.max(1, role === 'worker' ? others : others + 1)
  }
  await sign()
  await pool.query("delete from replicas where seen_at < now() - interval '1 day'")
  const signing = openPeriodic({
    everyMs: signMs,
    work: sign,
    onError: (error) => observe({ kind: 'fault', where: 'replicas', error }),
  })
  return {
    answering: () => answering,
    async close() {
      await signing.close()
      await pool.query('delete from replicas where id = $1', [id]).catch(() => undefined)
    },
  }
}
