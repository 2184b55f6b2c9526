import {
  columnTypeName,
  type Catalog,
  type Column,
  type ColumnType,
  type Inspection,
  type SlotType,
} from '../../engine/index.ts'
import { closest, Failure } from '../../failure.ts'
import { preparedName, type TrinoClient } from '../client/client.ts'
import type { RunAs } from '../client/run-as.ts'
import { namedOnce } from './formats.ts'
import { nameIn } from './lexer.ts'
import { authorFailure, prepared, typedBy, type Prepared, type Statement } from './statement.ts'
import { parseTrinoType } from '../client/types.ts'

type Inspected = { statement: Statement; catalog: Catalog; run: RunAs }
type Given = { slots: Array<{ name: string; type: SlotType }> }

/** Asks Trino about a statement: its parameters, its columns, and whether its user may run it. */
export async function inspectStatement(
  client: TrinoClient,
  { statement, catalog, run }: Inspected,
  { slots: given }: Given,
): Promise<Inspection> {
  const declared = new Map(given.map(({ name, type }) => [name.toLowerCase(), type]))
  const suggested =
    statement.places.length === 0 ? new Map<string, SlotType>() : await suggest(client, { statement, catalog, run })
  const names = [...new Set(statement.places.map(({ name }) => name))]
  const types = new Map(names.map((name) => [name, declared.get(name) ?? suggested.get(name) ?? 'string']))
  const typed = prepared(statement, typedBy(types))
  const columns = await saying({ statement, catalog }, typed, async () => {
    const [described] = await Promise.all([
      client.rows({ sql: `DESCRIBE OUTPUT ${preparedName}`, prepared: typed.text, ...run }),
      client.rows({ sql: validation(typed), prepared: typed.text, ...run }),
    ])
    return columnsOf(described)
  })
  const columnsByTable = readBy(statement, catalog)
  return {
    tables: Object.keys(columnsByTable).sort(),
    columnsByTable,
    slots: [...types].map(([name, suggestedType]) => ({ name, suggestedType })),
    columns,
    // Nobody but Trino has the syntax tree, and it keeps it.
    facets: { measures: [], groups: [], grains: [], order: null, isLimited: false, filters: [], slots: {} },
  }
}

function validation({ slots }: Prepared): string {
  const values = slots.map(({ isCount }) => (isCount ? '1' : 'NULL'))
  return `EXPLAIN (TYPE VALIDATE) EXECUTE ${preparedName}${values.length === 0 ? '' : ` USING ${values.join(', ')}`}`
}

/** The types that Trino finds for parameters, where the statement leaves no doubt. */
async function suggest(client: TrinoClient, { statement, catalog, run }: Inspected): Promise<Map<string, SlotType>> {
  const bare = prepared(statement, { typeOf: () => undefined })
  const rows = await saying({ statement, catalog }, bare, () =>
    client.rows({ sql: `DESCRIBE INPUT ${preparedName}`, prepared: bare.text, ...run }),
  )
  const types = new Map<string, SlotType>()
  for (const [position, text] of rows) {
    const slot = bare.slots[Number(position)]
    const type = slot?.isCount === true ? 'integer' : slotTypeOf(String(text))
    if (slot !== undefined && type !== undefined && !types.has(slot.name)) types.set(slot.name, type)
  }
  return types
}

const slotTypes: Record<string, SlotType> = {
  BOOLEAN: 'boolean',
  TINYINT: 'integer',
  SMALLINT: 'integer',
  INTEGER: 'integer',
  BIGINT: 'integer',
  FLOAT: 'number',
  DOUBLE: 'number',
  DATE: 'date',
  TIMESTAMP: 'timestamp',
  'TIMESTAMP WITH TIME ZONE': 'timestamp',
  TIME: 'time',
  VARCHAR: 'string',
}

function slotTypeOf(text: string): SlotType | undefined {
  if (text === 'unknown') return undefined
  const type = parseTrinoType(text)
  if (type.kind !== 'list') return scalarSlotType(type)
  const item = scalarSlotType(type.item)
  return item === undefined ? undefined : (`${item}[]` as SlotType)
}

function scalarSlotType(type: ColumnType): SlotType | undefined {
  if (type.kind === 'decimal') return 'number'
  return type.kind === 'scalar' ? slotTypes[type.name] : undefined
}

/** Rows of `DESCRIBE OUTPUT`: name, catalog, schema, table, type, size, aliased. */
function columnsOf(rows: unknown[][]): Column[] {
  const names = namedOnce(rows.map(([name]) => String(name)))
  return rows.map((row, index) => ({ name: names[index] ?? '', type: columnTypeName(parseTrinoType(String(row[4]))) }))
}

/** Trino's complaint as its author's, with a hint where a table is misspelled. */
async function saying<Result>(
  { statement, catalog }: Pick<Inspected, 'statement' | 'catalog'>,
  text: Prepared,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const failure = authorFailure(error, statement, text)
    const missing = failure instanceof Failure ? /^There is no table (\S+)\./.exec(failure.message)?.[1] : undefined
    const near =
      missing &&
      closest(
        missing,
        catalog.tables.map(({ name }) => name),
      )
    if (!(failure instanceof Failure) || near === undefined) throw failure
    const hinted = failure.message.replace(/^(There is no table \S+)\./, `$1; perhaps you meant ${near}.`)
    const { details: _, ...fields } = { details: [], ...failure.fields }
    throw new Failure('invalid_request', {
      reason: 'invalid_sql',
      message: hinted,
      details: [{ field: 'sql', message: hinted }],
      fields,
      cause: failure.cause,
    })
  }
}

/**
 * The tables that a statement reads and their columns: those whose names stand in it. More than it reads, at times, and
 * never less: no table can be read without its name, which may not be spelled by numbers.
 */
function readBy({ tokens }: Statement, { tables }: Catalog): Record<string, string[]> {
  const named = new Set(tokens.flatMap((token) => nameIn(token) ?? []))
  const readsAll = named.has('table') || tokens.some(({ text }) => text === '*')
  return Object.fromEntries(
    tables
      .filter(({ name }) => named.has(name.toLowerCase()))
      .map(({ name, columns }) => {
        const read = columns.filter((column) => readsAll || named.has(column.name.toLowerCase()))
        return [name, read.map((column) => column.name)]
      }),
  )
}
