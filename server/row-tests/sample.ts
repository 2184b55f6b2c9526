import type { Catalog, CatalogTable } from '../engine/index.ts'
import { Failure } from '../failure.ts'
import type { bindCall } from '../queries/index.ts'
import { readRows, type JudgeParts } from './judge-test.ts'

type Row = Record<string, unknown>
type Parts = Pick<JudgeParts, 'engine' | 'catalogs' | 'config'>
type Statement = {
  projectId: string
  sql: string
  slots: ReturnType<typeof bindCall>
  /** The tables that it reads, and their columns that it names. */
  reads: Record<string, string[]>
  tables: readonly CatalogTable[]
}

/** Rows of each table at which halving ends, and most that are taken where a half alone says nothing. */
const wantedRows = 10
const mostRows = 50
/** The first rows of a large table are tried before its halves. */
const firstRows = 1_000
const searchMs = 20_000

/** Some rows of a table, in the order in which it has them. */
type Range = { from: number; count: number }

/**
 * A few rows of each table that a call reads, which are not without effect on what it gives: tables are halved while the
 * rest gives something else than tables without rows.
 */
export async function sampleRows(app: Parts, statement: Statement): Promise<Record<string, Row[]>> {
  const { projectId, reads } = statement
  const names = Object.keys(reads)
  const whole = wholeTables(statement)
  const read = (sql: string, slots: Statement['slots'] = []) =>
    readRows(app, projectId, { sql, tables: whole.tables, slots })
  const ranges = new Map<string, Range>()
  for (const name of names) {
    const [row] = await read(`SELECT count(*) AS n FROM ${whole.nameOf(name)}`)
    ranges.set(name, { from: 0, count: Number(row?.['n'] ?? 0) })
  }
  const isOver = deadline(searchMs)
  const resultOf = (of: ReadonlyMap<string, Range>) =>
    textOf(() => read(limited(statement, whole, of), statement.slots))
  const nothing = await resultOf(new Map(names.map((name) => [name, { from: 0, count: 0 }])))
  const says = async (name: string, range: Range): Promise<boolean> => {
    const found = await resultOf(new Map([...ranges, [name, range]]))
    return found !== null && found !== nothing
  }
  const bySize = names.toSorted((left, right) => countOf(ranges, right) - countOf(ranges, left))
  for (const name of bySize) {
    for (let range = ranges.get(name); range !== undefined && !isOver();) {
      ranges.set(name, range)
      range = await firstThat(partsOf(range), (part) => says(name, part))
    }
  }
  const sample: Record<string, Row[]> = {}
  for (const name of names) {
    const { from, count } = ranges.get(name) ?? { from: 0, count: 0 }
    const few = { from, count: Math.min(count, mostRows) }
    sample[name] = few.count === 0 ? [] : await read(rowsIn(statement, whole, { name, range: few }))
  }
  return sample
}

function countOf(ranges: ReadonlyMap<string, Range>, name: string): number {
  return ranges.get(name)?.count ?? 0
}

function deadline(ms: number): () => boolean {
  const endMs = performance.now() + ms
  return () => performance.now() > endMs
}

/** Smaller parts of a range, in the order in which they are tried. */
function partsOf({ from, count }: Range): Range[] {
  if (count <= wantedRows) return []
  const half = Math.ceil(count / 2)
  const halves = [
    { from, count: half },
    { from: from + half, count: count - half },
  ]
  return count > 2 * firstRows ? [{ from, count: firstRows }, ...halves] : halves
}

async function firstThat<Item>(items: Item[], holds: (item: Item) => Promise<boolean>): Promise<Item | undefined> {
  for (const item of items) if (await holds(item)) return item
  return undefined
}

/** The rows as text; null where it fails, as a statement may on part of its rows. */
async function textOf(read: () => Promise<Row[]>): Promise<string | null> {
  try {
    return JSON.stringify(await read())
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'internal_error' || error.code === 'overloaded') throw error
    // Too many rows to be read here are something.
    return error.code === 'result_too_large' ? 'many' : null
  }
}

type Whole = { tables: Catalog['tables']; nameOf: (name: string) => string }

/** Every table under another name, so that its own can stand for some of its rows. */
function wholeTables({ reads, tables }: Statement): Whole {
  const taken = new Set(tables.map(({ name }) => name))
  const names = new Map(Object.keys(reads).map((name) => [name, freeName(`all_${name}`, taken)]))
  const nameOf = (name: string): string => names.get(name) ?? name
  return {
    nameOf: (name) => quoted(nameOf(name)),
    tables: tables.filter(({ name }) => names.has(name)).map((table) => ({ ...table, name: nameOf(table.name) })),
  }
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  return taken.has(name) ? freeName(`${name}_`, taken) : name
}

function rowsIn(
  { reads, tables }: Statement,
  { nameOf }: Whole,
  { name, range }: { name: string; range: Range },
): string {
  const table = tables.find((each) => each.name === name)
  const named = reads[name] ?? []
  const columns = named.length > 0 ? named : (table?.columns ?? []).slice(0, 1).map((column) => column.name)
  return `SELECT ${columns.map(quoted).join(', ')} FROM ${nameOf(name)} OFFSET ${range.from} LIMIT ${range.count}`
}

/** The statement over some rows of each of its tables. */
function limited(statement: Statement, whole: Whole, ranges: ReadonlyMap<string, Range>): string {
  const parts = [...ranges].map(([name, range]) => `${quoted(name)} AS (${rowsIn(statement, whole, { name, range })})`)
  const sql = statement.sql.trim().replace(/;$/, '')
  return `WITH ${parts.join(', ')} SELECT * FROM (\n${sql}\n) AS answer`
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
