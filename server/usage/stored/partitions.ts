import { underLock, type Database } from '../../store/index.ts'

const dayMs = 86_400_000

type Partitioned = 'request_batches' | 'usage_rollups' | 'usage_questions'

/** One partition a day for requests and questions, one a month for rollups. */
type Partition = { table: Partitioned; name: string; from: Date; to: Date }

export type Partitions = {
  /** Makes those that rows of these moments need; once made, no question is asked again. */
  ensure(moments: Partial<Record<'requests' | 'rollups' | 'questions', Iterable<number>>>): Promise<void>
}

export function openPartitions(store: Pick<Database, 'pool'>): Partitions {
  const made = new Set<string>()
  return {
    async ensure(moments) {
      const wanted = [
        ...unique(moments.requests, (moment) => dayOf('request_batches', moment)),
        ...unique(moments.questions, (moment) => dayOf('usage_questions', moment)),
        ...unique(moments.rollups, monthOf),
      ]
      const missing = wanted.filter(({ name }) => !made.has(name))
      if (missing.length === 0) return
      await underLock(store, 'partitions', async (client) => {
        for (const partition of missing) await client.query(makeText(partition))
      })
      for (const { name } of missing) made.add(name)
    },
  }
}

/** Drops whole partitions that ended before the moment given. Never a row. */
export async function dropPartitions(store: Pick<Database, 'pool'>, table: Partitioned, before: Date): Promise<number> {
  const { rows } = await store.pool.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = $1::regclass order by 1`,
    [table],
  )
  const old = rows.filter(({ name }) => endOf(table, name) <= before)
  const client = await store.pool.connect()
  try {
    for (const { name } of old) {
      // Dropping needs the table for a moment; behind a long read it gives up, and the next hour tries again.
      await client.query(`begin; set local lock_timeout = '2s'; drop table if exists sluice_partitions.${name}; commit`)
    }
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  } finally {
    client.release()
  }
  return old.length
}

function unique(moments: Iterable<number> = [], partitionOf: (moment: number) => Partition): Partition[] {
  // Days are few, where moments are as many as calls.
  const days = new Set<number>()
  for (const moment of moments) days.add(Math.floor(moment / dayMs))
  const found = new Map<string, Partition>()
  for (const day of days) {
    const partition = partitionOf(day * dayMs)
    found.set(partition.name, partition)
  }
  return [...found.values()]
}

function dayOf(table: Exclude<Partitioned, 'usage_rollups'>, moment: number): Partition {
  const from = new Date(Math.floor(moment / dayMs) * dayMs)
  const name = `${table.replace('usage_', '')}_${from.toISOString().slice(0, 10).replaceAll('-', '')}`
  return { table, name, from, to: new Date(from.getTime() + dayMs) }
}

function monthOf(moment: number): Partition {
  const at = new Date(moment)
  const from = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1))
  const to = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1))
  return { table: 'usage_rollups', name: `rollups_${from.toISOString().slice(0, 7).replace('-', '')}`, from, to }
}

function endOf(table: Partitioned, name: string): Date {
  const digits = /(\d{4})(\d\d)(\d\d)?$/.exec(name)
  if (digits === null) return new Date(8.64e15)
  const [, year, month, day = '01'] = digits
  const moment = Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  return (table === 'usage_rollups' ? monthOf(moment) : dayOf(table, moment)).to
}

/**
 * Made beside and then attached: that lets others write meanwhile, where a partition made in place would lock them out.
 */
function makeText({ table, name, from, to }: Partition): string {
  const whole = `sluice_partitions.${name}`
  return `do $$ begin
    if to_regclass('${whole}') is null then
      create table ${whole} (like public.${table} including defaults including constraints)${
        table === 'usage_rollups' ? ' with (fillfactor = 70)' : ''
      };
      alter table public.${table} attach partition ${whole}
        for values from ('${from.toISOString()}') to ('${to.toISOString()}');
    end if;
  end $$`
}
