import { prepare, type Instance, type OpenConnection } from '../instance/instances.ts'
import { inspectSql } from '../inspect/inspect.ts'
import type { Node } from '../instance/syntax-tree.ts'
import { isRowByRow, readsOneTable } from './row-by-row.ts'
import { shapeOf, type LookupShape } from './lookup-shape.ts'
import type { LookupCall } from '../socket/protocol.ts'
import { castOf } from '../instance/slots.ts'

type Found = {
  shape: LookupShape
  /** The rows of all keys: see `LookupShape.root`. */
  sql: string
  /** Whether rows that nothing sorts come in the same order at every execution. */
  isOrdered: boolean
}

/** The shape of a statement whose slots, but for those that are given, are NULL; or why it has none. */
export async function findShape(
  lease: OpenConnection,
  instance: Instance,
  { sql, slots, given }: Pick<LookupCall, 'sql' | 'slots' | 'given'>,
): Promise<Found | string> {
  const { tables } = await inspectSql(lease, instance, sql)
  const root = await parsed(lease, sql)
  const [tableName] = tables
  const table = instance.catalog.tables.find(({ name }) => name === tableName)
  if (root === undefined) return 'a number of too many digits'
  if (table === undefined || tables.size > 1 || !readsOneTable(root)) return 'more than rows of one table'
  const types = new Map(slots.map(({ name, type }) => [name.toLowerCase(), type]))
  const absent = new Map<string, Node>()
  for (const [name, type] of types) {
    if (given.some((each) => each.toLowerCase() === name)) continue
    const [cast] = ((await parsed(lease, `SELECT CAST(NULL AS ${castOf(type)})`))?.['select_list'] ?? []) as Node[]
    if (cast !== undefined) absent.set(name, cast)
  }
  const from = root['from_table'] as Node
  const calledAs = String(from['alias'] === '' ? from['table_name'] : from['alias'])
  const shape = shapeOf(withNulls(root, absent) as Node, { columns: table.columns, calledAs, slots: types })
  if (typeof shape === 'string') return shape
  if (!(await isRowByRow(shape.root))) return 'a function that may give something else each time'
  const text = await printed(lease, shape.root)
  const again = text === null ? undefined : await parsed(lease, text)
  // A value that does not come back as it was written may mean something else.
  if (text === null || JSON.stringify(again) !== JSON.stringify(shape.root)) return 'syntax that cannot be written down'
  // The engine may look rows that are past up in either direction.
  return { shape, sql: text, isOrdered: table.parted?.parts.every(({ hasPast }) => !hasPast) ?? true }
}

function withNulls(value: unknown, absent: ReadonlyMap<string, Node>): unknown {
  if (Array.isArray(value)) return value.map((item) => withNulls(item, absent))
  if (typeof value !== 'object' || value === null) return value
  const node = value as Node
  const slot = node['class'] === 'PARAMETER' ? absent.get(String(node['identifier']).toLowerCase()) : undefined
  if (slot !== undefined) return { ...slot, alias: node['alias'] }
  return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, withNulls(child, absent)]))
}

/** The syntax tree without places in the text; undefined where it holds a number that JavaScript cannot. */
async function parsed(lease: OpenConnection, sql: string): Promise<Node | undefined> {
  const text = await scalar(lease, 'SELECT json_serialize_sql(CAST($value AS VARCHAR))::VARCHAR', sql)
  let isExact = true
  const answer = JSON.parse(text ?? '{}', (key, value: unknown) => {
    if (key === 'query_location') return 0
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) isExact = false
    return value
  }) as { statements?: Node[] }
  const [only, ...others] = answer.statements ?? []
  return others.length > 0 || !isExact ? undefined : (only?.['node'] as Node | undefined)
}

async function printed(lease: OpenConnection, root: Node): Promise<string | null> {
  const tree = JSON.stringify({ error: false, statements: [{ node: root, named_param_map: [] }] })
  return scalar(lease, 'SELECT json_deserialize_sql(CAST($value AS JSON))', tree)
}

async function scalar(lease: OpenConnection, sql: string, value: string): Promise<string | null> {
  const statement = await prepare(lease, sql)
  statement.bindVarchar(1, value)
  const found = (await statement.run()).getChunk(0).getColumnVector(0).getItem(0)
  return typeof found === 'string' ? found : null
}
