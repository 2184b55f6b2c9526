import {
  isFunctionWord,
  isExcluded,
  type DateSpan,
  type Linked,
  type Linker,
  type TextShape,
  type Span,
} from '../../language/index.ts'
import type { IndexedText } from '../project/index-text.ts'
import type { IndexedQuery } from '../project/project-index.ts'
import type { RuleName } from '../project/rules.ts'
import type { Slot } from '../project/project.ts'

/** A slot of which the question says something that must not be bound as it stands, in words for who asks. */
export type Gap = {
  /** The rule that found it. */
  rule: RuleName
  slot: string
  message: string
  /** The same without the values that there are, for who may not know them. */
  unlisted?: string
  /** The question means something else than the query: no value would make it the answer. */
  isOpposed: boolean
  /** How many values beside the one that the slot takes. */
  surplus?: number
}

/** Words that a slot has no value for; not sure where they may be meant otherwise. */
export type Doubt = Gap & { isSure: boolean; start: number; end: number }

/** The words of the question that gave a slot its value. */
export type SlotSource = { start: number; end: number; text: string }

export type FoundValues = {
  parameters: Record<string, unknown>
  sources: Record<string, SlotSource>
  /** The day it is for the caller. */
  today: () => string
}
/** A question read for one query. */
export type QueryReading = {
  linked: Linked
  marks: TextShape['marks']
  query: IndexedQuery
  texts: IndexedText[]
  found: FoundValues
  /** Known values of each type. */
  existing: Linker['existing']
  mayBeTypo: Linker['mayBeTypo']
  /** Whether any query of the project says a word. */
  isSaid: (stem: string) => boolean
}
export type TextPlace = Pick<SlotSource, 'start' | 'end'>

/** Where the query's own texts name a value of the slot. */
export type Use = { linked: Linked; span: Span }

export function usesOf(texts: IndexedText[], slot: Slot): Use[] {
  return texts.flatMap(({ linked, shape, roles }) => {
    const mark = shape.marks[roles.find((role) => role.slot === slot.name)?.mark ?? -1]
    return mark === undefined ? [] : [{ linked, span: mark.span }]
  })
}

export function wordsAt({ words: all }: Linked, { start, end }: TextPlace): { from: number; to: number } {
  const from = all.findIndex((word) => word.end > start)
  return { from, to: all.findLastIndex((word) => word.start < end) + 1 }
}

export function daysAt({ spans, weak }: Linked, { start, end }: TextPlace): DateSpan | null {
  const span = [...spans, ...weak].find((each) => each.start === start && each.end === end)
  return span?.readings.find(({ days }) => days !== null)?.days ?? null
}

const joining = /[&/+]|\b(?:and|or|nor|to|plus|versus|vs)\b/iu
const beginning = /^(?:have|has|had|is|are|was|were|do|does|did|who|whose|which|that|where|when|why)$/

export function isFree({ sources }: FoundValues, span: TextPlace): boolean {
  return !Object.values(sources).some(({ start, end }) => span.start < end && start < span.end)
}

export function isJoined(linked: Linked, left: TextPlace, right: TextPlace): boolean {
  const [first, second] = left.start < right.start ? [left, right] : [right, left]
  const [from, to] = [wordsAt(linked, first).to, wordsAt(linked, second).from]
  if (isExcluded(linked, wordsAt(linked, right).from)) return false
  const between = linked.words.slice(from, to)
  const text = linked.text.slice(first.end, second.start)
  if (/^\s*,\s*(?:the\s+)?$/iu.test(text)) return true
  if (/^\d[-–][$€£]?\d$/u.test(linked.text.slice(first.end - 1, second.start + 1))) return true
  const own = between.filter((word) => !isFunctionWord(word.text) && !joining.test(word.text))
  return own.length < 2 && joining.test(text) && !between.some((word) => beginning.test(word.text))
}

// Enough of what stands before a value to see what is said of it.
const shownWords = 4

/** The words of a place with what stands before them, as they are shown to who asks. */
export function wordsAround(linked: Linked, { start, end }: TextPlace): string {
  const { from } = wordsAt(linked, { start, end })
  return linked.text.slice(linked.words[Math.max(0, from - shownWords)]?.start, end)
}

/** The "unpaid" of "not paid", where a list has both. */
export function contraryOf({ rules: { choices } }: Slot, value: unknown): unknown {
  const said = String(value).toLowerCase()
  const contraries = new Set([
    `un${said}`,
    `non-${said}`,
    `not ${said}`,
    `not_${said}`,
    ...(said.startsWith('un') ? [said.slice(2)] : []),
  ])
  return choices.find((each) => contraries.has(String(each).toLowerCase()))
}
