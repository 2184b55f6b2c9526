import type { SlotType, SlotValue } from '../../engine/index.ts'
import { Failure } from '../../failure.ts'
import { isSchemaName } from '../catalog/names.ts'
import { faultOf, sentenceOf } from '../client/failures.ts'
import { nameIn, lex, type Lexeme } from './lexer.ts'
import { literalOf, slotTypeName } from './literals.ts'
import { escapeClause, likesIn, requireFewWildcards, slotInPattern, type Like, type SlotUse } from './patterns.ts'

/** A SELECT of an author, cut at its slots. */
export type Statement = {
  sql: string
  tokens: Lexeme[]
  /** Where each slot stands, in order. `isCount`: behind LIMIT and the like, where the grammar takes no cast. */
  places: Array<{ name: string; start: number; length: number; isCount: boolean }>
  likes: Like[]
}

const beginnings = new Set(['select', 'with', 'values', 'table', '('])
const countWords = new Set(['limit', 'offset', 'first', 'next'])
const slotName = /^\$[a-z][a-z0-9_]{0,62}$/i

/**
 * Cuts a statement, or says where it is none for queries. Trino itself proves the rest: that it parses, what it reads and
 * returns, and that its user may. What is refused here is what would lead out of one version of a project's tables, or
 * of the limits of a query.
 */
export function readStatement(sql: string, { maxChars }: { maxChars: number }): Statement {
  if (sql.length > maxChars)
    throw statementFailure(sql, `The SQL is longer than ${maxChars} characters; make it shorter.`)
  const nul = sql.indexOf('\0')
  if (nul !== -1) throw statementFailure(sql, 'The SQL contains a NUL character.', nul)
  const tokens = withoutSemicolons(lex(sql))
  const [first, second] = tokens
  if (first === undefined || !beginnings.has(first.text.toLowerCase())) {
    throw statementFailure(sql, 'Only a SELECT can be a query.', 0)
  }
  if (first.text.toLowerCase() === 'with' && /^(session|function)$/i.test(second?.text ?? '')) {
    throw statementFailure(sql, `WITH ${second?.text.toUpperCase()} is not for queries.`, second?.start)
  }
  for (const [index, token] of tokens.entries()) refuseForeign(sql, tokens, { index, token })
  const places = tokens.flatMap((token, index) => {
    if (token.kind !== 'slot') return []
    if (!slotName.test(token.text)) {
      throw statementFailure(
        sql,
        'A slot is written as $name, with a name of letters, digits and underscores.',
        token.start,
      )
    }
    const isCount = countWords.has(tokens[index - 1]?.text.toLowerCase() ?? '')
    return [{ name: token.text.slice(1).toLowerCase(), start: token.start, length: token.text.length, isCount }]
  })
  return { sql: sql.slice(0, endOf(tokens)), tokens, places, likes: likesIn(tokens) }
}

function withoutSemicolons(tokens: Lexeme[]): Lexeme[] {
  const last = tokens.findLastIndex(({ text }) => text !== ';')
  return tokens.slice(0, last + 1)
}

function endOf(tokens: Lexeme[]): number {
  const last = tokens.at(-1)
  return last === undefined ? 0 : last.start + last.text.length
}

function refuseForeign(sql: string, tokens: Lexeme[], { index, token }: { index: number; token: Lexeme }): void {
  const refuse = (message: string): Failure => statementFailure(sql, message, token.start)
  const before = tokens[index - 1]
  const isEscaped = before?.text === '&' && /^u$/i.test(tokens[index - 2]?.text ?? '')
  if (token.kind === 'quoted' && isEscaped) throw refuse('Names are written as they are, without U&.')
  if (token.text === ';') throw refuse('A query is exactly one statement.')
  if (token.text === '?') throw refuse('A slot is written as $name.')
  const name = nameIn(token)
  if (name === undefined) return
  if (name === 'information_schema' || isSchemaName(name)) {
    throw refuse('A query reads the tables of its project by their names alone.')
  }
  if (name.includes('$')) throw refuse('What Trino keeps beside tables and rows is not for queries.')
}

/** Ready to be prepared: a parameter in place of each slot. */
export type Prepared = {
  text: string
  /** The slot of each parameter, in order. */
  slots: Array<{ name: string; isCount: boolean }>
  /** From a place in `text` to the one in what its author wrote. */
  original: (offset: number) => number
}

/** How the slots of a statement are sent. */
type Sent = {
  /** The type that each is cast to; undefined leaves that to Trino. */
  typeOf: (slot: string) => string | undefined
  useOf?: (slot: string) => SlotUse
}

export function prepared(statement: Statement, { typeOf, useOf = () => undefined }: Sent): Prepared {
  const { sql, places } = statement
  let text = ''
  let copied = 0
  const jumps: Array<{ at: number; from: number }> = [{ at: 0, from: 0 }]
  for (const { start, length, written } of [
    ...slotEdits(statement, { typeOf, useOf }),
    ...escapeEdits(statement, useOf),
  ].toSorted((one, other) => one.start - other.start)) {
    text += sql.slice(copied, start)
    jumps.push({ at: text.length, from: start })
    text += written
    copied = start + length
    jumps.push({ at: text.length, from: copied })
  }
  return {
    text: text + sql.slice(copied),
    slots: places.map(({ name, isCount }) => ({ name, isCount })),
    original(offset) {
      const index = jumps.findLastIndex(({ at }) => at <= offset)
      const jump = jumps[index] ?? { at: 0, from: 0 }
      // Inside what stands for a slot every place is that of the slot.
      return index % 2 === 1 ? jump.from : jump.from + offset - jump.at
    },
  }
}

type Edit = { start: number; length: number; written: string }

function slotEdits({ places, likes }: Statement, { typeOf, useOf }: Required<Sent>): Edit[] {
  return places.map(({ name, start, length, isCount }) => {
    // The innermost: a pattern may hold a condition with another LIKE.
    const like = likes.findLast(({ slots }) => slots.includes(start))
    // Trino would take a slot without a type for a list where a pattern is put together of parts.
    const type = isCount ? undefined : (typeOf(name) ?? (like === undefined ? undefined : 'varchar'))
    const slot = type === undefined ? '?' : `CAST(? AS ${type})`
    const use = useOf(name)
    return { start, length, written: like === undefined || use === undefined ? slot : slotInPattern(slot, like, use) }
  })
}

function escapeEdits({ places, likes }: Statement, useOf: (slot: string) => SlotUse): Edit[] {
  const escaped = new Set(places.filter(({ name }) => useOf(name) !== undefined).map(({ start }) => start))
  return likes
    .filter(({ slots }) => slots.some((start) => escaped.has(start)))
    .map((like) => ({ start: like.end, length: 0, written: escapeClause(like) }))
}

/** A prepared statement with its values: nothing that a caller sent becomes a part of its text. */
export function executed(statement: Statement, slots: readonly SlotValue[]): string {
  const values = new Map(slots.map((slot) => [slot.name.toLowerCase(), slot]))
  const types = new Map(slots.map((slot) => [slot.name.toLowerCase(), slotTypeName(slot)]))
  requireFewWildcards(statement.likes, slots)
  const useOf = (name: string): SlotUse => {
    const slot = values.get(name)
    if (slot !== undefined && slot.type !== 'string') return undefined
    return slot?.isPattern === true ? 'pattern' : 'letters'
  }
  const { text, slots: order } = prepared(statement, { typeOf: (name) => types.get(name) ?? 'varchar', useOf })
  const given = order.map(({ name, isCount }) => literalOf(values.get(name), isCount))
  const quoted = `'${text.replaceAll("'", "''")}'`
  return `EXECUTE IMMEDIATE ${quoted}${given.length === 0 ? '' : ` USING ${given.join(', ')}`}`
}

/** How slots are sent where nothing has a value yet. */
export function typedBy(types: ReadonlyMap<string, SlotType>): Sent {
  const typeOf = (name: string): SlotType => types.get(name) ?? 'string'
  return {
    typeOf: (name) => slotTypeName({ type: typeOf(name), value: null }),
    useOf: (name) => (typeOf(name) === 'string' ? 'letters' : undefined),
  }
}

/** A refusal of SQL that points at the line, column and word. */
export function statementFailure(sql: string, message: string, at?: number): Failure {
  if (at === undefined) {
    return new Failure('invalid_request', { reason: 'invalid_sql', message, details: [{ field: 'sql', message }] })
  }
  const lines = sql.slice(0, at).split('\n')
  const [line, column] = [lines.length, (lines.at(-1) ?? '').length + 1]
  const word = lex(sql).find(({ start, text }) => at >= start && at < start + text.length)?.text ?? ''
  return new Failure('invalid_request', {
    reason: 'invalid_sql',
    message: `${message} (line ${line}, column ${column})`,
    details: [{ field: 'sql', message }],
    fields: { line, column, word },
  })
}

/** Trino's complaint about a statement, for its author, at the position in the author's own text. */
export function authorFailure(error: unknown, { sql }: Statement, { text, original }: Prepared): unknown {
  const fault = faultOf(error)
  if (fault === undefined || !(error instanceof Failure) || error.code !== 'invalid_query') return error
  const { errorLocation: place } = fault
  const at = place === undefined ? undefined : original(offsetOf(text, place))
  const failure = statementFailure(sql, sentenceOf(fault), at)
  failure.cause = error.cause
  return failure
}

function offsetOf(text: string, { lineNumber, columnNumber }: { lineNumber: number; columnNumber: number }): number {
  const before = text.split('\n').slice(0, lineNumber - 1)
  return before.reduce((sum, line) => sum + line.length + 1, 0) + columnNumber - 1
}
