import { scalarFunctions } from '../../engine/executor/inspect/functions.ts'
import type { Node, Sighting } from '../../engine/executor/inspect/inspect.ts'
import type { Instance, OpenConnection } from '../../engine/executor/instance/instances.ts'
import type { LocalTable } from '../../engine/executor/socket/protocol.ts'
import { foldName, quoteName, quoteText, tokenize, type Token } from '../../engine/executor/instance/sql-tokens.ts'

/**
 * A statement that finds at most one row, by a key that has an index. Each execution costs far more than finding a row,
 * so calls that wait together are answered by one: `id = $id` becomes `id IN (…)`.
 */
export type Lookup = {
  slot: string
  /** What the slot must be cast to for the index to serve it. */
  cast: string
  /** Rows of several keys: the key first, then the author's columns. */
  sqlOf: (keys: string) => string
}

/** The lookup that `sql` is, or null for everything else. */
export async function findLookup(
  lease: OpenConnection,
  { catalog }: Instance,
  { sql, sighting, casts }: { sql: string; sighting: Sighting; casts: Map<string, string> },
): Promise<Lookup | null> {
  const { root } = sighting
  const [slot] = sighting.slots
  const [tableName] = sighting.tables
  if (slot === undefined || tableName === undefined || sighting.slots.size > 1 || !isPlainSelect(root)) return null
  const place = catalog.tables.findIndex((table) => table.name === tableName)
  const table = catalog.tables[place]
  const key = table === undefined ? undefined : keyOf(root, table)
  const cast = casts.get(slot)
  if (key === undefined || key.type !== cast) return null
  const copy = copyWithKey(table, place, key.column)
  if (copy === null || !(await isIndexed(lease, copy, key.column)) || !(await isRowByRow(root))) return null
  const around = cutAround(sql, slot)
  if (around === null) return null
  const { head, middle, tail } = around
  return { slot, cast, sqlOf: (keys) => `${head} ${key.text}, ${middle} IN (${keys}) ${tail}` }
}

function isPlainSelect(root: Node): boolean {
  return readsOneTable(root) && (root['modifiers'] as Node[]).every(isHarmless)
}

/** One table, filtered: nothing that looks at more than one row at a time, but for the order and number of rows. */
export function readsOneTable(root: Node): boolean {
  const from = root['from_table'] as Node | undefined
  const ctes = root['cte_map'] as { map: unknown[] } | undefined
  return (
    root['type'] === 'SELECT_NODE' &&
    ctes?.map.length === 0 &&
    from?.['type'] === 'BASE_TABLE' &&
    from['sample'] === null &&
    isEmpty(from['column_name_alias']) &&
    isEmpty(root['group_expressions']) &&
    ['having', 'qualify', 'sample'].every((part) => root[part] === null) &&
    root['aggregate_handling'] === 'STANDARD_HANDLING'
  )
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** A key finds one row at most, so a LIMIT of one or more changes nothing. */
function isHarmless(modifier: Node): boolean {
  const limit = modifier['limit'] as { class?: string; value?: Node } | null
  const count = limit?.value?.['value']
  return (
    modifier['type'] === 'LIMIT_MODIFIER' &&
    modifier['offset'] === null &&
    limit?.class === 'CONSTANT' &&
    typeof count === 'number' &&
    count >= 1
  )
}

/** The column that the slot is compared with, in a condition that every row must meet. */
function keyOf(root: Node, table: LocalTable): { column: string; type: string; text: string } | undefined {
  const where = root['where_clause'] as Node | null
  const conditions = where?.['type'] === 'CONJUNCTION_AND' ? (where['children'] as Node[]) : [where]
  const from = root['from_table'] as Node
  const tableName = foldName(String(from['alias'] === '' ? from['table_name'] : from['alias']))
  for (const condition of conditions) {
    if (condition?.['type'] !== 'COMPARE_EQUAL') continue
    const { left, right } = condition as { left: Node; right: Node }
    if (left['class'] !== 'COLUMN_REF' || right['class'] !== 'PARAMETER') continue
    const names = left['column_names'] as string[]
    const [column = '', ...qualifiers] = names.toReversed()
    // `a.b` may also be a field of a struct: only the table's own name in front leaves no doubt.
    if (qualifiers.length > 1 || qualifiers.some((name) => foldName(name) !== tableName)) continue
    const found = table.columns.find(({ name }) => foldName(name) === foldName(column))
    if (found !== undefined) return { column: found.name, type: found.type, text: names.map(quoteName).join('.') }
  }
  return undefined
}

/**
 * The copy whose index on a column tells that all values of the table differ in it: that of its one file, or of its first
 * part where the column alone is the key by which further parts were merged.
 */
function copyWithKey(table: LocalTable | undefined, place: number, column: string): string | null {
  const { parted } = table ?? {}
  if (parted === undefined) return `native_${place}`
  const isKey = parted.key?.length === 1 && foldName(parted.key[0] ?? '') === foldName(column)
  return isKey || (parted.parts.length === 1 && parted.pastPath === undefined) ? `native_${place}_0` : null
}

/** Our own copies have an index on a column only where all its values differ. */
async function isIndexed(lease: OpenConnection, copy: string, column: string): Promise<boolean> {
  const result = await lease.connection.run(
    `SELECT expressions FROM duckdb_indexes() WHERE database_name = '${copy}' AND table_name = 'data'`,
  )
  const shown = new Set([`[${column}]`, `[${quoteText(quoteName(column))}]`])
  return (await result.getRows()).some(([expressions]) => shown.has(String(expressions)))
}

/** True where no expression sees other rows, has effects or differs from one time to the next. */
export async function isRowByRow(root: Node): Promise<boolean> {
  const scalars = await scalarFunctions()
  const check = (value: unknown): boolean => {
    if (Array.isArray(value)) return value.every(check)
    if (typeof value !== 'object' || value === null) return true
    const node = value as Node
    if (['SUBQUERY', 'WINDOW', 'POSITIONAL_REFERENCE'].includes(String(node['class']))) return false
    if (node['class'] === 'FUNCTION' && !scalars.has(foldName(String(node['function_name'])))) return false
    return Object.values(node).every(check)
  }
  return check(root)
}

/** The text before the select list, up to `= $slot`, and after it; a LIMIT at the end is left out. */
function cutAround(sql: string, slot: string): { head: string; middle: string; tail: string } | null {
  const tokens = tokenize(sql)
  const at = tokens.findIndex((token) => token.kind === 'slot')
  const [first, equals, before, found] = [tokens[0], tokens[at - 1], tokens[at - 2], tokens[at]]
  if (found === undefined || first === undefined || equals === undefined) return null
  const isOnce = tokens.filter((token) => token.kind === 'slot').length === 1
  const isPlain = first.text.toLowerCase() === 'select' && equals.text === '=' && before?.kind !== 'symbol'
  if (!isOnce || !isPlain || found.text.slice(1).toLowerCase() !== slot) return null
  const end = endBeforeLimit(tokens)
  return {
    head: sql.slice(0, first.start + first.text.length),
    middle: sql.slice(first.start + first.text.length, equals.start),
    tail: sql.slice(found.start + found.text.length, end),
  }
}

function endBeforeLimit(tokens: Token[]): number | undefined {
  const limit = tokens.findLast((token) => token.kind === 'word' && token.text.toLowerCase() === 'limit')
  const isLast = limit !== undefined && tokens.indexOf(limit) >= tokens.length - 3
  return isLast ? limit.start : undefined
}
