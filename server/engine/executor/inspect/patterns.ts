import { DuckDBListValue } from '@duckdb/node-api'
import { Failure } from '../../../failure.ts'
import type { BoundSlot } from '../instance/slots.ts'
import { sqlFailure } from '../instance/sql-failure.ts'
import { tokenize, type Token } from '../instance/sql-tokens.ts'
import { foldName, quoteText } from '../instance/sql-text.ts'
import { everyNode, type Node } from '../instance/syntax-tree.ts'

/**
 * The engine tries every way in which `%` can match, so a caller who sends a dozen of them ends its process. Text slots
 * are therefore taken letter for letter in LIKE and ILIKE; where a slot is a pattern, it is matched as a regular
 * expression, in linear time. Patterns that are not written out are cut: each wildcard costs the engine stack.
 */
export type PatternPlan = {
  /** The author's statement with its patterns made safe. */
  sql: string
  /** A slot may reach a pattern in a way that could not be made safe: values may hold few wildcards. */
  isLoose: boolean
}

/** Slots that hold text: taken letter for letter, as a pattern, or in a list, of which nothing is known. */
export type TextSlots = ReadonlyMap<string, 'letters' | 'pattern' | 'list'>

export function textSlots(slots: readonly BoundSlot[]): TextSlots {
  const use = ({ cast, isPattern }: BoundSlot) => (cast !== 'VARCHAR' ? 'list' : isPattern ? 'pattern' : 'letters')
  return new Map(slots.filter(isText).map((slot) => [slot.name.toLowerCase(), use(slot)]))
}

/** Longest pattern that is not written out. */
const mostChars = 10_000

/** Wildcards that cannot keep the engine: it looks at a text once for each way to place them. */
const mostLoose = 2
const likes = new Set(['~~', '!~~', '~~*', '!~~*'])
const escapes = new Set(['like_escape', 'not_like_escape', 'ilike_escape', 'not_ilike_escape'])
/** Names of the engine that take a pattern which it matches by trying. */
const matchers = new Set([...likes, ...escapes, '~~~', 'glob', 'like', 'ilike'])

/** `reparse` gives the syntax tree of a changed statement, to prove that only patterns changed. */
export async function safePatterns(
  { sql, root, texts }: { sql: string; root: Node; texts: TextSlots },
  reparse: (sql: string) => Promise<Node>,
): Promise<PatternPlan> {
  if (matchersIn(root).every((node) => isConstant(patternOf(node)))) return { sql, isLoose: false }
  const rewritten = rewrite(sql, texts)
  const changed = await reparse(rewritten).catch(() => undefined)
  const isProven = changed !== undefined && isSame(root, changed)
  const found = isProven ? matchersIn(changed) : []
  if (!isProven || !found.every((node) => isConstant(patternOf(node)) || isCut(patternOf(node)))) {
    const message = 'A pattern stands behind LIKE, ILIKE or GLOB, in parentheses where it is more than one value.'
    throw sqlFailure(sql, message)
  }
  const isLoose = texts.size > 0 && found.some((node) => takesSlot(withoutLiterals(patternOf(node)), texts))
  return { sql: rewritten, isLoose }
}

function isConstant(node: Node | undefined): boolean {
  return node?.['class'] === 'CONSTANT'
}

function isCut(node: Node | undefined): boolean {
  return node !== undefined && isFunction(node) && nameOf(node) === 'left' && isConstant(childrenOf(node)[1])
}

/** For each call: the wall behind what could not be rewritten. */
export function refuseWildcards(slots: readonly BoundSlot[]): void {
  for (const slot of slots.filter(isText)) {
    const texts = slot.value instanceof DuckDBListValue ? slot.value.items : [slot.value]
    const most = Math.max(0, ...texts.map((text) => String(text ?? '').match(/[%_*?[]+/g)?.length ?? 0))
    if (most <= mostLoose) continue
    const message = `has ${most} wildcards, and at most ${mostLoose} can be matched in this query`
    throw new Failure('invalid_query', { reason: 'invalid_slots', details: [{ field: slot.name, message }] })
  }
}

function isText({ cast }: BoundSlot): boolean {
  return cast.startsWith('VARCHAR')
}

function matchersIn(tree: unknown): Node[] {
  return Array.from(everyNode(tree)).filter((node) => isFunction(node) && matchers.has(nameOf(node)))
}

function isFunction(node: Node): boolean {
  return node['class'] === 'FUNCTION'
}

function nameOf(node: Node): string {
  return foldName(String(node['function_name']))
}

function childrenOf(node: Node): Node[] {
  return (node['children'] as Node[] | undefined) ?? []
}

function patternOf(node: Node): Node | undefined {
  return childrenOf(node)[1]
}

/** Whether the value of a slot may be in it: named there, or by way of a column or subquery that may hold it. */
function takesSlot(tree: unknown, texts: TextSlots): boolean {
  return everyNode(tree).some((node) => {
    if (node['class'] === 'PARAMETER') return texts.has(String(node['identifier']).toLowerCase())
    return node['class'] === 'COLUMN_REF' || node['class'] === 'SUBQUERY'
  })
}

/** The text of slots is wrapped in a call whose first letters are these: nobody else writes them. */
const literalMark = '\u{f8ff}'

/** A pattern without its wrapped slots, which are letter for letter and no way for wildcards. */
function withoutLiterals(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutLiterals)
  if (typeof node !== 'object' || node === null) return node
  const own = node as Node
  if (isFunction(own) && nameOf(own) === 'replace' && JSON.stringify(childrenOf(own)[2] ?? {}).includes(literalMark)) {
    return null
  }
  return Object.fromEntries(Object.entries(own).map(([key, child]) => [key, withoutLiterals(child)]))
}

/** The slot with `%`, `_` and the escape itself escaped. The mark goes in and out again. */
function literal(slot: string, escape: string): string {
  const escaped = ['%', '_'].reduce(
    (text, sign) => `replace(${text}, '${sign}', ${quoteText(`${escape}${sign}`)})`,
    `replace(${slot}, ${quoteText(escape)}, ${quoteText(escape + escape)})`,
  )
  return `replace(${escaped}, '${literalMark}', '${literalMark}')`
}

/** As `literal`, for what becomes a regular expression: the signs rest in letters that stand for nothing else. */
const resting = ['\u{f8fd}', '\u{f8fe}'] as const

function restingLiteral(slot: string): string {
  return `translate(${slot}, '%_', '${resting.join('')}')`
}

function asExpression(pattern: string, flags: string): string {
  const quoted = String.raw`regexp_replace((${pattern}), '([^\w\s%\x{80}-\x{10ffff}])', '\\\1', 'g')`
  const dots = `replace(replace(${quoted}, '%', '.*'), '_', '.')`
  return `('(?${flags})' || translate(${dots}, '${resting.join('')}', '%_'))`
}

function rewrite(sql: string, texts: TextSlots): string {
  const tokens = tokenize(sql)
  let out = ''
  let copied = 0
  for (let at = 0; at < tokens.length; at += 1) {
    const word = tokens[at]
    // Behind a parenthesis it is a call, and behind a point a name.
    if (word?.kind !== 'word' || !/^(i?like|glob)$/i.test(word.text) || tokens[at - 1]?.text === '.') continue
    const end = endOfOperand(tokens, at + 1)
    const operand = tokens.slice(at + 1, end)
    const [first, last] = [operand[0], operand.at(-1)]
    const useOf = (slot: string) => texts.get(slotName(slot)) ?? 'list'
    const slots = operand.filter(({ kind, text }) => kind === 'slot' && useOf(text) !== 'list')
    if (first === undefined || last === undefined || (operand.length === 1 && first.kind === 'text')) continue
    const from = first.start
    const to = last.start + last.text.length
    const written = (wrap: (slot: string) => string): string => wrapped(sql, { from, to }, slots, wrap)
    const isPattern = (slot: string): boolean => useOf(slot) === 'pattern'
    const given = escapeOf(tokens, end)
    if (slots.length === 0 || given === undefined || /^glob$/i.test(word.text)) {
      out += `${sql.slice(copied, from)}${cut(sql.slice(from, to))}`
    } else if (!slots.some(({ text }) => isPattern(text))) {
      const escape = given ?? '\\'
      const after = given === null ? String.raw` ESCAPE '\'` : ''
      out += `${sql.slice(copied, from)}${cut(written((slot) => literal(slot, escape)))}${after}`
    } else if (given === null) {
      const pattern = written((slot) => (isPattern(slot) ? slot : restingLiteral(slot)))
      const flags = /^i/i.test(word.text) ? 'is' : 's'
      out += `${sql.slice(copied, word.start)}SIMILAR TO ${asExpression(pattern, flags)}`
    } else out += `${sql.slice(copied, from)}${cut(sql.slice(from, to))}`
    copied = to
    at = end - 1
  }
  return out + sql.slice(copied)
}

function cut(pattern: string): string {
  return `left((${pattern}), ${mostChars})`
}

function slotName(text: string): string {
  return text.slice(1).toLowerCase()
}

function wrapped(
  sql: string,
  { from, to }: { from: number; to: number },
  slots: Token[],
  wrap: (slot: string) => string,
): string {
  let out = ''
  let copied = from
  for (const { text, start } of slots) {
    out += `${sql.slice(copied, start)}${wrap(text)}`
    copied = start + text.length
  }
  return out + sql.slice(copied, to)
}

/** The author's own escape, null for none, undefined for one that is no single letter. */
function escapeOf(tokens: Token[], at: number): string | null | undefined {
  if (tokens[at]?.text.toLowerCase() !== 'escape') return null
  return /^'([^'%_])'$/.exec(tokens[at + 1]?.text ?? '')?.[1]
}

/**
 * Where an operand ends: at a word that stands behind a value, and at what binds less than LIKE. A guess by the text,
 * which the syntax tree of the result has to confirm.
 */
function endOfOperand(tokens: Token[], from: number): number {
  let depth = 0
  let isBehindValue = false
  for (let at = from; at < tokens.length; at += 1) {
    const { kind, text } = tokens[at] as Token
    const word = kind === 'word' ? text.toLowerCase() : ''
    if (/^[([{]$/.test(text) || word === 'case') depth += 1
    else if (depth > 0 && (/^[)\]}]$/.test(text) || word === 'end')) depth -= 1
    else if (depth === 0) {
      if (kind === 'symbol' ? /^[)\]},;=<!~]$/.test(text) : isBehindValue) return at
      if (text === '>' && !/^[->]$/.test(tokens[at - 1]?.text ?? '')) return at
    }
    isBehindValue = depth === 0 && (kind !== 'symbol' || /^[)\]}]$/.test(text))
  }
  return tokens.length
}

/** Two trees that say the same but for how patterns are written. */
function isSame(before: unknown, after: unknown): boolean {
  if (typeof before !== 'object' || before === null) return before === after
  if (typeof after !== 'object' || after === null || Array.isArray(before) !== Array.isArray(after)) return false
  const [left, right] = [before as Node, after as Node]
  if (isFunction(left) && matchers.has(nameOf(left))) return isSamePattern(left, right)
  const keys = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...keys].every((key) => key === 'query_location' || isSame(left[key], right[key]))
}

function isSamePattern(before: Node, after: Node): boolean {
  const name = nameOf(before)
  const isNot = name.startsWith('!') || name.startsWith('not_')
  let found = after
  if (isNot && found['class'] === 'OPERATOR' && found['type'] === 'OPERATOR_NOT') found = childrenOf(found)[0] ?? found
  if (!isFunction(found)) return false
  const isInsensitive = name.endsWith('*')
  const escaped = `${isNot ? 'not_' : ''}${isInsensitive ? 'ilike' : 'like'}_escape`
  const names = likes.has(name) ? [name, escaped, 'regexp_full_match'] : [name]
  if (!names.includes(nameOf(found))) return false
  if (nameOf(found) === 'regexp_full_match' && isNot && found === after) return false
  const [text, pattern, escape] = childrenOf(before)
  const [newText, newPattern, newEscape] = childrenOf(found)
  if (!isSame(text, newText)) return false
  if (escapes.has(name) && !isSame(escape, newEscape)) return false
  return parametersIn(pattern).join(',') === parametersIn(newPattern).join(',')
}

function parametersIn(tree: unknown): string[] {
  const slots = Array.from(everyNode(tree)).filter((node) => node['class'] === 'PARAMETER')
  return slots.map((slot) => String(slot['identifier']))
}
