import type { Sighting } from './inspect.ts'
import type { LocalCatalog, SlotType } from '../socket/protocol.ts'
import { foldName } from '../instance/sql-text.ts'
import { everyNode, type Node } from '../instance/syntax-tree.ts'

/**
 * The types of slots from their neighbours in the syntax tree, where DuckDB's binder leaves them open, as in
 * `$region IS NULL OR region = $region`. The first neighbour that has a type decides.
 */
export function suggestTypes(sighting: Sighting, catalog: LocalCatalog): Map<string, SlotType> {
  const types: Types = { found: new Map(), ofColumns: columnTypes(sighting, catalog) }
  for (const node of everyNode(sighting.root)) noteTypes(node, types)
  return types.found
}

type Types = { found: Map<string, SlotType>; ofColumns: Map<string, SlotType> }

function noteTypes(node: Node, types: Types): void {
  const note = (operand: unknown, type: SlotType | undefined): void => {
    const slot = slotOf(operand)
    if (slot !== undefined && type !== undefined && !types.found.has(slot)) types.found.set(slot, type)
  }
  if (node['type'] === 'LIMIT_MODIFIER') [node['limit'], node['offset']].forEach((part) => note(part, 'integer'))
  else if (node['class'] === 'CAST') note(node['child'], castType(node['cast_type'] as Node))
  else if (node['class'] === 'SUBQUERY' && node['subquery_type'] === 'ANY') {
    const type = operandType(node['child'], types)
    if (type !== undefined) unnested(node).forEach((operand) => note(operand, `${type}[]` as SlotType))
  } else {
    const operands = operandsOf(node)
    const type = operands.map((operand) => operandType(operand, types)).find((each) => each !== undefined)
    if (type === undefined) return
    const seen = node['function_name'] === 'contains' ? (`${type}[]` as SlotType) : type
    for (const operand of operands) note(operand, seen)
  }
}

function operandType(operand: unknown, { ofColumns }: Types): SlotType | undefined {
  const names = (operand as Node | null)?.['column_names']
  return Array.isArray(names) ? ofColumns.get(foldName(String(names.at(-1)))) : undefined
}

/** The list of `column = ANY($slot)`, which the parser writes as a subquery over `unnest($slot)`. */
function unnested(node: Node): unknown[] {
  const query = (node['subquery'] as Node | null)?.['node'] as Node | undefined
  const [only] = (query?.['select_list'] ?? []) as Node[]
  return only === undefined ? [] : operandsOf(only)
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

function slotOf(value: unknown): string | undefined {
  const node = value as Node | null | undefined
  return node?.['class'] === 'PARAMETER' ? String(node['identifier']).toLowerCase() : undefined
}

/** The column among the tables that are read; where two have one of the same name, the first. */
function columnTypes(sighting: Sighting, catalog: LocalCatalog): Map<string, SlotType> {
  const columns = catalog.tables.filter((table) => sighting.tables.has(table.name)).flatMap((table) => table.columns)
  return new Map(columns.toReversed().map(({ name, type }) => [foldName(name), slotTypeOfColumn(type)]))
}

function slotTypeOfColumn(type: string): SlotType {
  if (/^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type)) return 'integer'
  if (/^(DOUBLE|FLOAT|DECIMAL)/.test(type)) return 'number'
  if (type.startsWith('TIMESTAMP')) return 'timestamp'
  if (type === 'DATE') return 'date'
  if (type === 'TIME') return 'time'
  return type === 'BOOLEAN' ? 'boolean' : 'string'
}
