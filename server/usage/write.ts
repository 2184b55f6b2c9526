import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import type { Database } from '../store/index.ts'
import type { CallRow } from './call.ts'

/** Of one statement, and of one piece of a copy. */
const mostRows = 5_000

/** Writes calls and figures in one transaction. */
export async function writeUsage(
  { pool }: Pick<Database, 'pool'>,
  { calls, counts }: { calls: CallRow[]; counts: Array<Record<string, unknown>> },
): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    if (calls.length > 0) await pipeline(Readable.from(copyTexts(calls)), client.query(copyFrom(copyCalls)))
    for (let from = 0; from < counts.length; from += mostRows) {
      await client.query(upsertCounts, [JSON.stringify(counts.slice(from, from + mostRows))])
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  } finally {
    client.release()
  }
}

const columns = [
  'at',
  'id',
  'project_id',
  'environment',
  'query',
  'version',
  'entry',
  'key_id',
  'status',
  'error',
  'reason',
  'total_ms',
  'route_ms',
  'queue_ms',
  'sql_ms',
  'rows',
  'bytes',
  'cache',
  'question',
  'confidence',
] as const satisfies (keyof CallRow)[]

/** Half the cost of an insert on both sides, and there are as many rows as calls. */
const copyCalls = `copy requests (${columns.join(', ')}) from stdin`

function* copyTexts(calls: CallRow[]): Generator<string> {
  for (let from = 0; from < calls.length; from += mostRows) {
    let text = ''
    for (const call of calls.slice(from, from + mostRows)) text += copyLine(call)
    yield text
  }
}

/** A line of COPY's text format. Numbers and ids of ours need no escaping; what comes from outside does. */
export function copyLine(call: CallRow): string {
  let line = isoTime(call.at)
  for (const column of columns) {
    if (column === 'at') continue
    const value = call[column]
    line += value === null ? '\t\\N' : `\t${typeof value === 'string' ? escaped(value) : value}`
  }
  return `${line}\n`
}

const special = /[\\\t\n\r]/
const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function escaped(text: string): string {
  return special.test(text) ? text.replaceAll(new RegExp(special, 'g'), (character) => escapes[character] ?? '') : text
}

let last = { at: 0, text: '' }

/** Calls come many to a millisecond, and writing a time down is the dearest part of a line. */
function isoTime(at: number): string {
  if (at !== last.at || last.text === '') last = { at, text: new Date(at).toISOString() }
  return last.text
}

const upsertCounts = `insert into usage_rollups select * from json_populate_recordset(null::usage_rollups, $1::json)
  on conflict (project_id, grain, start, writer) do update set
    calls = excluded.calls, total_ms = excluded.total_ms, sql_ms = excluded.sql_ms, rows = excluded.rows,
    bytes = excluded.bytes, buckets = excluded.buckets, counts = excluded.counts`
