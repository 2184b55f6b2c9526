import { keyColumns } from './lookup-layout.ts'
import type { Column, SlotType } from '../socket/protocol.ts'
import { foldName } from '../instance/sql-text.ts'
import { everyNode, nodesIn, type Node } from '../instance/syntax-tree.ts'

/**
 * A statement whose answers can be written down for every key: rows of one table, found by columns that equal slots,
 * each row by itself, in an order and up to a number.
 */
export type LookupShape = {
  /** Which slot each of the key's columns equals. */
  keys: Array<{ slot: string; type: SlotType }>
  /** How rows of one key are sorted, as it stands behind an expression: `DESC NULLS LAST`. */
  orders: string[]
  /** How many rows of a key are answered at most. */
  most: number
  /** The slot that says so instead. */
  limit: string | null
  /** The rows of all keys: the author's columns, then those of the key, then what they are sorted by. */
  root: Node
}

/** Facts about a statement beside its tree: the columns it can read, and the types of its slots. */
export type LookupFacts = { columns: Column[]; calledAs: string; slots: ReadonlyMap<string, SlotType> }

/**
 * The shape of a statement in which slots that are not given have become NULL already; or why it has none. What is not
 * known to give the same rows has none.
 */
export function shapeOf(root: Node, facts: LookupFacts): LookupShape | string {
  const { keys, rest } = splitWhere(root, facts)
  if (keys.length === 0) return 'no column equals a slot'
  const modifiers = modifiersOf(root)
  if (modifiers === undefined) return 'more than an order and a limit'
  const most = limitOf(modifiers.limit, facts)
  if (most === undefined) return 'a limit that is no number'
  const sorting = sortingOf(root, modifiers.orders, facts)
  if (sorting === undefined) return 'an order that is no column of the table or of the answer'
  const bare = { ...root, modifiers: [], where_clause: conjunction(root, rest) }
  if (!isPlain([bare, sorting.map(({ by }) => by)], facts)) return 'a slot or a name that is no column'
  const added = [...keys.map(({ column }) => column), ...sorting.map(({ by }) => by)]
  return {
    keys: keys.map(({ slot, type }) => ({ slot, type })),
    orders: sorting.map(({ how }) => how),
    most: most.count,
    limit: most.slot,
    root: { ...bare, select_list: [...nodesIn(root['select_list']), ...added.map(withoutAlias)] },
  }
}

type Key = { slot: string; type: SlotType; column: Node }

/** Conditions that every row must meet: those that make the key, and the others. */
function splitWhere(root: Node, facts: LookupFacts): { keys: Key[]; rest: Node[] } {
  const keys: Key[] = []
  const rest: Node[] = []
  for (const condition of conditionsOf(root['where_clause'])) {
    const key = keyOf(condition, facts) ?? optionalKeyOf(condition, facts)
    if (key === undefined) rest.push(condition)
    else keys.push(key)
  }
  return { keys, rest }
}

function conditionsOf(where: unknown): Node[] {
  const node = where as Node | null
  if (node === null) return []
  return node['type'] === 'CONJUNCTION_AND' ? nodesIn(node['children']).flatMap(conditionsOf) : [node]
}

function conjunction(root: Node, conditions: Node[]): Node | null {
  const [first, ...others] = conditions
  if (first === undefined || others.length === 0) return first ?? null
  return { ...(root['where_clause'] as Node), children: conditions }
}

/** `column = $slot`, either way round. */
function keyOf(condition: Node, facts: LookupFacts): Key | undefined {
  if (condition['type'] !== 'COMPARE_EQUAL') return undefined
  const [left, right] = [condition['left'] as Node, condition['right'] as Node]
  return keyFrom(left, right, facts) ?? keyFrom(right, left, facts)
}

/** `($slot IS NULL OR column = $slot)`, of a slot that has a value. */
function optionalKeyOf(condition: Node, facts: LookupFacts): Key | undefined {
  const parts = nodesIn(condition['children'])
  if (condition['type'] !== 'CONJUNCTION_OR' || parts.length !== 2) return undefined
  const absent = parts.find((part) => part['type'] === 'OPERATOR_IS_NULL')
  const other = parts.find((part) => part !== absent)
  const [asked] = nodesIn(absent?.['children'])
  const key = other === undefined ? undefined : keyOf(other, facts)
  return key !== undefined && asked !== undefined && slotIn(asked, facts) === key.slot ? key : undefined
}

function keyFrom(columnSide: Node, slotSide: Node, facts: LookupFacts): Key | undefined {
  const column = columnOf(columnSide, facts)
  const slot = slotIn(slotSide, facts) ?? coalescedSlot(slotSide, column, facts)
  const type = slot === undefined ? undefined : facts.slots.get(slot)
  if (column === undefined || slot === undefined || type === undefined) return undefined
  return keyColumns[type]?.has(column.type) === true ? { slot, type, column: columnSide } : undefined
}

/** The cast of a slot of each type before it is compared; a cast of the author's to the same changes nothing. */
const ownCasts: Partial<Record<SlotType, string>> = {
  string: 'VARCHAR',
  integer: 'BIGINT',
  boolean: 'BOOLEAN',
  date: 'DATE',
  timestamp: 'TIMESTAMP',
}

function slotIn(node: Node, { slots }: LookupFacts): string | undefined {
  if (node['class'] === 'PARAMETER') return String(node['identifier']).toLowerCase()
  const child = node['child'] as Node | undefined
  if (node['class'] !== 'CAST' || node['try_cast'] === true || child?.['class'] !== 'PARAMETER') return undefined
  const slot = String(child['identifier']).toLowerCase()
  const type = slots.get(slot)
  const cast = node['cast_type'] as Node
  return type !== undefined && cast['type_info'] === null && cast['id'] === ownCasts[type] ? slot : undefined
}

/** `coalesce($slot, column)` beside that column: of a slot that has a value, the slot. */
function coalescedSlot(node: Node, column: { name: string } | undefined, facts: LookupFacts): string | undefined {
  const [first, second, ...others] = nodesIn(node['children'])
  if (node['type'] !== 'OPERATOR_COALESCE' || first === undefined || second === undefined) return undefined
  const isSame = column !== undefined && columnOf(second, facts)?.name === column.name
  return isSame && others.length === 0 ? slotIn(first, facts) : undefined
}

/** The column of the table that an expression is, and nothing else. */
function columnOf(node: Node, { columns, calledAs }: LookupFacts): Column | undefined {
  if (node['class'] !== 'COLUMN_REF') return undefined
  const [column = '', ...qualifiers] = (node['column_names'] as string[]).toReversed()
  // `a.b` may also be a field of a struct: only the table's own name in front leaves no doubt.
  if (qualifiers.length > 1 || qualifiers.some((each) => foldName(each) !== foldName(calledAs))) return undefined
  return named(columns, column)
}

function named(columns: Column[], name: string): Column | undefined {
  return columns.find((each) => foldName(each.name) === foldName(name))
}

function modifiersOf(root: Node): { orders: Node[]; limit: Node | null } | undefined {
  const modifiers = nodesIn(root['modifiers'])
  const order = modifiers.find(({ type }) => type === 'ORDER_MODIFIER')
  const limit = modifiers.find(({ type }) => type === 'LIMIT_MODIFIER')
  if (modifiers.some((each) => each !== order && each !== limit)) return undefined
  if (limit !== undefined && limit['offset'] !== null) return undefined
  return { orders: nodesIn(order?.['orders']), limit: (limit?.['limit'] ?? null) as Node | null }
}

function limitOf(limit: Node | null, facts: LookupFacts): { count: number; slot: string | null } | undefined {
  if (limit === null) return { count: Number.POSITIVE_INFINITY, slot: null }
  const slot = slotIn(limit, facts)
  if (slot !== undefined) {
    return facts.slots.get(slot) === 'integer' ? { count: Number.POSITIVE_INFINITY, slot } : undefined
  }
  const held = limit['class'] === 'CONSTANT' ? (limit['value'] as Node)['value'] : undefined
  return typeof held === 'number' && Number.isSafeInteger(held) && held >= 0 ? { count: held, slot: null } : undefined
}

type Sorting = { by: Node; how: string }

/** The order of rows, in terms of the table: a name in ORDER BY means a column of the answer first. */
function sortingOf(root: Node, orders: Node[], facts: LookupFacts): Sorting[] | undefined {
  const list = nodesIn(root['select_list'])
  const isChanged = list.some((item) => item['class'] === 'STAR' && !isPlainStar(item))
  if (orders.length > 0 && isChanged) return undefined
  const found = orders.map((order): Sorting | undefined => {
    const by = sortedBy(order['expression'] as Node, list, facts)
    const direction = directions.get(String(order['type']))
    const nulls = nullOrders.get(String(order['null_order']))
    return by === undefined || direction === undefined || nulls === undefined
      ? undefined
      : { by, how: `${direction} ${nulls}`.trim() }
  })
  return found.includes(undefined) ? undefined : found.filter((each) => each !== undefined)
}

const directions = new Map([
  ['ORDER_DEFAULT', ''],
  ['ASCENDING', 'ASC'],
  ['DESCENDING', 'DESC'],
])
const nullOrders = new Map([
  ['ORDER_DEFAULT', ''],
  ['NULLS FIRST', 'NULLS FIRST'],
  ['NULLS LAST', 'NULLS LAST'],
])

function isPlainStar(star: Node): boolean {
  const isBare = ['replace_list', 'rename_list'].every((part) => nodesIn(star[part]).length === 0)
  return isBare && star['columns'] === false && star['expr'] === null
}

function sortedBy(expression: Node, list: Node[], facts: LookupFacts): Node | undefined {
  if (expression['class'] === 'CONSTANT') return itemAt(expression, list)
  if (expression['class'] !== 'COLUMN_REF') return undefined
  const names = expression['column_names'] as string[]
  const aliased = list.filter((item) => names.length === 1 && isCalled(item, names[0] ?? ''))
  if (aliased.length > 1) return undefined
  const [item] = aliased
  if (item !== undefined) return item
  return columnOf(expression, facts) === undefined ? undefined : expression
}

function isCalled(item: Node, name: string): boolean {
  return item['alias'] !== '' && foldName(String(item['alias'])) === foldName(name)
}

/** `ORDER BY 2`: how many columns a star has is not counted here. */
function itemAt(constant: Node, list: Node[]): Node | undefined {
  const { type, value } = constant['value'] as { type: { id: string }; value: unknown }
  if (!['INTEGER', 'BIGINT'].includes(type.id) || typeof value !== 'number') return undefined
  return list.slice(0, value).some((item) => item['class'] === 'STAR') ? undefined : list[value - 1]
}

/** No slot is left, and no name that may mean more than a column, such as `current_date`. */
function isPlain(tree: unknown, facts: LookupFacts): boolean {
  return everyNode(tree).every((node) => {
    if (node['class'] === 'PARAMETER' || node['class'] === 'COLLATE' || node['class'] === 'LAMBDA') return false
    return node['class'] !== 'COLUMN_REF' || isColumn(node, facts)
  })
}

/** A column, or a field of one. */
function isColumn(node: Node, facts: LookupFacts): boolean {
  const [first = '', ...fields] = node['column_names'] as string[]
  return columnOf(node, facts) !== undefined || (fields.length > 0 && named(facts.columns, first) !== undefined)
}

function withoutAlias(node: Node): Node {
  return { ...node, alias: '' }
}
