import type { DateSpan } from './days/calendar.ts'
import type { Word } from './words/text.ts'
import type { Unit } from './words/units.ts'
import type { ValueType } from './value-type.ts'

/** One way to read a span: the slot type it would fill and the value it would give. */
export type Reading = {
  type: ValueType
  value: unknown
  quality: number
  days: DateSpan | null
  /** Values of which the words are only a part, where they are more than one: "Anna" where two are called so. */
  among?: unknown[]
}

/** A stretch of a text that could fill a slot. Weak spans are ordinary words too: never masked, used only when needed. */
export type Span = {
  from: number
  to: number
  start: number
  end: number
  readings: Reading[]
  weak: boolean
  /** A part of a name that no other name has, though it is written in small letters. */
  isOnlyName?: boolean
  /** Unit of its number, where it is said inside it: "an hour and a half". */
  unit?: Unit
}

/** `spans` may overlap: "colorado river" and "colorado". Which of them stand is decided by the words around them. */
export type Linked = { text: string; words: Word[]; spans: Span[]; weak: Span[] }

export type CallerTime = { now: Date; timeZone: string }

export function overlaps(left: Span, right: Span): boolean {
  return left.from < right.to && right.from < left.to
}
