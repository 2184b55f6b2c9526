import { boundReads, refuseForeign } from '../../engine/executor/inspect/bound.ts'
import { inspectSql, serialized, type Node } from '../../engine/executor/inspect/inspect.ts'
import { prepare, type Instance, type OpenConnection } from '../../engine/executor/instance/instances.ts'
import { sqlFailure } from '../../engine/executor/instance/sql-failure.ts'
import { quoteText, tokenize, type Token } from '../../engine/executor/instance/sql-tokens.ts'

/** More columns than this are no answer that anybody reads. */
const maxValues = 200

/**
 * SQL whose PIVOTs name the values that become columns, as the data of this instance has them. The engine itself runs one
 * that does not as two statements, the first of which makes a type; here the first is a SELECT like any other, which
 * passes both walls, and the second is too. Data does not change under an instance, so neither do the columns.
 */
export async function withPivotValues(lease: OpenConnection, instance: Instance, sql: string): Promise<string> {
  const isPivot = sql.length <= instance.sqlLimits.chars && /\bpivot\b/i.test(sql)
  if (!isPivot || !('onlySelect' in (await serialized(lease, sql)))) return sql
  const ends = openEnds(tokenize(sql))
  if (ends.length === 0) return sql
  const marked = inserted(sql, ends, (index) => quoteText(markOf(index)))
  const { root } = await inspectSql(lease, instance, marked)
  const found = pivotsIn(root)
  const lists: string[] = []
  for (const index of ends.keys()) {
    const pivot = found.get(markOf(index))
    // Not where it was thought to be: the engine says what is wrong with the text as it is.
    if (pivot === undefined) return sql
    lists.push((await valuesOf(lease, instance, { sql, pivot })).map(quoteText).join(', '))
  }
  return inserted(sql, ends, (index) => lists[index] ?? '')
}

/** Stands for a list of values until it is known. No value of anybody's data is likely to be it, and none could do harm. */
function markOf(index: number): string {
  return `sluice:pivot ${index}`
}

function inserted(sql: string, ends: number[], listOf: (index: number) => string): string {
  let out = ''
  let copied = 0
  for (const [index, end] of ends.entries()) {
    out += `${sql.slice(copied, end)} IN (${listOf(index)})`
    copied = end
  }
  return out + sql.slice(copied)
}

const clauseWords = new Set('using group order limit offset union except intersect qualify having where'.split(' '))

/** Where the expressions end that a PIVOT is ON and that have no list of their own. */
function openEnds(tokens: Token[]): number[] {
  const ends: number[] = []
  for (const [index, token] of tokens.entries()) {
    if (!isWord(token, 'pivot')) continue
    const on = onBehind(tokens, index)
    if (on !== null) ends.push(...endsBehind(tokens, on))
  }
  return ends.toSorted((one, other) => one - other)
}

function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'word' && token.text.toLowerCase() === word
}

const depthBy: Record<string, number> = { '(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1 }

/** The ON of a PIVOT; null for the other form, `PIVOT (sum(x) FOR y IN (…))`, which always has a list. */
function onBehind(tokens: Token[], pivot: number): number | null {
  let depth = 0
  for (let at = pivot + 1; at < tokens.length; at += 1) {
    const token = tokens[at]
    if (token?.kind === 'symbol') depth += depthBy[token.text] ?? 0
    if (depth < 0 || token?.text === ';') return null
    if (depth === 0 && isWord(token, 'on')) return at
  }
  return null
}

function endsBehind(tokens: Token[], on: number): number[] {
  const ends: number[] = []
  let depth = 0
  let hasList = false
  let last: Token | undefined
  const close = (): void => {
    if (last !== undefined && !hasList) ends.push(last.start + last.text.length)
    hasList = false
    last = undefined
  }
  for (const token of tokens.slice(on + 1)) {
    if (token.kind === 'symbol') depth += depthBy[token.text] ?? 0
    const isClause = token.kind === 'word' && clauseWords.has(token.text.toLowerCase())
    if (depth < 0 || (depth === 0 && (isClause || token.text === ';'))) break
    if (depth === 0 && token.kind === 'symbol' && token.text === ',') close()
    else {
      hasList ||= depth === 0 && isWord(token, 'in')
      last = token
    }
  }
  close()
  return ends
}

type Cte = { key: string; value: Node }
type Pivot = { source: unknown; expressions: unknown[]; ctes: Cte[] }

/** Each PIVOT by its mark, with the common table expressions that are known where it stands. */
function pivotsIn(root: Node): Map<string, Pivot> {
  const found = new Map<string, Pivot>()
  const visit = (value: unknown, ctes: Cte[]): void => {
    if (Array.isArray(value)) return value.forEach((item) => visit(item, ctes))
    if (typeof value !== 'object' || value === null) return
    const node = value as Node
    let known = ctes
    for (const cte of ((node['cte_map'] ?? {}) as { map?: Cte[] }).map ?? []) {
      visit(cte.value, known)
      known = [...known.filter(({ key }) => key !== cte.key), cte]
    }
    if (node['type'] === 'PIVOT') {
      for (const pivot of (node['pivots'] ?? []) as Node[]) {
        const [mark] = marksOf(pivot)
        const expressions = (pivot['pivot_expressions'] ?? []) as unknown[]
        if (mark !== undefined) found.set(mark, { source: node['source'], expressions, ctes: known })
      }
    }
    for (const [key, child] of Object.entries(node)) if (key !== 'cte_map') visit(child, known)
  }
  visit(root, [])
  return found
}

function marksOf(pivot: Node): string[] {
  const entries = (pivot['entries'] ?? []) as Array<{ values?: Array<{ value?: unknown }> }>
  return entries.flatMap(({ values = [] }) => values.flatMap(({ value }) => (typeof value === 'string' ? [value] : [])))
}

/** The values of a PIVOT's expression, in order and as text, which is how the engine compares them. */
async function valuesOf(
  lease: OpenConnection,
  instance: Instance,
  { sql, pivot }: { sql: string; pivot: Pivot },
): Promise<string[]> {
  const [expression] = pivot.expressions
  if (expression === undefined || pivot.expressions.length > 1) throw needsValues(sql, 'has several expressions in one')
  const asked = await distinctSql(lease, { ...pivot, expression })
  if (asked === null) throw needsValues(sql, 'reads rows by a number of more digits than are kept here')
  const sighting = await inspectSql(lease, instance, asked)
  if (sighting.slots.size > 0) throw needsValues(sql, 'reads rows that a slot chooses')
  refuseForeign(sql, await boundReads(lease, instance, asked), sighting)
  const rows = await (await prepare(lease, asked)).runAndReadAll()
  const values = rows.getRows().map(([value]) => String(value))
  if (values.length > maxValues) throw needsValues(sql, `finds more than ${maxValues} values`)
  if (values.length === 0) throw needsValues(sql, 'finds no values in its data')
  return values
}

/**
 * Written by the engine itself from the tree that was inspected: nothing of the text is put together here. Null where the
 * tree holds a number that JavaScript cannot hand back as it was.
 */
async function distinctSql(
  lease: OpenConnection,
  { source, expression, ctes }: Pivot & { expression: unknown },
): Promise<string | null> {
  const template = `SELECT DISTINCT CAST(x AS VARCHAR) AS v FROM t WHERE x IS NOT NULL ORDER BY 1 LIMIT ${maxValues + 1}`
  const parsed = await serialized(lease, template)
  if (!('root' in parsed)) throw new Error('The engine does not read a statement of ours.')
  const node = parsed.root as { select_list: [Node]; where_clause: { children: [unknown] } } & Node
  node['from_table'] = source
  node['cte_map'] = { map: ctes }
  node.select_list[0]['child'] = expression
  node.where_clause.children = [expression]
  let isExact = true
  const tree = JSON.stringify({ error: false, statements: [{ node, named_param_map: [] }] }, (key, value: unknown) => {
    if (key === 'query_location') return 0
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) isExact = false
    return value
  })
  if (!isExact) return null
  const statement = await prepare(lease, 'SELECT json_deserialize_sql(CAST($tree AS JSON))')
  statement.bindVarchar(1, tree)
  return String((await statement.run()).getChunk(0).getColumnVector(0).getItem(0))
}

function needsValues(sql: string, why: string): Error {
  return sqlFailure(
    sql,
    `PIVOT ${why}, so it has to name the values that become columns, as in PIVOT orders ON region IN ('north', 'south') USING sum(amount).`,
  )
}
