import type { SlotValue } from '../../engine/index.ts'
import { Failure } from '../../failure.ts'
import type { Lexeme } from './lexer.ts'

/** One LIKE of a statement: what its pattern is made of, and where it ends. */
export type Like = {
  /** Positions of the slots in its pattern that hold one text each. */
  slots: number[]
  /** The sign that the author escapes with; null for none. */
  escape: string | null
  end: number
  /** Values may reach the pattern in a way that its text does not show: by a column, a subquery or a list. */
  isLoose: boolean
}

/** A text slot of a LIKE is taken letter for letter, or is a pattern itself; other slots are left alone. */
export type SlotUse = 'letters' | 'pattern' | undefined

/** A letter that stands for nothing in any script, so that no author escapes with it by chance. Trino takes one letter only. */
const ownEscape = '\u{f8ff}'
/** Wildcards of a value, where its text cannot be told from the pattern. */
const mostLoose = 2
/** Words of expressions that bring in no value of another place. */
const plainWords = new Set(
  'and as between case cast char else end false in is like not null or then true try_cast u uescape varchar when'.split(
    ' ',
  ),
)

export function likesIn(tokens: readonly Lexeme[]): Like[] {
  return tokens.flatMap((token, at) => {
    if (token.kind !== 'word' || token.text.toLowerCase() !== 'like') return []
    const last = endOfPattern(tokens, at + 1)
    const pattern = tokens.slice(at + 1, last)
    const end = pattern.at(-1)
    if (end === undefined) return []
    const isSlotOfList = ({ kind }: Lexeme, index: number) => kind === 'slot' && pattern[index + 1]?.text === '['
    const slots = pattern.filter((each, index) => each.kind === 'slot' && !isSlotOfList(each, index))
    const escape = escapeBehind(tokens, last)
    const isLoose = escape === undefined || pattern.some(isSlotOfList) || pattern.some(bringsValues)
    const positions = escape === undefined ? [] : slots.map(({ start }) => start)
    return [{ slots: positions, escape: escape ?? null, end: end.start + end.text.length, isLoose }]
  })
}

/** A column or a subquery; a call is neither, and what stands in its parentheses is looked at as well. */
function bringsValues({ kind, text }: Lexeme, at: number, pattern: readonly Lexeme[]): boolean {
  if (kind === 'quoted') return true
  return kind === 'word' && pattern[at + 1]?.text !== '(' && !plainWords.has(text.toLowerCase())
}

/** The author's own escape, null where nothing, undefined where it is not written out or a wildcard itself. */
function escapeBehind(tokens: readonly Lexeme[], at: number): string | null | undefined {
  if (tokens[at]?.text.toLowerCase() !== 'escape') return null
  const sign = /^'(''|[^'%_])'$/.exec(tokens[at + 1]?.text ?? '')?.[1]
  return sign === "''" ? "'" : sign
}

/** The pattern ends at a word that stands behind a value, and at what binds less than LIKE. */
function endOfPattern(tokens: readonly Lexeme[], from: number): number {
  let depth = 0
  let isBehindValue = false
  for (let at = from; at < tokens.length; at += 1) {
    const { kind, text } = tokens[at] as Lexeme
    const word = kind === 'word' ? text.toLowerCase() : ''
    if (/^[([]$/.test(text) || word === 'case') depth += 1
    else if (depth > 0 && (/^[)\]]$/.test(text) || word === 'end')) depth -= 1
    else if (depth === 0) {
      if (kind === 'symbol' ? /^[)\],;=<>!]$/.test(text) : isBehindValue && !continues(tokens, at)) return at
    }
    isBehindValue = depth === 0 && (kind !== 'symbol' || /^[)\]]$/.test(text))
  }
  return tokens.length
}

/** The text of a typed literal, and how the one of `U&'…'` escapes. */
function continues(tokens: readonly Lexeme[], at: number): boolean {
  const before = tokens[at - 1]
  if (tokens[at]?.kind === 'text') return before?.kind === 'word'
  return tokens[at]?.text.toLowerCase() === 'uescape' || before?.text.toLowerCase() === 'uescape'
}

/** The sign that a LIKE escapes with once its slots are written letter for letter. */
export function escapeOf({ escape }: Like): string {
  return escape ?? ownEscape
}

/** Words behind a pattern whose author escapes with nothing. */
export function escapeClause(like: Like): string {
  return like.escape === null ? ` ESCAPE '${ownEscape}'` : ''
}

/** A slot in a pattern. A slot that is a pattern keeps its wildcards, and cannot escape with a sign of ours. */
export function slotInPattern(slot: string, like: Like, use: NonNullable<SlotUse>): string {
  const sign = escapeOf(like).replaceAll("'", "''")
  const own = (text: string, found: string): string => `replace(${text}, '${found}', '${sign}${found}')`
  if (use === 'pattern') return like.escape === null ? own(slot, sign) : slot
  return own(own(own(slot, sign), '%'), '_')
}

/** Values of a call are refused with many wildcards, where patterns show nothing of where their values come from. */
export function requireFewWildcards(likes: readonly Like[], slots: readonly SlotValue[]): void {
  if (!likes.some(({ isLoose }) => isLoose)) return
  for (const { name, type, value } of slots) {
    if (type !== 'string' && type !== 'string[]') continue
    const counts = [value].flat().map((text) => (typeof text === 'string' ? (text.match(/[%_]+/g)?.length ?? 0) : 0))
    const most = Math.max(0, ...counts)
    if (most <= mostLoose) continue
    const message = `has ${most} wildcards, and at most ${mostLoose} can be matched in this query`
    throw new Failure('invalid_query', { reason: 'invalid_slots', details: [{ field: name, message }] })
  }
}
