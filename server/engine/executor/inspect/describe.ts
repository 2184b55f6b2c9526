import { DuckDBListType, DuckDBTypeId, type DuckDBPreparedStatement, type DuckDBType } from '@duckdb/node-api'
import { boundReads, refuseForeign } from './bound.ts'
import { countColumns, facetsOf } from './facets.ts'
import { inspectSql, parse, type Sighting } from './inspect.ts'
import { safePatterns, type TextSlots } from './patterns.ts'
import { prepare, withConnection, withStatement, type Cancellable, type Instance } from '../instance/instances.ts'
import { planFor, resultTypes, uniqueNames } from './plan.ts'
import { stepsOf } from './plan-steps.ts'
import type { LocalCatalog, InspectCall, Inspection, EnginePlan, SlotValue, SlotType } from '../socket/protocol.ts'
import { bindableSlots, bindStatement, castOf } from '../instance/slots.ts'
import { castSlots, withoutSemicolon } from '../instance/sql-text.ts'
import { suggestTypes } from './suggest.ts'
import { prepareTyped } from './typed.ts'
import { typeName } from '../instance/values.ts'

/** The tables, slots and columns of a statement, without running it. */
export function inspect(instance: Instance, call: Cancellable, input: InspectCall): Promise<Inspection> {
  return withConnection(instance, call, async (lease) => {
    const { catalog } = instance
    const sighting = await inspectSql(lease, instance, input.sql)
    const sql = withoutSemicolon(input.sql)
    const untyped = await prepare(lease, sql)
    const given = new Map(input.slots.map(({ name, type }) => [name.toLowerCase(), type]))
    const bound = boundTypes(untyped)
    const suggested = suggestTypes(sighting, catalog)
    const slots = [...sighting.slots].map((name) => {
      return { name, suggestedType: given.get(name) ?? bound.get(name) ?? suggested.get(name) ?? 'string' }
    })
    const textual = slots.filter(({ suggestedType }) => suggestedType.startsWith('string'))
    const texts: TextSlots = new Map(
      textual.map(({ name, suggestedType }) => [name, suggestedType === 'string' ? 'letters' : 'list']),
    )
    await safePatterns({ sql, root: sighting.root, texts }, async (changed) => parse(lease, changed))
    const casts = new Map(slots.map(({ name, suggestedType }) => [name, castOf(suggestedType)]))
    const castFor = (name: string): string => casts.get(name) ?? 'VARCHAR'
    const typed = await prepareTyped(lease, sql, castFor)
    const names = uniqueNames(Array.from({ length: typed.columnCount }, (_, index) => typed.columnName(index)))
    const types = resultTypes(typed, input.sql)
    refuseForeign(input.sql, await boundReads(lease, instance, castSlots(sql, castFor)), sighting)
    const counts = countColumns(sighting.root, types.length)
    const columns = types.map((type, index) => {
      return {
        name: names[index] ?? '',
        type: typeName(type),
        ...(counts[index] === true && { isCount: true as const }),
      }
    })
    const facets = facetsOf(sighting.root)
    const tables = [...sighting.tables].sort()
    return { tables, columnsByTable: columnsByTable(sighting, catalog), slots, columns, facets }
  })
}

/** DuckDB's plan of a statement, as it draws it and step by step. */
export async function explainSql(
  instance: Instance,
  call: Cancellable,
  input: { sql: string; slots: SlotValue[] },
): Promise<EnginePlan> {
  const slots = bindableSlots(input.slots)
  const { sql } = await planFor(instance, call, { sql: input.sql, slots })
  return withConnection(instance, call, async ({ connection }) => {
    const explain = (form: string): Promise<string> =>
      withStatement(connection, `EXPLAIN ${form} ${sql}`, async (statement) => {
        bindStatement(statement, slots)
        const rows = await (await statement.run()).getRows()
        return rows.map(([, text]) => String(text)).join('\n')
      })
    return { plan: await explain(''), steps: stepsOf(await explain('(FORMAT JSON)'), instance.catalog) }
  })
}

/** The types DuckDB itself found for slots, where the SQL leaves no doubt. */
function boundTypes(statement: DuckDBPreparedStatement): Map<string, SlotType> {
  const types = new Map<string, SlotType>()
  for (let index = 1; index <= statement.parameterCount; index += 1) {
    // Asking for the type of one that is still open throws.
    if (statement.parameterTypeId(index) === DuckDBTypeId.INVALID) continue
    const type = slotTypeOf(statement.parameterType(index))
    if (type !== undefined) types.set(statement.parameterName(index).toLowerCase(), type)
  }
  return types
}

function slotTypeOf(type: DuckDBType): SlotType | undefined {
  if (type instanceof DuckDBListType) {
    const item = slotTypeOf(type.valueType)
    return item === undefined || item.endsWith('[]') ? undefined : (`${item}[]` as SlotType)
  }
  return typesOfSlots.get(type.typeId)
}

const typesOfSlots = new Map<DuckDBTypeId, SlotType>([
  [DuckDBTypeId.BOOLEAN, 'boolean'],
  [DuckDBTypeId.TINYINT, 'integer'],
  [DuckDBTypeId.SMALLINT, 'integer'],
  [DuckDBTypeId.INTEGER, 'integer'],
  [DuckDBTypeId.BIGINT, 'integer'],
  [DuckDBTypeId.HUGEINT, 'integer'],
  [DuckDBTypeId.UTINYINT, 'integer'],
  [DuckDBTypeId.USMALLINT, 'integer'],
  [DuckDBTypeId.UINTEGER, 'integer'],
  [DuckDBTypeId.UBIGINT, 'integer'],
  [DuckDBTypeId.FLOAT, 'number'],
  [DuckDBTypeId.DOUBLE, 'number'],
  [DuckDBTypeId.DECIMAL, 'number'],
  [DuckDBTypeId.DATE, 'date'],
  [DuckDBTypeId.TIMESTAMP, 'timestamp'],
  [DuckDBTypeId.TIMESTAMP_TZ, 'timestamp'],
  [DuckDBTypeId.TIME, 'time'],
  [DuckDBTypeId.VARCHAR, 'string'],
])

/** Columns of each table that the statement names; all of them where it says `*`. */
function columnsByTable(sighting: Sighting, catalog: LocalCatalog): Record<string, string[]> {
  const named = new Set(sighting.columnRefs.map((parts) => (parts.at(-1) ?? '').toLowerCase()))
  const tables = catalog.tables.filter((table) => sighting.tables.has(table.name))
  return Object.fromEntries(
    tables.map(({ name, columns }) => {
      const used = columns.filter((column) => sighting.star || named.has(column.name.toLowerCase()))
      return [name, used.map((column) => column.name)]
    }),
  )
}
