import { closest } from '../../failure.ts'
import { allowedFunctions, tableFunctions } from './functions.ts'
import { prepare, type Lease } from './instances.ts'
import type { Catalog } from './protocol.ts'
import { charOffset, sqlFailure } from './sql-failure.ts'

/** A node of the syntax tree as `json_serialize_sql` writes it. */
export type Node = { [key: string]: unknown }

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export type Sighting = { tables: Set<string>; slots: Set<string>; columnRefs: string[][]; star: boolean; root: Node }

/** Text beyond this is no query; the parser's own recursion is bounded by it. */
const sqlCharsMax = 100_000
const noLocation = 2 ** 53

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

/**
 * Proves that `sql` is one SELECT over tables of the catalog that calls only allowed functions, or says where it is
 * not. It looks at the syntax tree, so no spelling, comment or quoting can hide a call.
 */
export async function inspectSql(lease: Lease, catalog: Catalog, sql: string): Promise<Sighting> {
  if (sql.length > sqlCharsMax) throw sqlFailure(sql, `The SQL is longer than ${sqlCharsMax} characters.`)
  if (sql.includes('\0')) throw sqlFailure(sql, 'The SQL contains a NUL character.', sql.indexOf('\0'))
  const root = await parse(lease, sql)
  const sighting: Sighting = { tables: new Set(), slots: new Set(), columnRefs: [], star: false, root }
  const functions = await allowedFunctions()
  const tables = new Map(catalog.tables.map((table) => [table.name.toLowerCase(), table.name]))
  visit(root, { sql, tables, functions, sighting }, new Set())
  return sighting
}

async function parse(lease: Lease, sql: string): Promise<Node> {
  const statement = await prepare(lease, 'SELECT json_serialize_sql(CAST($sql AS VARCHAR))')
  statement.bindVarchar(1, sql)
  const result = await statement.run()
  const parsed = JSON.parse(String(result.getChunk(0).getColumnVector(0).getItem(0))) as Node
  if (parsed['error'] === true) {
    const message = String(parsed['error_message'])
    const position = Number(parsed['position'])
    const onlySelect = /only select statements/i.test(message)
    throw sqlFailure(
      sql,
      onlySelect ? 'Only a SELECT can be a query.' : `${message}.`,
      onlySelect ? 0 : Number.isInteger(position) ? charOffset(sql, position) : sql.trimEnd().length,
    )
  }
  const statements = parsed['statements'] as Node[]
  const [only] = statements
  if (statements.length !== 1 || only === undefined) throw sqlFailure(sql, 'A query is exactly one statement.')
  return only['node'] as Node
}

type Visit = { sql: string; tables: Map<string, string>; functions: Set<string>; sighting: Sighting }

/** `visible` holds the names of the common table expressions that a table name may mean at this place. */
function visit(value: unknown, context: Visit, visible: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, context, visible)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const node = value as Node
  let inner = visible
  if ('cte_map' in node) inner = visitQueryNode(node, context, visible)
  else if ('sample' in node && !('class' in node)) visitTableRef(node, context, visible)
  else if (typeof node['class'] === 'string') visitExpression(node, context)
  for (const [key, child] of Object.entries(node)) if (key !== 'cte_map') visit(child, context, inner)
}

function visitQueryNode(node: Node, context: Visit, visible: Set<string>): Set<string> {
  if (!queryNodes.has(String(node['type']))) throw sqlFailure(context.sql, 'Only a SELECT can be a query.')
  const inner = new Set(visible)
  if (typeof node['cte_name'] === 'string') inner.add(node['cte_name'].toLowerCase())
  const { map = [] } = (node['cte_map'] ?? {}) as { map?: { key: string; value: Node }[] }
  for (const { key, value } of map) {
    visit(value, context, inner)
    inner.add(key.toLowerCase())
  }
  return inner
}

function visitTableRef(node: Node, context: Visit, visible: Set<string>): void {
  const type = String(node['type'])
  const at = locationOf(node, context.sql)
  if (type === 'SHOW_REF') throw sqlFailure(context.sql, 'SHOW, DESCRIBE and SUMMARIZE are not for queries.', at)
  if (!tableRefs.has(type)) throw sqlFailure(context.sql, 'A query reads tables by their names.', at)
  if (type === 'TABLE_FUNCTION') {
    const name = textOf((node['function'] as Node | undefined)?.['function_name']).toLowerCase()
    if (!tableFunctions.has(name)) {
      throw sqlFailure(
        context.sql,
        `The table function ${name} is not for queries${perhaps(name, tableFunctions)}.`,
        at,
      )
    }
  }
  if (type === 'BASE_TABLE') visitTable(node, context, visible)
}

function visitTable(node: Node, context: Visit, visible: Set<string>): void {
  const { sql, tables, sighting } = context
  const given = String(node['table_name'])
  const at = locationOf(node, sql)
  if (node['schema_name'] !== '' || node['catalog_name'] !== '') {
    throw sqlFailure(sql, `Tables are named without a schema; ${given} has one.`, at)
  }
  if (node['at_clause'] !== null) throw sqlFailure(sql, 'AT is not for queries.', at)
  if (visible.has(given.toLowerCase())) return
  const table = tables.get(given.toLowerCase())
  if (table === undefined) {
    throw sqlFailure(sql, `There is no table ${given}${perhaps(given, [...tables.values(), ...visible])}.`, at)
  }
  sighting.tables.add(table)
}

function visitExpression(node: Node, context: Visit): void {
  const { sql, sighting } = context
  const kind = String(node['class'])
  const at = locationOf(node, sql)
  if (!expressionClasses.has(kind)) throw sqlFailure(sql, 'This expression is not for queries.', at)
  if (kind === 'COLUMN_REF') visitColumnRef(node, context)
  if (kind === 'STAR') sighting.star = true
  if (kind === 'PARAMETER') visitSlot(node, context)
  if (kind === 'CAST' && JSON.stringify(node['cast_type']).includes('AGGREGATE_STATE')) {
    throw sqlFailure(sql, 'States of aggregates are not for queries.', at)
  }
  if (kind === 'FUNCTION' || kind === 'WINDOW') visitFunction(node, context)
}

/** A name that is no column may still mean a function: `SELECT current_user`. */
function visitColumnRef(node: Node, { sql, sighting }: Visit): void {
  const names = node['column_names'] as string[]
  const [name = ''] = names
  if (names.length === 1 && /^(current_(user|role|catalog|schema|database|query)|session_user)$/i.test(name)) {
    throw sqlFailure(sql, `${name} is not for queries.`, locationOf(node, sql))
  }
  sighting.columnRefs.push(names)
}

function visitSlot(node: Node, { sql, sighting }: Visit): void {
  const name = String(node['identifier'])
  if (!/^[a-z][a-z0-9_]{0,62}$/i.test(name)) {
    const at = sql.indexOf(/^\d+$/.test(name) && !sql.includes(`$${name}`) ? '?' : `$${name}`)
    throw sqlFailure(sql, 'A slot is written as $name, with a name of letters, digits and underscores.', at)
  }
  sighting.slots.add(name.toLowerCase())
}

function visitFunction(node: Node, { sql, functions }: Visit): void {
  const name = String(node['function_name']).toLowerCase()
  const at = locationOf(node, sql)
  const schema = textOf(node['schema']) + textOf(node['catalog'])
  if (schema !== '' && schema !== 'main')
    throw sqlFailure(sql, `Functions are named without a schema; ${name} has one.`, at)
  if (node['export_state'] === true) throw sqlFailure(sql, 'States of aggregates are not for queries.', at)
  if (functions.has(name)) return
  throw sqlFailure(sql, `The function ${name} is not for queries${perhaps(name, functions)}.`, at)
}

function perhaps(given: string, known: Iterable<string>): string {
  const near = closest(given, known)
  return near === undefined ? '' : `; perhaps you meant ${near}`
}

function locationOf(node: Node, sql: string): number | undefined {
  const location = node['query_location']
  return typeof location === 'number' && location < noLocation ? charOffset(sql, location) : undefined
}
