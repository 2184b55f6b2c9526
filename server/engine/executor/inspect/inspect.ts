import { closest, perhaps } from '../../../failure.ts'
import { allowedFunctions, functionRefusal, tableFunctions } from './functions.ts'
import { prepare, type Instance, type OpenConnection } from '../instance/instances.ts'
import type { SqlLimits } from '../socket/protocol.ts'
import { charOffset, sqlFailure } from '../instance/sql-failure.ts'
import { tokenize } from '../instance/sql-tokens.ts'
import { foldName } from '../instance/sql-text.ts'
import type { Node } from '../instance/syntax-tree.ts'

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export type Sighting = {
  tables: Set<string>
  slots: Set<string>
  /** Slots that say how far LAG and LEAD look. */
  offsets: Set<string>
  columnRefs: string[][]
  star: boolean
  root: Node
}

const noLocation = 2 ** 53
/** How far LAG and LEAD may look. */
export const mostOffset = 1_000_000_000

const queryNodes = new Set(['SELECT_NODE', 'SET_OPERATION_NODE', 'RECURSIVE_CTE_NODE', 'CTE_NODE'])
const tableRefs = new Set([
  'BASE_TABLE',
  'SUBQUERY',
  'JOIN',
  'TABLE_FUNCTION',
  'EXPRESSION_LIST',
  'EMPTY_FROM',
  'EMPTY',
  'PIVOT',
])
const expressionClasses = new Set([
  'AGGREGATE',
  'BETWEEN',
  'CASE',
  'CAST',
  'COLLATE',
  'COLUMN_REF',
  'COMPARISON',
  'CONJUNCTION',
  'CONSTANT',
  'FUNCTION',
  'LAMBDA',
  'LAMBDA_REF',
  'OPERATOR',
  'PARAMETER',
  'POSITIONAL_REFERENCE',
  'STAR',
  'SUBQUERY',
  'WINDOW',
  'TYPE',
])

/** Names of the engine's own tables and views. Nothing in a query may be called so: it could hide one of them. */
const reservedName = /^(?:duckdb|pg|sqlite|pragma)_|^information_schema$/
/** A name that is no column may still mean a function. */
const valueFunction = /^(?:current_(?:user|role|catalog|schema|database|query)|session_user|user)$/

/**
 * Proves that `sql` is one SELECT over tables of the catalog that calls only allowed functions, or says where it is
 * not. It looks at the syntax tree, so no spelling, comment or quoting can hide a call.
 */
export async function inspectSql(
  lease: OpenConnection,
  { catalog, sqlLimits }: Instance,
  sql: string,
): Promise<Sighting> {
  if (sql.length > sqlLimits.chars) {
    throw sqlFailure(sql.slice(0, 100), `The SQL is longer than ${sqlLimits.chars} characters; make it shorter.`)
  }
  if (sql.includes('\0')) throw sqlFailure(sql, 'The SQL contains a NUL character.', sql.indexOf('\0'))
  const root = await parse(lease, sql)
  const sighting: Sighting = {
    tables: new Set(),
    slots: new Set(),
    offsets: new Set(),
    columnRefs: [],
    star: false,
    root,
  }
  const tables = new Map(catalog.tables.map((table) => [foldName(table.name), table.name]))
  const { others = [] } = catalog
  const context: Visit = { sql, tables, others, sighting, limits: sqlLimits, nodes: 0, valueFunctions: [] }
  visit(root, context, { scope: null, depth: 0 })
  const columns = catalog.tables.filter(({ name }) => sighting.tables.has(name)).flatMap((table) => table.columns)
  for (const node of context.valueFunctions) {
    const [name = ''] = node['column_names'] as string[]
    if (columns.some((column) => foldName(column.name) === foldName(name))) continue
    throw refuse(context, node, `${name} is not for queries.`)
  }
  return sighting
}

/** The syntax tree as the engine writes it, which it does for SELECT statements only. */
export async function parse(lease: OpenConnection, sql: string): Promise<Node> {
  const statement = await prepare(lease, 'SELECT json_serialize_sql(CAST($sql AS VARCHAR))')
  statement.bindVarchar(1, sql)
  const result = await statement.run()
  const parsed = JSON.parse(String(result.getChunk(0).getColumnVector(0).getItem(0))) as Node
  if (parsed['error'] === true) {
    const message = String(parsed['error_message'])
    const isOther = /only select statements/i.test(message)
    if ((isOther && isOpenPivot(sql)) || /^pivot statements with/i.test(message))
      throw sqlFailure(sql, pivotNeedsValues, 0)
    if (isOther) throw sqlFailure(sql, 'Only a SELECT can be a query.', 0)
    const position = Number(parsed['position'])
    throw sqlFailure(sql, `${message}.`, Number.isInteger(position) ? charOffset(sql, position) : sql.trimEnd().length)
  }
  const statements = parsed['statements'] as Node[]
  const [only] = statements
  if (statements.length !== 1 || only === undefined) throw sqlFailure(sql, 'A query is exactly one statement.')
  return only['node'] as Node
}

/** The engine runs a PIVOT without a list as two statements, the first of which creates a type. */
const pivotNeedsValues =
  "PIVOT has to list the values that become columns, as in PIVOT orders ON region IN ('north', 'south') USING sum(amount). Without the list the columns would change with the data."

function isOpenPivot(sql: string): boolean {
  const words = tokenize(sql).flatMap(({ kind, text }) => (kind === 'word' ? [text.toLowerCase()] : []))
  return words.includes('pivot') && ['select', 'with', 'from', 'pivot'].includes(words[0] ?? '')
}

type Visit = {
  sql: string
  tables: Map<string, string>
  others: string[]
  sighting: Sighting
  limits: SqlLimits
  nodes: number
  /** Names that mean a function where no table that is read has such a column. */
  valueFunctions: Node[]
}

/** The names of common table expressions, innermost first: one of a subquery is unknown outside of it. */
type Scope = { name: string; outer: Scope | null }
type Position = { scope: Scope | null; depth: number }

function visit(value: unknown, context: Visit, place: Position): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, context, place)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const node = value as Node
  if ('cte_map' in node) {
    visitQueryNode(node, context, counted(context, node, place))
    return
  }
  let inner = place
  if ('sample' in node && !('class' in node)) {
    inner = counted(context, node, place)
    visitTableRef(node, context, inner)
  } else if (typeof node['class'] === 'string') {
    inner = counted(context, node, place)
    visitExpression(node, context)
  }
  for (const child of Object.values(node)) if (typeof child === 'object') visit(child, context, inner)
}

/** Inspecting, binding and planning take time and stack by the size of a statement, so it has a limit. */
function counted(context: Visit, node: Node, { scope, depth }: Position): Position {
  const { nodes, levels } = context.limits
  context.nodes += 1
  if (context.nodes > nodes) {
    throw refuse(context, node, `The SQL has more than ${nodes} parts; put long lists into a table or a list slot.`)
  }
  if (depth >= levels) {
    throw refuse(context, node, `The SQL is nested deeper than ${levels} levels; write it in fewer steps.`)
  }
  return { scope, depth: depth + 1 }
}

/** A common table expression is known to those after it and to the query itself, a recursive one also on its right. */
function visitQueryNode(node: Node, context: Visit, { scope, depth }: Position): void {
  if (!queryNodes.has(String(node['type']))) throw sqlFailure(context.sql, 'Only a SELECT can be a query.')
  let inner = scope
  const { map = [] } = (node['cte_map'] ?? {}) as { map?: { key: string; value: Node }[] }
  for (const { key, value } of map) {
    refuseReserved(key, node, context)
    visit(value, context, { scope: inner, depth })
    inner = { name: foldName(key), outer: inner }
  }
  const isRecursive = node['type'] === 'RECURSIVE_CTE_NODE'
  for (const [key, child] of Object.entries(node)) {
    if (key === 'cte_map') continue
    const own = isRecursive && key === 'right' ? { name: foldName(textOf(node['cte_name'])), outer: inner } : inner
    visit(child, context, { scope: own, depth })
  }
}

function isVisible(name: string, scope: Scope | null): boolean {
  for (let at = scope; at !== null; at = at.outer) if (at.name === name) return true
  return false
}

function refuseReserved(name: string, node: Node, context: Visit): void {
  if (!reservedName.test(foldName(name))) return
  throw refuse(context, node, `${name} is a name of the engine's own; choose another.`)
}

function visitTableRef(node: Node, context: Visit, place: Position): void {
  const type = String(node['type'])
  if (type === 'SHOW_REF') throw refuse(context, node, 'SHOW, DESCRIBE and SUMMARIZE are not for queries.')
  if (!tableRefs.has(type)) throw refuse(context, node, 'A query reads tables by their names.')
  refuseReserved(textOf(node['alias']), node, context)
  if (type === 'TABLE_FUNCTION') {
    const name = foldName(textOf((node['function'] as Node | undefined)?.['function_name']))
    if (!tableFunctions.has(name)) {
      throw refuse(context, node, `The table function ${name} is not for queries${perhaps(name, tableFunctions)}.`)
    }
  }
  if (type === 'BASE_TABLE') visitTable(node, context, place.scope)
}

function visitTable(node: Node, context: Visit, scope: Scope | null): void {
  const { tables, others, sighting } = context
  const given = String(node['table_name'])
  if (node['schema_name'] !== '' || node['catalog_name'] !== '') {
    throw refuse(context, node, `Tables are named without a schema; ${given} has one.`)
  }
  if (node['at_clause'] !== null) throw refuse(context, node, 'AT is not for queries.')
  if (isVisible(foldName(given), scope)) return
  const table = tables.get(foldName(given))
  if (table === undefined) {
    const known = [...tables.values(), ...others, ...namesIn(scope)]
    throw refuse(context, node, `There is no table ${given}${perhaps(given, known)}.`)
  }
  sighting.tables.add(table)
}

function* namesIn(scope: Scope | null): Generator<string> {
  for (let at = scope; at !== null; at = at.outer) yield at.name
}

function visitExpression(node: Node, context: Visit): void {
  const { sighting } = context
  const kind = String(node['class'])
  if (!expressionClasses.has(kind)) throw refuse(context, node, 'This expression is not for queries.')
  if (kind === 'COLUMN_REF') {
    const names = node['column_names'] as string[]
    if (names.length === 1 && valueFunction.test(foldName(names[0] ?? ''))) context.valueFunctions.push(node)
    sighting.columnRefs.push(names)
  }
  if (kind === 'STAR') sighting.star = true
  if (kind === 'PARAMETER') visitSlot(node, context)
  if (kind === 'CAST') visitCast(node, context)
  if (kind === 'FUNCTION' || kind === 'WINDOW') visitFunction(node, context)
  if (kind === 'WINDOW') visitWindow(node, context)
}

const mostItems = 100_000

/** The engine reads far outside of its rows where an offset has no opposite. */
function visitWindow(node: Node, context: Visit): void {
  const offset = node['offset_expr'] as Node | null | undefined
  if (offset === null || offset === undefined) return
  if (offset['class'] === 'PARAMETER') {
    context.sighting.offsets.add(String(offset['identifier']).toLowerCase())
    return
  }
  const { value } = (offset['value'] ?? {}) as { value?: unknown }
  if (offset['class'] === 'CONSTANT' && Math.abs(Number(value)) <= mostOffset) return
  const name = String(node['function_name'])
  throw refuse(context, node, `The offset of ${name} is a slot, or a number of at most ${mostOffset}.`)
}

/** Items of an array whose length is part of its type: the engine makes room for all of them, of a NULL too. */
function itemsOf(type: unknown): number {
  if (typeof type !== 'object' || type === null) return 1
  const { size, ...parts } = type as { size?: unknown }
  return (typeof size === 'number' ? size : 1) * Math.max(1, ...Object.values(parts).map(itemsOf))
}

/** A deeply nested value on its way to VARIANT ends the process. */
function visitCast(node: Node, context: Visit): void {
  const type = JSON.stringify(node['cast_type'])
  if (itemsOf(node['cast_type']) > mostItems) {
    throw refuse(context, node, `An array of more than ${mostItems} items is not for queries; use a list.`)
  }
  if (type.includes('AGGREGATE_STATE')) throw refuse(context, node, 'States of aggregates are not for queries.')
  if (/"VARIANT"/i.test(type)) throw refuse(context, node, 'The type VARIANT is not for queries; use JSON.')
}

function visitSlot(node: Node, { sql, sighting }: Visit): void {
  const name = String(node['identifier'])
  if (!/^[a-z][a-z0-9_]{0,62}$/i.test(name)) {
    const at = sql.indexOf(/^\d+$/.test(name) && !sql.includes(`$${name}`) ? '?' : `$${name}`)
    throw sqlFailure(sql, 'A slot is written as $name, with a name of letters, digits and underscores.', at)
  }
  sighting.slots.add(name.toLowerCase())
}

function visitFunction(node: Node, context: Visit): void {
  const name = foldName(String(node['function_name']))
  const schema = textOf(node['schema']) + textOf(node['catalog'])
  if (schema !== '' && schema !== 'main')
    throw refuse(context, node, `Functions are named without a schema; ${name} has one.`)
  if (node['export_state'] === true) throw refuse(context, node, 'States of aggregates are not for queries.')
  if (allowedFunctions.has(name)) return
  const near = closest(name, allowedFunctions)
  const why = near === undefined ? `: it ${functionRefusal(name)}` : `; perhaps you meant ${near}`
  throw refuse(context, node, `The function ${name} is not for queries${why}.`)
}

/** Where a node stands is looked for only when it is refused: it takes as long as the text before it. */
function refuse({ sql }: Visit, node: Node, message: string): Error {
  const location = node['query_location']
  return sqlFailure(
    sql,
    message,
    typeof location === 'number' && location < noLocation ? charOffset(sql, location) : undefined,
  )
}
