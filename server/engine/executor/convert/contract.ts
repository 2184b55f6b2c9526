import type { DuckDBConnection } from '@duckdb/node-api'
import { Failure } from '../../../failure.ts'
import { widerType } from '../../../rows/index.ts'
import type { Contract, ContractColumn, ConvertedColumn, Mismatch } from '../socket/protocol.ts'
import { readAs } from '../instance/read-as.ts'
import { quoteName, quoteText } from '../instance/sql-text.ts'

/**
 * Rows ready to copy. `from` gives SQL whose columns are `c0`, `c1` … of the types in `columns`; those at the indexes
 * given may come as text instead. `text` is a value as text, to be read as `type`, and NULL where there is none.
 */
export type CopySource = {
  columns: ConvertedColumn[]
  rowCount: number | null
  /** SQL of the rows as they are, under their names: a list of thousands of columns takes the engine minutes. */
  plain: string
  from: (asText: ReadonlySet<number>) => string
  text: (index: number, type: string) => string
  json: (index: number) => string
  /** SQL of rows whose column `raw` is the text of a value as it came. */
  raw: (index: number) => string
}

/** The written columns: an expression for each, over `from`. */
export type WrittenRows = { sql: string; columns: ConvertedColumn[]; mismatches: Mismatch[]; rejected: string | null }

/** The test of a column's values against its type. */
type Checked = {
  index: number
  name: string
  expected: string
  found: string
  /** Texts that spell a number in another way are none: `01` and `1.0` are other articles than 1. Authors may say otherwise. */
  keepsZeros: boolean
}

const maxExamples = 3
const maxExample = 100

/** Types that a column can be held to, and SQL that says whether the text `x` is such a value. */
const scalars: { pattern: RegExp; holds: (x: string, type: string) => string }[] = [
  { pattern: /^(VARCHAR|JSON)$/, holds: () => 'true' },
  {
    pattern: /^(BIGINT|DECIMAL\(\d+,0\))$/,
    holds: (x, type) => `regexp_full_match(${x}, '-?[0-9]+(\\.0+)?') AND try_cast(${x} AS ${type}) IS NOT NULL`,
  },
  {
    pattern: /^DECIMAL\(/,
    holds: (x, type) =>
      `regexp_full_match(${x}, '-?[0-9]+(\\.[0-9]{1,${scaleOf(type)}}0*)?') AND try_cast(${x} AS ${type}) IS NOT NULL`,
  },
  {
    pattern: /^DOUBLE$/,
    holds: (x) =>
      `regexp_full_match(${x}, '-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?') AND isfinite(try_cast(${x} AS DOUBLE)) AND (length(regexp_replace(${x}, '[^0-9]', '', 'g')) <= 15 OR try_cast(${x} AS DOUBLE)::VARCHAR = ${x})`,
  },
  { pattern: /^BOOLEAN$/, holds: (x) => `lower(${x}) IN ('true', 'false')` },
  {
    pattern: /^DATE$/,
    holds: (x) => `regexp_full_match(${x}, '[0-9]{4}-[0-9]{2}-[0-9]{2}') AND try_cast(${x} AS DATE) IS NOT NULL`,
  },
  {
    pattern: /^TIMESTAMP$/,
    holds: (x) =>
      `regexp_full_match(${x}, '[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?Z?)?') AND try_cast(${x} AS TIMESTAMP) IS NOT NULL`,
  },
  {
    pattern: /^TIMESTAMPTZ$/,
    holds: (x) =>
      `regexp_full_match(${x}, '[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)') AND try_cast(${x} AS TIMESTAMPTZ) IS NOT NULL`,
  },
]

function scaleOf(type: string): number {
  return Number(/,(\d+)\)$/.exec(type)?.[1] ?? 0)
}

const ruleOf = (type: string) => scalars.find(({ pattern }) => pattern.test(type))

/** Brings rows under the contract of their table: what is written, and what of the data is not as it is to be. */
export async function underContract(
  connection: DuckDBConnection,
  source: CopySource,
  contract: Contract | null,
): Promise<WrittenRows> {
  const held = new Map((contract?.columns ?? []).map((column) => [column.sourceKey, column]))
  const checked = source.columns.flatMap((column, index): Checked[] => {
    const rule = held.get(column.sourceKey)
    const expected = expectedType(contract, rule)
    if (expected === null || expected === column.type || column.untyped === true) return []
    const keepsZeros = rule?.declared === false && column.type === 'VARCHAR'
    return [{ index, name: column.name, expected, found: column.type, keepsZeros }]
  })
  const from = source.from(new Set(checked.map(({ index }) => index)))
  const mismatches = await findMismatches(connection, { source, from, checked })
  const failing = new Map(mismatches.map((each) => [each.column, each]))
  const mode = contract?.onMismatch ?? 'widen'
  const joined = joinedTypes(source, contract, new Set(mode === 'null' ? [] : failing.keys()))
  if (mismatches.length > 0 && mode === 'refuse') throw refused(mismatches)
  const checkedColumns = new Map(
    checked.filter(({ name }) => mode === 'null' || !failing.has(name)).map((each) => [each.index, each]),
  )
  const columns = source.columns.map((column, index): ConvertedColumn => {
    const { untyped, ...plain } = column
    const expected =
      untyped === true
        ? expectedType(contract, held.get(column.sourceKey))
        : (joined.get(index) ?? checkedColumns.get(index)?.expected)
    return expected === undefined || expected === null ? column : { ...plain, type: expected }
  })
  const list = columns.map(({ name, type, untyped }, index) => {
    const cast = checkedColumns.get(index)
    const isEmpty = source.columns[index]?.untyped === true && untyped === undefined
    const natural = joined.has(index) ? readAs(`c${index}`, source.columns[index]?.type ?? type, type) : `c${index}`
    const value = isEmpty ? `CAST(NULL AS ${type})` : cast === undefined ? natural : castOf(source, cast)
    return `${value} AS ${quoteName(name)}`
  })
  const absent = absentColumns(contract, source)
  const nulls = absent.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${quoteName(name)}`)
  const rejected = mode === 'null' && mismatches.length > 0 ? rejectedSql(source, checkedColumns, failing) : null
  const isPlain =
    checkedColumns.size + absent.length === 0 && columns.every((column, index) => column === source.columns[index])
  const sql = isPlain
    ? source.plain
    : `SELECT ${[...list, ...nulls].join(', ')} FROM ${source.from(new Set(checkedColumns.keys()))}`
  return { sql, columns: [...columns, ...absent], mismatches, rejected }
}

/**
 * For rows that join others: the columns whose values do not fit the type that is there, and what is nested and looks
 * otherwise than before. Each takes the type that holds both.
 */
function joinedTypes(source: CopySource, contract: Contract | null, failing: ReadonlySet<string>): Map<number, string> {
  const joined = new Map<number, string>()
  if (contract?.extends !== true) return joined
  const before = new Map(contract.columns.map(({ sourceKey, type }) => [sourceKey, type]))
  for (const [index, { name, type, sourceKey, untyped }] of source.columns.entries()) {
    const known = before.get(sourceKey) ?? null
    const isChecked = known !== null && ruleOf(known) !== undefined && !failing.has(name)
    if (known !== null && untyped !== true && known !== type && !isChecked) joined.set(index, widerType(known, type))
  }
  return joined
}

/** The type that values are held to; null where they make it themselves. */
function expectedType(contract: Contract | null, column: ContractColumn | undefined): string | null {
  if (contract === null || column === undefined || column.type === null) return null
  if (!column.declared && contract.onMismatch === 'widen' && contract.extends !== true) return null
  // Nested values get the type that they need.
  return ruleOf(column.type) === undefined ? null : column.type
}

/** Declared columns are there, whatever the answer leaves out. */
function absentColumns(contract: Contract | null, { columns }: CopySource): ConvertedColumn[] {
  const there = new Set(columns.map(({ sourceKey }) => sourceKey))
  return (contract?.columns ?? []).flatMap(({ sourceKey, name, type, declared }) =>
    declared && type !== null && !there.has(sourceKey) ? [{ name, type, sourceKey }] : [],
  )
}

type Looking = { source: CopySource; from: string; checked: Checked[] }

async function findMismatches(connection: DuckDBConnection, { source, from, checked }: Looking): Promise<Mismatch[]> {
  if (checked.length === 0) return []
  const list = checked.flatMap((each) => {
    const { index, expected } = each
    const failing = `FILTER (WHERE ${doesNotFit(source.text(index, expected), each)})`
    const text = `left(${source.text(index, expected)}, ${maxExample})`
    return [`count(*) ${failing}`, `to_json(list_slice(list_distinct(list(${text}) ${failing}), 1, ${maxExamples}))`]
  })
  const result = await connection.run(`SELECT ${list.join(', ')} FROM ${from}`)
  const [found = []] = await result.getRows()
  return checked.flatMap(({ name, expected, found: natural }, index) => {
    const count = Number(found[index * 2] ?? 0)
    if (count === 0) return []
    const examples = JSON.parse(String(found[index * 2 + 1] ?? '[]')) as string[]
    return [{ column: name, expected, found: natural, count, examples }]
  })
}

function doesNotFit(text: string, checked: Checked): string {
  return `${text} IS NOT NULL AND NOT coalesce(${fits(text, checked)}, false)`
}

function fits(text: string, { expected: type, keepsZeros }: Checked): string {
  const holds = ruleOf(type)?.holds(text, type) ?? 'true'
  const isNumber = /^(BIGINT|DOUBLE|DECIMAL)/.test(type)
  const isWhole = /^(BIGINT|DECIMAL\(\d+,0\))$/.test(type)
  const otherwise = isWhole ? '^-?0[0-9]|^-0|[.]' : '^-?0[0-9]'
  return keepsZeros && isNumber ? `(${holds} AND NOT regexp_matches(${text}, '${otherwise}'))` : holds
}

function castOf(source: CopySource, checked: Checked): string {
  const { index, expected: type } = checked
  const text = source.text(index, type)
  if (type === 'VARCHAR') return text
  if (type === 'JSON') return source.json(index)
  return `CASE WHEN ${fits(text, checked)} THEN try_cast(${text} AS ${type}) END`
}

/** Every value that became null: in which row of the table, counted from 1, of which column, and as it came. */
function rejectedSql(source: CopySource, checkedColumns: Map<number, Checked>, failing: Map<string, Mismatch>): string {
  const columns = [...checkedColumns.values()].filter(({ name }) => failing.has(name))
  const parts = columns.map((each) => {
    const { index, name, expected } = each
    const text = source.text(index, expected)
    return `SELECT "row", ${quoteText(name)} AS "column", ${text} AS "value" FROM numbered WHERE ${doesNotFit(text, each)}`
  })
  const numbered = `SELECT row_number() OVER () AS "row", * FROM ${source.from(new Set(checkedColumns.keys()))}`
  return `WITH numbered AS (${numbered}) ${parts.join(' UNION ALL ')} ORDER BY "row", "column"`
}

function refused(mismatches: Mismatch[]): Failure {
  const words = mismatches.map(({ column, expected, count, examples }) => {
    const values = count === 1 ? '1 value is' : `${count} values are`
    return `${column} is ${expected}, and ${values} not, such as ${examples.map((text) => JSON.stringify(text)).join(', ')}`
  })
  return new Failure('upstream_error', {
    reason: 'type_mismatch',
    message: `The data is not as the table's columns are: ${words.join('; ')}. The table refuses such data (on_mismatch).`,
  })
}
