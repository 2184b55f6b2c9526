import type { Selectable, Transaction } from 'kysely'
import { resealColumn, type Vault } from '../access/index.ts'
import { newId } from '../ids.ts'
import type { Clock } from '../clock.ts'
import type { Database, Tables } from '../store/index.ts'

type Row = Selectable<Tables['recordedCalls']>

/** A call to be written down. `requestIds`: the answers it stands for; `failed`: it was not answered. */
export type Recordable = Omit<Row, 'id' | 'at' | 'sealedParameters'> & {
  at: number
  parameters: Readonly<Record<string, unknown>>
}

/** A call that can be run again. What the project keeps out of the record is not among its parameters. */
export type RecordedCall = Pick<Row, 'id' | 'queryId' | 'version' | 'keyId' | 'at' | 'times'> & {
  parameters: Record<string, unknown>
}

type Parts = { store: Pick<Database, 'db'>; vault: Vault }
type ReadParts = { store: Pick<Database, 'pool'>; vault: Vault }

export const resealRecordedCalls = resealColumn('recordedCalls', 'sealedParameters')

/** Writes those whose projects record at this moment, without what they keep out. */
export async function writeRecordedCalls({ store, vault }: Parts, calls: Recordable[]): Promise<void> {
  await store.db.transaction().execute(async (transaction) => {
    const settings = await holdRecording(transaction, [...new Set(calls.map(({ projectId }) => projectId))])
    const rows = calls.flatMap(({ parameters, at, ...call }) => {
      const redacted = settings.get(call.projectId)
      if (redacted === undefined) return []
      const allowed = Object.fromEntries(Object.entries(parameters).filter(([name]) => !redacted.has(name)))
      return [{ ...call, id: newId('recordedCall', at), at: new Date(at), sealedParameters: vault.seal(allowed) }]
    })
    if (rows.length > 0) await transaction.insertInto('recordedCalls').values(rows).execute()
  })
}

/** Excluded slots of the queries that record. None of them changes before the transaction ends. */
async function holdRecording(
  transaction: Transaction<Tables>,
  projectIds: string[],
): Promise<Map<string, Set<string>>> {
  const rows = await transaction
    .selectFrom('replaySettings')
    .select(['projectId', 'redactedSlots'])
    .where('projectId', 'in', projectIds)
    .where('recording', '=', true)
    .orderBy('projectId')
    .forShare()
    .execute()
  return new Map(rows.map(({ projectId, redactedSlots }) => [projectId, new Set(redactedSlots)]))
}

type Wanted = { projectId: string; environment: string; queryIds: string[]; from: Date; limit: number }

/** The newest calls of some queries. Queries take turns, so that one that is called often leaves room for the others. */
export async function readRecordedCalls({ store, vault }: ReadParts, wanted: Wanted): Promise<RecordedCall[]> {
  const { projectId, environment, queryIds, from, limit } = wanted
  const { rows } = await store.pool.query<Omit<RecordedCall, 'parameters'> & { sealed: Buffer }>(
    `select id, query_id as "queryId", version, key_id as "keyId", at, times, sealed_parameters as sealed
       from (select *, row_number() over (partition by query_id order by at desc, id desc) as turn
               from recorded_calls
              where project_id = $1 and environment = $2 and query_id = any($3) and at >= $4 and not failed) as calls
      order by turn, query_id limit $5`,
    [projectId, environment, queryIds, from, limit],
  )
  return rows.map(({ sealed, ...call }) => ({ ...call, parameters: vault.open(sealed) as Record<string, unknown> }))
}

const dayMs = 86_400_000

/** Removes what is older, or more of one query, than its project wants. */
export async function forgetRecordedCalls(app: { store: Database; now: Clock }): Promise<void> {
  const { db, pool } = app.store
  const settings = await db.selectFrom('replaySettings').select(['projectId', 'maxCalls', 'days']).execute()
  for (const { projectId, maxCalls, days } of settings) {
    const oldest = new Date(app.now() - days * dayMs)
    await db.deleteFrom('recordedCalls').where('projectId', '=', projectId).where('at', '<', oldest).execute()
    await pool.query(
      `delete from recorded_calls using (
         select id, row_number() over (partition by environment, query_id order by at desc, id desc) as place
           from recorded_calls where project_id = $1
       ) as ranked where recorded_calls.id = ranked.id and ranked.place > $2`,
      [projectId, maxCalls],
    )
  }
}
