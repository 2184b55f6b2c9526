import { foldName } from '../instance/sql-text.ts'
import { foldedNames, nodeIn, nodesIn, textIn, type Node } from '../instance/syntax-tree.ts'

/** Where a name of a statement is looked for: what is selected from, and what stands around it. */
export type Scope = {
  sources: Array<{ name: string; source: Source }>
  /** Names that the select list gives to what it computes. */
  given: Map<string, Node>
  ctes: Ctes | null
  outer: Scope | null
}

type Source = { kind: 'table'; table: string } | Derived | { kind: 'opaque' }
/** A subquery or a common table expression. */
type Derived = { kind: 'query'; node: Node; names: string[]; ctes: Ctes | null; outer: Scope | null }

/** Common table expressions, innermost first. */
export type Ctes = { name: string; node: Node; names: string[]; before: Ctes | null }

/** The expression behind a name, with the scope it is written in; or the tables that may have such a column. */
export type Found =
  | { kind: 'expression'; node: Node; scope: Scope }
  | { kind: 'column'; tables: string[]; column: string; given: { node: Node; scope: Scope } | null }
  | { kind: 'opaque' }

/** A query node with the common table expressions that it begins with. */
export function ctesOf(node: Node, before: Ctes | null): Ctes | null {
  const map = nodesIn(nodeIn(node['cte_map'])?.['map'])
  let ctes = before
  for (const { key, value } of map as Array<Node & { key?: unknown; value?: unknown }>) {
    const query = nodeIn(nodeIn(nodeIn(value)?.['query'])?.['node'])
    if (query === null) continue
    ctes = { name: foldName(String(key)), node: query, names: foldedNames(nodeIn(value)?.['aliases']), before: ctes }
  }
  return ctes
}

/** The scope of a `SELECT`. */
export function selectScope(select: Node, { ctes, outer }: Pick<Scope, 'ctes' | 'outer'>): Scope {
  const scope: Scope = { sources: [], given: new Map(), ctes, outer }
  addSources(nodeIn(select['from_table']), scope)
  for (const item of nodesIn(select['select_list'])) {
    const alias = foldName(textIn(item['alias']))
    if (alias !== '' && !scope.given.has(alias)) scope.given.set(alias, item)
  }
  return scope
}

function addSources(from: Node | null, scope: Scope): void {
  if (from === null) return
  if (from['type'] === 'JOIN') {
    addSources(nodeIn(from['left']), scope)
    addSources(nodeIn(from['right']), scope)
    return
  }
  const alias = foldName(textIn(from['alias']))
  if (from['type'] === 'BASE_TABLE') {
    const table = foldName(String(from['table_name']))
    scope.sources.push({ name: alias === '' ? table : alias, source: cteOf(table, scope) ?? { kind: 'table', table } })
  } else if (from['type'] === 'SUBQUERY') {
    const node = nodeIn(nodeIn(from['subquery'])?.['node'])
    const names = foldedNames(from['column_name_alias'])
    const { ctes } = scope
    if (node !== null) scope.sources.push({ name: alias, source: { kind: 'query', node, names, ctes, outer: scope } })
  } else if (from['type'] !== 'EMPTY') {
    scope.sources.push({ name: alias, source: { kind: 'opaque' } })
  }
}

/** A common table expression sees those before it, and itself where it is recursive: that is not followed. */
function cteOf(name: string, { ctes }: Scope): Derived | null {
  for (let at = ctes; at !== null; at = at.before) {
    if (at.name === name) return { kind: 'query', node: at.node, names: at.names, ctes: at.before, outer: null }
  }
  return null
}

const maxLevels = 32

/** Looks up a column by its name, with or without that of its table. */
export function findColumn(parts: string[], scope: Scope): Found {
  const column = parts.at(-1) ?? ''
  const qualifier = parts.at(-2)
  for (let at: Scope | null = scope, level = 0; at !== null && level < maxLevels; at = at.outer, level += 1) {
    const found = findHere(column, qualifier, { scope: at, level: 0 })
    if (found !== null) return found
  }
  return { kind: 'opaque' }
}

type Looking = { scope: Scope; level: number }

function findHere(column: string, qualifier: string | undefined, { scope, level }: Looking): Found | null {
  const among = scope.sources.filter(({ name }) => qualifier === undefined || name === qualifier)
  if (level > maxLevels || (among.length === 0 && qualifier !== undefined)) return null
  const given = qualifier === undefined ? (scope.given.get(column) ?? null) : null
  const tables: string[] = []
  for (const { source } of among) {
    const found = findIn(source, column, level)
    if (found?.kind === 'expression' || found?.kind === 'opaque') return found
    if (found?.kind === 'column') tables.push(...found.tables)
  }
  if (tables.length > 0)
    return { kind: 'column', tables, column, given: given && { node: given, scope: ungiven(scope) } }
  return given === null ? null : { kind: 'expression', node: given, scope: ungiven(scope) }
}

/** Inside what has a name of its own, that name means the column again. */
function ungiven(scope: Scope): Scope {
  return { ...scope, given: new Map() }
}

function findIn(source: Source, column: string, level: number): Found | null {
  if (source.kind === 'table') return { kind: 'column', tables: [source.table], column, given: null }
  if (source.kind === 'opaque') return { kind: 'opaque' }
  return outputOf(source, column, level + 1)
}

/** The column of a query's result: of a union, that of its first part. */
function outputOf({ node, names, ctes, outer }: Derived, column: string, level: number): Found | null {
  if (level > maxLevels) return { kind: 'opaque' }
  const own = ctesOf(node, ctes)
  if (node['type'] !== 'SELECT_NODE') {
    const first = nodeIn(node['left']) ?? nodesIn(node['children'])[0] ?? nodeIn(node['child'])
    return first === null || first === undefined
      ? { kind: 'opaque' }
      : outputOf({ kind: 'query', node: first, names, ctes: own, outer }, column, level + 1)
  }
  const scope = selectScope(node, { ctes: own, outer })
  const items = nodesIn(node['select_list'])
  const at = names.length > 0 ? names.indexOf(column) : items.findIndex((item) => nameOf(item) === column)
  const item = items[at]
  if (item !== undefined && item['class'] !== 'STAR') return { kind: 'expression', node: item, scope: ungiven(scope) }
  const star = items.find((each) => each['class'] === 'STAR')
  if (star === undefined) return null
  const relation = foldName(textIn(star['relation_name']))
  return findHere(column, relation === '' ? undefined : relation, { scope: ungiven(scope), level: level + 1 })
}

function nameOf(item: Node): string {
  const alias = foldName(textIn(item['alias']))
  return alias === '' ? (foldedNames(item['column_names']).at(-1) ?? '') : alias
}

/** The value of a scalar subquery, with its scope; null where it is none that can be followed. */
export function scalarOf(node: Node, scope: Scope): { node: Node; scope: Scope } | null {
  const query = nodeIn(nodeIn(node['subquery'])?.['node'])
  const [only] = nodesIn(query?.['select_list'])
  if (node['subquery_type'] !== 'SCALAR' || query?.['type'] !== 'SELECT_NODE' || only === undefined) return null
  const inner = selectScope(query, { ctes: ctesOf(query, scope.ctes), outer: scope })
  return only['class'] === 'STAR' ? null : { node: only, scope: ungiven(inner) }
}
