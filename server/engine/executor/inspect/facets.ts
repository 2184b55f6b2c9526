import type { SqlFacets } from '../socket/protocol.ts'
import { foldName } from '../instance/sql-text.ts'
import { constantIn, everyNode, nodesIn, type Node } from '../instance/syntax-tree.ts'

/**
 * The computation of a statement, by its syntax tree: which measures, for each of what, in which order and of which rows
 * only. A description may say less; the tree cannot.
 */
export function facetsOf(root: Node): SqlFacets {
  const facets: SqlFacets = {
    measures: [],
    groups: [],
    grains: [],
    order: null,
    isLimited: false,
    filters: [],
    slots: {},
  }
  for (const node of everyNode(root)) note(node, facets)
  noteOrder(root, facets)
  facets.groups = [...new Set(facets.groups)].filter((name) => !grainNames.has(name))
  facets.grains = [...new Set(facets.grains)]
  facets.measures = unique(facets.measures)
  facets.filters = unique(facets.filters)
  return facets
}

const counting = new Set(['count', 'count_star', 'count_if', 'row_number', 'rank', 'dense_rank', 'rank_dense'])

/** Which of so many columns of a result count something, as far as the select list tells. */
export function countColumns(root: Node, columns: number): boolean[] {
  const statement = root['type'] === 'CTE_NODE' ? (root['child'] as Node) : root
  const selected = statement['type'] === 'SELECT_NODE' ? nodesIn(statement['select_list']) : []
  // A star stands for more columns than one.
  if (selected.length !== columns) return []
  return selected.map(
    (each) => ['FUNCTION', 'WINDOW'].includes(String(each['class'])) && counting.has(String(each['function_name'])),
  )
}

function unique<Value>(values: Value[]): Value[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}

function note(node: Node, facets: SqlFacets): void {
  if (node['type'] === 'SELECT_NODE') noteSelect(node, facets)
  if (node['type'] === 'LIMIT_MODIFIER') noteSlot(facets, node['limit'], { column: null, use: 'limit' })
  noteComparison(node, facets)
}

const measures = new Map<string, SqlFacets['measures'][number]['kind']>([
  ['sum', 'total'],
  ['avg', 'average'],
  ['mean', 'average'],
  ['count', 'count'],
  ['count_star', 'count'],
  ['min', 'lowest'],
  ['max', 'highest'],
  ['median', 'median'],
  ['quantile_cont', 'median'],
])
const grainNames = new Set(['hour', 'day', 'week', 'month', 'quarter', 'year'])

function noteSelect(node: Node, facets: SqlFacets): void {
  const selected = nodesIn(node['select_list'])
  for (const each of selected) noteMeasures(each, facets)
  const isAll = node['aggregate_handling'] === 'FORCE_AGGREGATES'
  const grouped = isAll ? selected.filter((each) => !isMeasure(each)) : nodesIn(node['group_expressions'])
  for (const each of grouped) noteGroup(positional(each, selected), facets)
  for (const part of partsOf(node['where_clause'])) noteFilter(part, facets)
}

/** The whole of a conjunction; what stands in an OR holds for no row for sure. */
function partsOf(where: unknown): Node[] {
  const node = where as Node | null | undefined
  if (node === null || node === undefined) return []
  return node['type'] === 'CONJUNCTION_AND' ? nodesIn(node['children']).flatMap(partsOf) : [node]
}

function isMeasure(node: Node): boolean {
  if (node['class'] === 'FUNCTION' && measures.has(foldName(String(node['function_name'])))) return true
  return [...nodesIn(node['children']), ...(node['child'] === undefined ? [] : [node['child'] as Node])].some(isMeasure)
}

function noteMeasures(node: Node, facets: SqlFacets): void {
  const kind = node['class'] === 'FUNCTION' ? measures.get(foldName(String(node['function_name']))) : undefined
  if (kind !== undefined) {
    facets.measures.push({ kind, column: columnIn(node['children']) })
    return
  }
  for (const child of nodesIn(node['children'])) noteMeasures(child, facets)
  if (typeof node['child'] === 'object' && node['child'] !== null) noteMeasures(node['child'] as Node, facets)
}

/** `GROUP BY 1` is the first of what is selected. */
function positional(node: Node, selected: Node[]): Node {
  const place = node['class'] === 'CONSTANT' ? Number((node['value'] as Node)['value']) : NaN
  return selected[place - 1] ?? node
}

function noteGroup(node: Node, facets: SqlFacets): void {
  const grain = grainOf(node)
  if (grain !== null) facets.grains.push(grain)
  else {
    const column = columnOf(node)
    if (column !== null) (grainNames.has(column) ? facets.grains : facets.groups).push(column)
  }
}

function grainOf(node: Node): string | null {
  if (node['class'] === 'CAST') return grainOf(node['child'] as Node)
  if (node['class'] !== 'FUNCTION') return null
  const name = foldName(String(node['function_name']))
  const [first] = nodesIn(node['children'])
  if (name === 'date_trunc' || name === 'datetrunc' || name === 'date_part' || name === 'datepart') {
    const part = foldName(constantOf(first) ?? '')
    return grainNames.has(part) ? part : null
  }
  if (name === 'strftime')
    return formatGrain(
      nodesIn(node['children'])
        .map(constantOf)
        .find((each) => each !== null),
    )
  return grainNames.has(name) ? name : null
}

function formatGrain(format: string | null | undefined): string | null {
  if (typeof format !== 'string') return null
  const finest: Array<[RegExp, string]> = [
    [/%[HI]/, 'hour'],
    [/%[djeF]/, 'day'],
    [/%[VWU]/, 'week'],
    [/%[mbB]/, 'month'],
    [/%[Yy]/, 'year'],
  ]
  return finest.find(([pattern]) => pattern.test(format))?.[1] ?? null
}

function noteFilter(node: Node, facets: SqlFacets): void {
  const column = columnOf(node)
  if (column !== null) {
    facets.filters.push({ column, values: ['true'] })
    return
  }
  const isEqual = node['type'] === 'COMPARE_EQUAL' || node['type'] === 'COMPARE_IN'
  const sides = node['class'] === 'COMPARISON' ? [node['left'], node['right']] : nodesIn(node['children'])
  if (!isEqual) return
  const named = sides.map((side) => columnOf(side as Node)).find((each) => each !== null)
  const values = sides.flatMap((side) => {
    const value = constantOf(side as Node)
    return value === null ? [] : [value]
  })
  // A comparison with a slot says nothing for sure.
  if (named !== undefined && named !== null && values.length === sides.length - 1) {
    facets.filters.push({ column: named, values })
  }
}

const uses = new Map<unknown, SqlFacets['slots'][string]['use']>([
  ['COMPARE_EQUAL', 'equal'],
  ['COMPARE_GREATERTHANOREQUALTO', 'least'],
  ['COMPARE_GREATERTHAN', 'least'],
  ['COMPARE_LESSTHANOREQUALTO', 'most'],
  ['COMPARE_LESSTHAN', 'most'],
])
const turned = { equal: 'equal', least: 'most', most: 'least', limit: 'limit' } as const

function noteComparison(node: Node, facets: SqlFacets): void {
  if (node['class'] === 'COMPARISON') {
    const use = uses.get(node['type'])
    if (use === undefined) return
    noteSlot(facets, node['right'], { column: columnOf(node['left'] as Node), use })
    noteSlot(facets, node['left'], { column: columnOf(node['right'] as Node), use: turned[use] })
  } else if (node['class'] === 'BETWEEN') {
    const column = columnOf(node['input'] as Node)
    noteSlot(facets, node['lower'], { column, use: 'least' })
    noteSlot(facets, node['upper'], { column, use: 'most' })
  } else if (node['class'] === 'SUBQUERY' && node['subquery_type'] === 'ANY') {
    const query = (node['subquery'] as Node | null)?.['node'] as Node | undefined
    const [only] = nodesIn(query?.['select_list'])
    for (const each of nodesIn(only?.['children'])) {
      noteSlot(facets, each, { column: columnOf(node['child'] as Node), use: 'equal' })
    }
  } else if (node['function_name'] === 'contains') {
    const [list, item] = nodesIn(node['children'])
    noteSlot(facets, list, { column: item === undefined ? null : columnOf(item), use: 'equal' })
  }
}

function noteSlot(facets: SqlFacets, value: unknown, seen: SqlFacets['slots'][string]): void {
  const node = value as Node | null | undefined
  if (node?.['class'] === 'CAST') {
    noteSlot(facets, node['child'], seen)
    return
  }
  if (node?.['class'] !== 'PARAMETER') return
  const name = String(node['identifier']).toLowerCase()
  if (!Object.hasOwn(facets.slots, name)) facets.slots[name] = seen
}

/** The order of the statement itself: an order inside of it is none of its answer. */
function noteOrder(root: Node, facets: SqlFacets): void {
  const modifiers = nodesIn(root['modifiers'])
  facets.isLimited = modifiers.some(({ type }) => type === 'LIMIT_MODIFIER')
  const [first] = nodesIn(modifiers.find(({ type }) => type === 'ORDER_MODIFIER')?.['orders'])
  if (first === undefined) return
  const by = positional(first['expression'] as Node, nodesIn(root['select_list']))
  const column = columnOf(by) ?? (typeof by['alias'] === 'string' && by['alias'] !== '' ? by['alias'] : columnIn([by]))
  if (column === null) return
  facets.order = { column, direction: first['type'] === 'DESCENDING' ? 'descending' : 'ascending' }
}

function columnOf(value: Node | null | undefined): string | null {
  if (value === null || value === undefined) return null
  if (value['class'] === 'CAST') return columnOf(value['child'] as Node)
  const names = value['column_names']
  return Array.isArray(names) ? foldName(String(names.at(-1))) : null
}

function columnIn(value: unknown): string | null {
  for (const node of everyNode(value)) {
    const column = columnOf(node)
    if (column !== null) return column
  }
  return null
}

/** As text: numbers and booleans are said so, too. */
function constantOf(node: Node | null | undefined): string | null {
  const value = constantIn(node)
  if (value === undefined) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}
