import type { Node, Sighting } from './inspect.ts'
import type { Catalog, SlotType } from './protocol.ts'

/**
 * The type of a slot from its neighbours in the syntax tree, where DuckDB's binder leaves it open, as in
 * `$region IS NULL OR region = $region`.
 */
export function suggestType(sighting: Sighting, catalog: Catalog, slot: string): SlotType {
  return neighbourType(sighting.root, { slot, typeOf: (name) => columnType(sighting, catalog, name) }) ?? 'string'
}

type Search = { slot: string; typeOf: (column: string) => SlotType | undefined }

function neighbourType(value: unknown, search: Search): SlotType | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const children = Object.values(value as Node)
  if (!Array.isArray(value)) {
    const found = typeHere(value as Node, search)
    if (found !== undefined) return found
  }
  for (const child of children) {
    const found = neighbourType(child, search)
    if (found !== undefined) return found
  }
  return undefined
}

function typeHere(node: Node, search: Search): SlotType | undefined {
  if (node['type'] === 'LIMIT_MODIFIER' && [node['limit'], node['offset']].some((part) => isSlot(part, search.slot)))
    return 'integer'
  if (node['class'] === 'CAST' && isSlot(node['child'], search.slot)) return castType(node['cast_type'] as Node)
  if (node['class'] === 'SUBQUERY' && node['subquery_type'] === 'ANY') return anyType(node, search)
  const operands = operandsOf(node)
  if (!operands.some((operand) => isSlot(operand, search.slot))) return undefined
  for (const operand of operands) {
    const type = operandType(operand, search)
    if (type !== undefined) return node['function_name'] === 'contains' ? (`${type}[]` as SlotType) : type
  }
  return undefined
}

function operandType(operand: unknown, search: Search): SlotType | undefined {
  const names = (operand as Node | null)?.['column_names']
  return Array.isArray(names) ? search.typeOf(String(names.at(-1))) : undefined
}

/** `column = ANY($slot)`, which the parser writes as a subquery over `unnest($slot)`. */
function anyType(node: Node, search: Search): SlotType | undefined {
  const type = operandType(node['child'], search)
  const query = (node['subquery'] as Node | null)?.['node'] as Node | undefined
  const [only] = (query?.['select_list'] ?? []) as Node[]
  const isOurs = only !== undefined && operandsOf(only).some((operand) => isSlot(operand, search.slot))
  return isOurs && type !== undefined ? (`${type}[]` as SlotType) : undefined
}

/** `$slot::TYPE` and `$slot::TYPE[]`. */
function castType(type: Node): SlotType | undefined {
  if (type['id'] !== 'LIST') return slotTypeOfColumn(String(type['id']))
  const child = (type['type_info'] as Node | null)?.['child_type'] as Node | undefined
  return child === undefined ? undefined : (`${slotTypeOfColumn(String(child['id']))}[]` as SlotType)
}

/** The sides of a comparison, of BETWEEN, IN, LIKE and of calls with two arguments. */
function operandsOf(node: Node): unknown[] {
  if (node['class'] === 'COMPARISON') return [node['left'], node['right']]
  if (node['class'] === 'BETWEEN') return [node['input'], node['lower'], node['upper']]
  const children = node['children']
  return Array.isArray(children) && (node['class'] === 'OPERATOR' || node['class'] === 'FUNCTION') ? children : []
}

function isSlot(value: unknown, slot: string): boolean {
  if (typeof value !== 'object' || value === null) return false
  const node = value as Node
  return node['class'] === 'PARAMETER' && String(node['identifier']).toLowerCase() === slot
}

function columnType(sighting: Sighting, catalog: Catalog, name: string): SlotType | undefined {
  const tables = catalog.tables.filter((table) => sighting.tables.has(table.name))
  const column = tables
    .flatMap((table) => table.columns)
    .find((known) => known.name.toLowerCase() === name.toLowerCase())
  return column === undefined ? undefined : slotTypeOfColumn(column.type)
}

function slotTypeOfColumn(type: string): SlotType {
  if (/^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type)) return 'integer'
  if (/^(DOUBLE|FLOAT|DECIMAL)/.test(type)) return 'number'
  if (type.startsWith('TIMESTAMP')) return 'timestamp'
  if (type === 'DATE') return 'date'
  return type === 'BOOLEAN' ? 'boolean' : 'string'
}
