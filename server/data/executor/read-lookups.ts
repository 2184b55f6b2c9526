import type { DuckDBValue } from '@duckdb/node-api'
import {
  prepare,
  throwIfCancelled,
  withConnection,
  type Cancellable,
  type Instance,
} from '../../engine/executor/instance/instances.ts'
import type { Lookup } from './lookup.ts'
import { plainColumns, planFor, type StatementPlan } from '../../engine/executor/inspect/plan.ts'
import type { ReadCall, SlotValue } from '../../engine/executor/socket/protocol.ts'
import { encodeChunk, tooLarge, type WholeAnswer } from '../../engine/executor/read/read.ts'
import { bindableSlots, type BoundSlot } from '../../engine/executor/instance/slots.ts'

/** A number of keys is rounded up to one of these, so that few statements are prepared. */
const batchSizes = [2, 4, 8, 16, 32]
const maxKeys = 32

/** Answers several calls of one statement by one execution; null where that cannot be done. */
export async function readTogether(
  instance: Instance,
  call: Cancellable,
  { input, slotsOfCalls }: { input: ReadCall; slotsOfCalls: SlotValue[][] },
): Promise<WholeAnswer[] | null> {
  const startedMs = performance.now()
  const bound = slotsOfCalls.map(bindableSlots)
  const plan = await planFor(instance, call, { sql: input.sql, slots: bound[0] ?? [] })
  const { lookup } = plan
  if (lookup === null || bound.length > maxKeys) return null
  const keys = bound.flatMap((slots) => slots.filter(({ name }) => name.toLowerCase() === lookup.slot))
  if (keys.length !== bound.length || keys.some(({ cast }) => cast !== lookup.cast)) return null
  const rows = await readLookups(instance, call, { plan, lookup, keys })
  const [open, close] = input.format === 'ndjson' ? ['', '\n'] : ['[', ']']
  const nothing = input.format === 'ndjson' ? '' : '[]'
  return rows.map((row) => {
    const bytes = Buffer.from(row === undefined ? nothing : `${open}${row}${close}`)
    if (bytes.length > input.maxBytes) throw tooLarge(input.maxBytes)
    const end = { rowCount: row === undefined ? 0 : 1, truncated: false, elapsedMs: performance.now() - startedMs }
    return { columns: plan.columns, end, bytes: [bytes], lookup: true, together: bound.length }
  })
}

/** The row object of each key, undefined where there is none. */
async function readLookups(
  instance: Instance,
  call: Cancellable,
  { plan, lookup, keys }: { plan: StatementPlan; lookup: Lookup; keys: BoundSlot[] },
): Promise<(string | undefined)[]> {
  const sought = keys.filter(({ value }) => value !== null)
  const [first] = sought
  if (first === undefined) return keys.map(() => undefined)
  // The last key fills the room that is left: a NULL among the keys would keep DuckDB from using the index.
  const size = batchSizes.find((each) => each >= sought.length) ?? sought.length
  const sql = lookupSql(plan, lookup, size)
  const result = await withConnection(instance, call, async (lease) => {
    const statement = await prepare(lease, sql)
    for (let index = 0; index < size; index += 1) {
      const { value, type } = sought[Math.min(index, sought.length - 1)] ?? first
      statement.bindValue(index + 1, value, type)
    }
    throwIfCancelled(call)
    return statement.run()
  })
  const rows = new Map<DuckDBValue, string>()
  for (let index = 0; index < result.chunkCount; index += 1) {
    const chunk = result.getChunk(index)
    const found = chunk.getColumnVector(0)
    for (const [row, text] of encodeChunk(chunk, plan, 1).entries()) rows.set(found.getItem(row), text)
  }
  return keys.map(({ value }) => rows.get(value))
}

const lookupSqls = new WeakMap<Lookup, Map<number, string>>()

function lookupSql(plan: StatementPlan, lookup: Lookup, size: number): string {
  let bySize = lookupSqls.get(lookup)
  if (bySize === undefined) lookupSqls.set(lookup, (bySize = new Map()))
  let sql = bySize.get(size)
  if (sql === undefined) {
    const keys = Array.from({ length: size }, (_, index) => `CAST($${index + 1} AS ${lookup.cast})`).join(', ')
    const names = plan.types.map((_, index) => `c${index}`).join(', ')
    sql = `SELECT key, ${plainColumns(plan).join(', ')} FROM (${lookup.sqlOf(keys)}\n) AS result_rows(key, ${names})`
    bySize.set(size, sql)
  }
  return sql
}
