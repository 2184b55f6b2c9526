import { DuckDBDateValue, DuckDBTimestampValue, type DuckDBDataChunk, type DuckDBValue } from '@duckdb/node-api'
import { formatDay, formatTimestamp } from '../instance/dates.ts'
import {
  withConnection,
  withStatement,
  withStreamConnection,
  throwIfCancelled,
  type Cancellable,
  type Instance,
} from '../instance/instances.ts'
import { openLookupFile } from './lookup-file.ts'
import { joinedKey, maxAnswerBytes } from './lookup-layout.ts'
import type { LookupShape } from './lookup-shape.ts'
import { findShape } from './find-lookup-shape.ts'
import { openLookupWriter, type LookupWriter } from './lookup-writer.ts'
import { plainColumns, planFor, rowsOf, type StatementPlan } from '../inspect/plan.ts'
import type { LookupCall, LookupWritten, SlotType } from '../socket/protocol.ts'
import { encodeChunk, readWhole } from '../read/read.ts'
import { bindableSlots } from '../instance/slots.ts'

/** So many keys are answered by the engine as well before a file is believed. */
const maxSamples = 12

/**
 * Writes the answers of a statement for every key that its table has. Rows come from the engine sorted by key and then as
 * the author sorts them; what is written of each is what a call would have been sent.
 */
export async function writeLookup(instance: Instance, call: Cancellable, input: LookupCall): Promise<LookupWritten> {
  const startedMs = performance.now()
  const slots = bindableSlots(input.slots.map((slot) => ({ ...slot, value: null })))
  const plan = await planFor(instance, call, { sql: input.sql, slots })
  const found = await withConnection(instance, call, (lease) => findShape(lease, instance, input))
  if (typeof found === 'string') return { outcome: 'unfit', reason: found }
  const { shape, sql, isOrdered } = found
  const rows = await planFor(instance, call, { sql, slots: [] })
  if (plan.types.some((type, index) => type.toString() !== rows.types[index]?.toString())) {
    return { outcome: 'unfit', reason: 'columns that come out otherwise' }
  }
  const writer = await openLookupWriter(input.path, input.maxBytes)
  try {
    const source = { plan, shape, sql: sortedSql({ plan, rows, shape, isOrdered }) }
    const samples = await withStreamConnection(instance, call, ({ connection }) =>
      withStatement(connection, source.sql, async (statement) =>
        writeRows(await statement.stream(), call, { ...source, writer }),
      ),
    )
    const { keys, limit } = shape
    const about = { keys: keys.map(({ slot }) => slot), limit, columns: plan.columns }
    const finished = samples === null ? null : await writer.finish(about)
    if (samples === null || finished === null) {
      await writer.discard()
      return { outcome: 'large' }
    }
    const wrong = await differing(instance, call, { input, shape, samples: samples.sampled })
    if (wrong !== null) throw new Error(`the file of a lookup says something else than the engine of ${wrong} keys`)
    return { outcome: 'written', ...finished, rowCount: samples.rowCount, elapsedMs: performance.now() - startedMs }
  } catch (error) {
    await writer.discard()
    throw error
  }
}

type Sources = { plan: StatementPlan; rows: StatementPlan; shape: LookupShape; isOrdered: boolean }

/**
 * The rows of all keys, one key after the other. `place` tells their order within a key; rows at one place are in no
 * order. The last row is NULL, as that of a stream: only that tells that all of them came.
 */
function sortedSql({ plan, rows, shape, isOrdered }: Sources): string {
  const keysAt = plan.types.length
  const ordersAt = keysAt + shape.keys.length
  const keys = shape.keys.map((_, index) => `c${keysAt + index}`)
  const orders = shape.orders.map((how, index) => `c${ordersAt + index} ${how}`)
  const byOrder = `rank() OVER (PARTITION BY ${keys.join(', ')} ORDER BY ${orders.join(', ')})`
  const place = orders.length > 0 ? byOrder : isOrdered ? 'row_number() OVER ()' : '0::BIGINT'
  const known = keys.map((key) => `${key} IS NOT NULL`).join(' AND ')
  const list = [...plainColumns(plan), ...keys, 'place']
  return `SELECT true, ${list.join(', ')} FROM (
      SELECT * FROM (SELECT *, ${place} AS place FROM ${rowsOf(rows)} WHERE ${known}) ORDER BY ${keys.join(', ')}, place
    ) UNION ALL SELECT NULL, ${list.map(() => 'NULL').join(', ')}`
}

type Written = { rowCount: number; sampled: string[][] }
type Target = { plan: StatementPlan; shape: LookupShape; writer: LookupWriter }

/** Null where the file would be larger than it may be. */
async function writeRows(
  result: { fetchChunk: () => Promise<DuckDBDataChunk | null> },
  call: Cancellable,
  { plan, shape, writer }: Target,
): Promise<Written | null> {
  const keysAt = plan.types.length + 1
  const written: Written = { rowCount: 0, sampled: [] }
  let group: Group | null = null
  let groups = 0
  const end = async (): Promise<boolean> => {
    if (group === null) return true
    groups += 1
    sample(written.sampled, group.values, groups)
    return writer.add(group.key, answerOf(group, shape.most))
  }
  for (;;) {
    const chunk = await result.fetchChunk()
    throwIfCancelled(call)
    if (chunk === null || chunk.rowCount === 0) throw new Error('Invalid Input Error: The query failed midway')
    const isLast = chunk.getColumnVector(0).getItem(chunk.rowCount - 1) === null
    const count = chunk.rowCount - (isLast ? 1 : 0)
    const lines = encodeChunk(chunk, plan, 1)
    const columns = shape.keys.map((_, index) => chunk.getColumnVector(keysAt + index))
    const places = chunk.getColumnVector(keysAt + shape.keys.length)
    for (let row = 0; row < count; row += 1) {
      const values = columns.map((column) => keyText(column.getItem(row)))
      // No call can ask for it: a day after the year 9999, for one.
      if (!isTexts(values)) continue
      const key = joinedKey(values)
      if (group?.key !== key) {
        if (!(await end())) return null
        group = newGroup(key, values)
      }
      add(group, { line: lines[row] ?? '', place: places.getItem(row) }, shape.most)
      written.rowCount += 1
    }
    if (isLast) return (await end()) ? written : null
  }
}

function isTexts(values: Array<string | undefined>): values is string[] {
  return !values.includes(undefined)
}

/** A value of a column as a call says it. */
function keyText(value: DuckDBValue): string | undefined {
  if (value instanceof DuckDBDateValue) return value.isFinite ? formatDay(value.days) : undefined
  if (value instanceof DuckDBTimestampValue) return value.isFinite ? formatTimestamp(value.micros) : undefined
  return String(value)
}

/**
 * Rows of one key as they come. Several at one place may come in any order from one execution to the next: an answer is
 * certain up to the first of such places whose rows are not all alike.
 */
type Group = {
  key: string
  values: string[]
  lines: string[]
  sizeBytes: number
  place: DuckDBValue
  /** The first line of the last place. */
  placeAt: number
  state: 'open' | 'whole' | 'cut'
}

function newGroup(key: string, values: string[]): Group {
  return { key, values, lines: [], sizeBytes: 0, place: null, placeAt: 0, state: 'open' }
}

function add(group: Group, { line, place }: { line: string; place: DuckDBValue }, most: number): void {
  if (group.state !== 'open') return
  const { lines } = group
  if (lines.length === 0 || place !== group.place) {
    if (lines.length >= most) {
      group.state = 'whole'
      return
    }
    group.place = place
    group.placeAt = lines.length
  } else if (line !== lines[group.placeAt]) {
    lines.length = group.placeAt
    group.state = 'cut'
    return
  }
  group.sizeBytes += Buffer.byteLength(line) + 2
  if (group.sizeBytes > maxAnswerBytes) {
    lines.length = group.placeAt
    group.state = 'cut'
    return
  }
  lines.push(line)
}

function answerOf({ lines, state }: Group, most: number): { lines: string[]; isWhole: boolean } {
  return { lines: lines.slice(0, Math.min(most, lines.length)), isWhole: state !== 'cut' }
}

/** Each key is among the samples as likely as any other; the first is for sure. */
function sample(sampled: string[][], values: string[], seen: number): void {
  if (sampled.length < maxSamples) sampled.push(values)
  else {
    const at = Math.floor(Math.random() * seen)
    if (at > 0 && at < maxSamples) sampled[at] = values
  }
}

/** The number of keys whose answer in the file differs from an execution of the author's statement; null for none. */
async function differing(
  instance: Instance,
  call: Cancellable,
  { input, shape, samples }: { input: LookupCall; shape: LookupShape; samples: string[][] },
): Promise<number | null> {
  const file = openLookupFile(input.path)
  if (file === undefined) throw new Error('the file of a lookup cannot be opened')
  try {
    let wrong = 0
    for (const values of samples) {
      const record = file.find(values)
      if (record === null || record === undefined) wrong += 1
      else if (record.isWhole && shape.limit === null) {
        const slots = input.slots.map((slot) => {
          const at = shape.keys.findIndex((key) => key.slot === slot.name.toLowerCase())
          return { ...slot, value: at < 0 ? null : wireValue(slot.type, values[at] ?? '') }
        })
        const limits = { maxRows: 1_000_000, maxBytes: maxAnswerBytes * 4 }
        const { bytes } = await readWhole(instance, call, {
          ...limits,
          sql: input.sql,
          slots,
          format: 'json',
          stream: false,
        })
        if (!Buffer.concat(bytes).equals(record.rows)) wrong += 1
      }
    }
    return wrong === 0 ? null : wrong
  } finally {
    file.close()
  }
}

function wireValue(type: SlotType, text: string): unknown {
  return type === 'boolean' ? text === 'true' : text
}
