import { LRUCache } from 'lru-cache'
import type { DuckDBPreparedStatement, DuckDBType } from '@duckdb/node-api'
import { Failure } from '../../../failure.ts'
import { boundReads, refuseForeign } from './bound.ts'
import { inspectSql, mostOffset, parse } from './inspect.ts'
import { refuseWildcards, safePatterns, textSlots } from './patterns.ts'
import { withConnection, type Cancellable, type Instance } from '../instance/instances.ts'
import type { Column } from '../socket/protocol.ts'
import type { BoundSlot } from '../instance/slots.ts'
import { sqlFailure } from '../instance/sql-failure.ts'
import { castSlots, quoteText, withoutSemicolon } from '../instance/sql-text.ts'
import { directEncoder, doubt, candidateValue, isNeverCandidate, jsonText, typeName } from '../instance/values.ts'
import { prepareTyped } from './typed.ts'

/** A statement that was inspected and described once; every later call of it starts here. */
export type StatementPlan = {
  /** The author's statement with every slot cast, fit to stand in parentheses. */
  sql: string
  columns: Column[]
  types: DuckDBType[]
  /** The size of the last answer, the best guess at the next; null before the first. */
  lastRowCount: number | null
  /** Values may hold few wildcards: one may reach a pattern that could not be made safe. */
  isLoose: boolean
  /** Slots that say how far LAG and LEAD look. */
  offsets: ReadonlySet<string>
  /** No value so far needed more than the cheap way to JSON. */
  usesCandidates: boolean
}

/** Plans by statement, for as long as their instance is open. */
const plansOf = new WeakMap<Instance, LRUCache<string, StatementPlan>>()
const maxPlansPerInstance = 512

function rememberPlan(instance: Instance, key: string, plan: StatementPlan): void {
  const plans = plansOf.get(instance) ?? new LRUCache<string, StatementPlan>({ max: maxPlansPerInstance })
  plansOf.set(instance, plans.set(key, plan))
}

/** The plan of `sql`, from the instance's cache or made now. Nothing runs that was not inspected. */
export async function planFor(
  instance: Instance,
  call: Cancellable,
  input: { sql: string; slots: BoundSlot[] },
): Promise<StatementPlan> {
  const casts = new Map(input.slots.map((slot) => [slot.name.toLowerCase(), slot.cast]))
  const patterns = input.slots.filter(({ isPattern }) => isPattern).map(({ name }) => name.toLowerCase())
  const key = `${[...casts].join(';')} ${patterns.join(';')}\n${input.sql}`
  const plan = plansOf.get(instance)?.get(key) ?? (await makePlan(instance, call, { ...input, casts, key }))
  if (plan.isLoose) refuseWildcards(input.slots)
  if (plan.offsets.size > 0) refuseFarOffsets(plan, input.slots)
  return plan
}

function refuseFarOffsets({ offsets }: StatementPlan, slots: readonly BoundSlot[]): void {
  const far = slots.find(({ name, value }) => offsets.has(name.toLowerCase()) && Math.abs(Number(value)) > mostOffset)
  if (far === undefined) return
  const message = `must be at most ${mostOffset} as an offset`
  throw new Failure('invalid_query', { reason: 'invalid_slots', details: [{ field: far.name, message }] })
}

function makePlan(
  instance: Instance,
  call: Cancellable,
  { casts, key, ...input }: { sql: string; slots: BoundSlot[]; casts: Map<string, string>; key: string },
): Promise<StatementPlan> {
  return withConnection(instance, call, async (lease) => {
    const sighting = await inspectSql(lease, instance, input.sql)
    const { sql: author, isLoose } = await safePatterns(
      { sql: withoutSemicolon(input.sql), root: sighting.root, texts: textSlots(input.slots) },
      async (changed) => parse(lease, changed),
    )
    const castFor = (name: string): string => casts.get(name) ?? 'VARCHAR'
    const sql = castSlots(author, castFor)
    const reads = await boundReads(lease, instance, sql)
    if (reads !== null) refuseForeign(input.sql, reads, sighting)
    const statement = await prepareTyped(lease, author, castFor)
    const types = resultTypes(statement, input.sql)
    refuseForeign(input.sql, reads, sighting)
    const names = uniqueNames(types.map((_, index) => statement.columnName(index)))
    const columns = types.map((type, index) => ({ name: names[index] ?? '', type: typeName(type) }))
    const usesCandidates = !types.some(isNeverCandidate)
    const { offsets } = sighting
    const plan: StatementPlan = { sql, columns, types, lastRowCount: null, isLoose, offsets, usesCandidates }
    rememberPlan(instance, key, plan)
    return plan
  })
}

/** A table function has columns only with its arguments, so a slot among them leaves the result untyped. */
export function resultTypes(statement: DuckDBPreparedStatement, sql: string): DuckDBType[] {
  try {
    return Array.from({ length: statement.columnCount }, (_, index) => statement.columnType(index))
  } catch {
    const message =
      'The columns depend on a slot. A function in FROM, such as range, takes no slot; use it in WHERE or LIMIT.'
    throw sqlFailure(sql, message)
  }
}

/** A row object can hold a name once: the second `a` is `a_1`. Names that differ in case stay as they are. */
export function uniqueNames(names: string[]): string[] {
  const taken = new Set<string>()
  const counts = new Map<string, number>()
  return names.map((name) => {
    let unique = name
    let count = counts.get(name) ?? 1
    for (; taken.has(unique); count += 1) unique = `${name}_${count}`
    counts.set(name, count)
    taken.add(unique)
    return unique
  })
}

/** The author's rows under names of our own (`c0`, `c1`, …), so that no name of theirs can be ambiguous. */
export function rowsOf({ sql, types }: StatementPlan): string {
  return `(${sql}\n) AS result_rows(${types.map((_, index) => `c${index}`).join(', ')})`
}

/** SQL for one row as a JSON object, and what stands after it. */
export function rowObject({ columns, types }: StatementPlan, after = ''): string {
  const parts = types.map((type, index) => {
    const label = `${index === 0 ? '{' : ','}${JSON.stringify(columns[index]?.name ?? '')}:`
    return `${quoteText(label)}, ${jsonText(type, `c${index}`)}`
  })
  return `concat(${parts.join(', ')}, ${quoteText(`}${after}`)})`
}

/** Up to here each SQL expression costs more than encoding the rows in JavaScript. */
const fewRows = 64
/** Beyond this many columns the expressions for JSON fill more memory than the rows. */
const wideColumns = 200

export function isWide({ types }: StatementPlan): boolean {
  return types.length > wideColumns
}

/** Are the rows of the next call better encoded here than by DuckDB? */
export function encodesHere(plan: StatementPlan): boolean {
  return isWide(plan) || (plan.lastRowCount !== null && plan.lastRowCount <= fewRows)
}

/** A select list to encode here: plain types as they are, the others as JSON text from SQL. */
export function plainColumns(plan: StatementPlan): string[] {
  return plan.types.map((type, index) => {
    return directEncoder(type) === undefined ? jsonText(type, `c${index}`) : `c${index}`
  })
}

/**
 * Many rows: one value that holds them all, their number, and whether the cheap way was wrong for any. With one thread
 * per query the aggregate keeps the order. A LIMIT copies what passes it, so it comes when a row is one text already.
 */
export function manyRowsSql(plan: StatementPlan, limit: number, separator: string): string {
  const line = plan.usesCandidates ? candidateObject(plan) : rowObject(plan)
  const lines = `SELECT ${line} AS line, ${doubts(plan)} AS doubtful FROM ${rowsOf(plan)} LIMIT ${limit}`
  return `SELECT encode(string_agg(line, ${separator})), count(*), coalesce(bool_or(doubtful), false) FROM (${lines})`
}

function candidateObject({ columns, types }: StatementPlan): string {
  const parts = types.map(
    (type, index) => `${quoteText(columns[index]?.name ?? '')}, ${candidateValue(type, `c${index}`)}`,
  )
  return `json_object(${parts.join(', ')})::VARCHAR`
}

function doubts({ types, usesCandidates }: StatementPlan): string {
  const all = types.flatMap((type, index) => doubt(type, `c${index}`) ?? [])
  return usesCandidates && all.length > 0 ? all.join(' OR ') : 'false'
}

/**
 * Rows for a stream, and a last one whose first column is NULL. A stream that fails ends like one that is complete; only
 * this row tells them apart. A LIMIT would collect all rows before the first, so there is none.
 */
export function streamSql(plan: StatementPlan, list: string[]): string {
  return `SELECT ${list.join(', ')} FROM ${rowsOf(plan)} UNION ALL SELECT ${list.map(() => 'NULL').join(', ')}`
}
