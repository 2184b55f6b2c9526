import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { inTransaction, type Connection, type Database } from '../../store/index.ts'
import type { Batch, Series } from '../stored/batches.ts'

/** Rows of one statement. */
const maxRows = 5_000

/**
 * A port: those of the projects that want the words of questions kept. None of them changes that, or is deleted, before
 * the transaction of the connection ends; one that is about to is left out rather than waited for.
 */
export type HoldWordKeepers = (connection: Connection, projectIds: string[]) => Promise<Set<string>>

/** A write of which nobody knows whether it was done: its connection broke while it was committed. */
export type Unsure = { transactionId: string; error: unknown }

/** Writes calls and figures in one transaction. */
export async function writeUsage(
  store: Pick<Database, 'pool'>,
  holdWordKeepers: HoldWordKeepers,
  { batches, counts }: { batches: Batch[]; counts: Array<Record<string, unknown>> },
): Promise<Unsure | null> {
  let transactionId: string | undefined
  try {
    await inTransaction(store, async (connection) => {
      await dropUnwantedWords(connection, holdWordKeepers, batches)
      if (batches.length > 0) await pipeline(Readable.from(copyTexts(batches)), connection.query(copyFrom(copyBatches)))
      for (let from = 0; from < counts.length; from += maxRows) {
        await connection.query(upsertCounts, [JSON.stringify(counts.slice(from, from + maxRows))])
      }
      // Last of all: from here on only the commit can fail.
      const { rows } = await connection.query<{ id: string }>('select pg_current_xact_id()::text as id')
      transactionId = rows[0]?.id
    })
    return null
  } catch (error) {
    if (transactionId === undefined) throw error
    return { transactionId, error }
  }
}

/** Takes the words out of questions whose projects want none kept. */
async function dropUnwantedWords(
  connection: Connection,
  holdWordKeepers: HoldWordKeepers,
  batches: Batch[],
): Promise<void> {
  const worded = batches.filter(({ asked }) => typeof asked?.question === 'string')
  if (worded.length === 0) return
  const ids = [...new Set(worded.map(({ kind }) => kind.projectId))]
  const keepers = await holdWordKeepers(connection, ids)
  for (const { kind, asked } of worded) if (asked !== null && !keepers.has(kind.projectId)) asked.question = null
}

/** Whether an unsure write was committed. Throws while that is not decided. */
export async function isWritten({ pool }: Pick<Database, 'pool'>, { transactionId }: Unsure): Promise<boolean> {
  const asked = pool.query<{ status: string | null }>('select pg_xact_status($1::xid8) as status', [transactionId])
  const { rows } = await asked.catch((error: { code?: string }) => {
    if (error.code !== beyondHistory) throw error
    return { rows: [] }
  })
  const status = rows[0]?.status
  if (status === 'in progress') throw new Error('Whether the last calls are written is not decided yet.')
  return status === 'committed'
}

/** The database is an older state of the one that was written to, restored or taken over, and has no such transaction. */
const beyondHistory = '22023'

/** Half the cost of an insert on both sides. */
const copyBatches = `copy request_batches (start, project_id, environment, query, version, entry, key_id, status, error,
  reason, cache, ids, after_ms, total_us, sql_us, rows, bytes, route_us, question, confidence) from stdin`

/** Characters of one piece of a copy. */
const pieceLength = 65_536

function* copyTexts(batches: Batch[]): Generator<string> {
  let text = ''
  for (const batch of batches) {
    text += copyLine(batch)
    if (text.length < pieceLength) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** A line of COPY's text format. */
export function copyLine({ kind, start, ids, afterMs, totalUs, sqlUs, rows, bytes, asked }: Batch): string {
  const { projectId, environment, query, version, entry, keyId, status, error, reason, cache } = kind
  const fields = [
    new Date(start).toISOString(),
    field(projectId),
    field(environment),
    field(query),
    field(version),
    field(entry),
    field(keyId),
    field(status),
    field(error),
    field(reason),
    field(cache),
    // Ids of ours need no quotes in a list and no escaping.
    `{${ids.join(',')}}`,
    list(afterMs),
    list(totalUs),
    list(sqlUs),
    list(rows),
    list(bytes),
    field(asked?.routeUs ?? null),
    field(asked?.question ?? null),
    field(asked?.confidence ?? null),
  ]
  return `${fields.join('\t')}\n`
}

function list(series: Series): string {
  return `{${series.join(',')}}`
}

const special = /[\\\t\n\r]/
const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function field(value: string | number | null): string {
  if (value === null) return '\\N'
  if (typeof value === 'number' || !special.test(value)) return String(value)
  return value.replaceAll(new RegExp(special, 'g'), (character) => escapes[character] ?? '')
}

const upsertCounts = `insert into usage_rollups select * from json_populate_recordset(null::usage_rollups, $1::json)
  on conflict (project_id, grain, start, writer) do update set
    calls = excluded.calls, total_ms = excluded.total_ms, sql_ms = excluded.sql_ms, rows = excluded.rows,
    bytes = excluded.bytes, buckets = excluded.buckets, counts = excluded.counts`
