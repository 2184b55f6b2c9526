import { contrastsIn, isFunctionWord, words, writeCommandIn, type Word } from '../../language/index.ts'
import type { SlotSource } from '../gaps/gap.ts'
import { boundIn, inputOf, withMarks, type Card } from '../project/card.ts'
import type { Reader } from '../encoder/reader.ts'

/** How surely a query answers a question whole, and the words that it leaves out if it does not. */
export type WholeReading = { match: number; unexpressed: () => Unexpressed[] }

/** Reads a question beside a query, with the words that its slots have taken. */
export async function readQuestionWhole(
  reader: Reader,
  card: Card,
  { text, sources }: { text: string; sources: Record<string, SlotSource> },
): Promise<WholeReading> {
  const bound = boundIn(sources)
  const { constants, tokenizer } = reader
  const question = withMarks(constants, tokenizer.pieces(text), { bound, places: card.places })
    // Marks count too: what comes after so many is not read.
    .slice(0, constants.max_question_tokens)
  const [match, ...logits] = await reader.score(inputOf(constants, question, card))
  if (match === undefined) throw new TypeError('The reader gave no logit.')
  return {
    match,
    unexpressed: () => {
      const places = question.flatMap(({ place }, at): ReadPlace[] => {
        const logit = logits[at]
        return place === null || logit === undefined ? [] : [{ ...place, logit }]
      })
      return unexpressedIn(text, places, constants.word_above)
    },
  }
}

/** Words of a question that a query does not express, and what kind of thing they ask for. */
export type Unexpressed = SlotSource & { kind: UnexpressedKind }

export type UnexpressedKind =
  | 'condition'
  | 'measure'
  | 'grain'
  | 'order'
  | 'entity'
  | 'negation'
  | 'second_question'
  | 'command'

/** How strongly the reader says of some characters that nothing expresses them. */
export type ReadPlace = { start: number; end: number; logit: number }

/** Whole words, neighbours together; where no word is above the limit, the one that comes nearest to it. */
export function unexpressedIn(text: string, places: ReadPlace[], above: number): Unexpressed[] {
  const read = words(text).map((word, at) => ({ word, at, logit: logitOf(word, places) }))
  const named = read.filter(({ word }) => !isFunctionWord(word.text))
  const most = (named.length > 0 ? named : read).reduce<(typeof read)[number] | undefined>(
    (best, each) => (best === undefined || each.logit > best.logit ? each : best),
    undefined,
  )
  const marked = read.filter(({ logit }) => logit > above)
  const shown = marked.length > 0 ? marked : most === undefined ? [] : [most]
  const phrases: Array<{ from: number; to: number }> = []
  for (const { at } of shown) {
    const last = phrases.at(-1)
    if (last !== undefined && isNear(read.slice(last.to + 1, at))) last.to = at
    else phrases.push({ from: at, to: at })
  }
  return phrases.flatMap(({ from, to }) => {
    const [start, end] = [read[from]?.word.start, read[to]?.word.end]
    if (start === undefined || end === undefined) return []
    return [{ start, end, text: text.slice(start, end), kind: kindOf(text, { start, end }) }]
  })
}

function logitOf({ start, end }: Word, places: ReadPlace[]): number {
  return Math.max(
    -Infinity,
    ...places.filter((place) => place.start < end && start < place.end).map(({ logit }) => logit),
  )
}

/** Nothing, or one small word, stands between two that belong together: "with a pet". */
function isNear(between: Array<{ word: Word }>): boolean {
  return between.length === 0 || (between.length === 1 && between.every(({ word }) => isFunctionWord(word.text)))
}

const acting =
  /^(?:please\s+)?(?:delete|remove|erase|cancel|update|change|set|send|e?mail|create|add|book|reserve|export|print|close|approve|notify|remind|block|pay|transfer|assign|rename|refund|schedule)\b/iu
const asking = /\b(?:what|how|who|whom|whose|which|when|where|why)\b/iu
const going = /^(?:and|plus|also|as well|then|besides|along with|together with)\b/iu
const denying =
  /\b(?:not|no|never|none|nobody|nothing|neither|nor|without|except|excluding|exclude|but|other than|outside)\b|n['’]t\b/iu
const dividing =
  /\b(?:by|per|each|every|hourly|daily|weekly|monthly|quarterly|yearly|annual(?:ly)?|breakdown|broken|split|grouped)\b/iu
const ordering = /\b(?:sort(?:ed)?|order(?:ed)? by|rank(?:ed|ing)?|alphabetical(?:ly)?|ascending|descending)\b/iu
const measuring =
  /\b(?:average|avg|mean|median|total|sum|count|number|many|much|share|percent(?:age)?|rate|ratio|maximum|minimum|max|min|cost|costs|price|revenue|profit|margin|growth|difference|trend|forecast|typical(?:ly)?|duration|variance)\b/iu
const named = /(?:^|\s)(?:\p{Lu}\p{L}+|\p{Lu}{2,}|\S*\d\S*)/u

/** The kind of thing the words ask for, from the words alone: shown to people, used by no decision. */
function kindOf(text: string, { start, end }: { start: number; end: number }): UnexpressedKind {
  const phrase = text.slice(start, end)
  const before = text.slice(0, start).trimEnd()
  const command = writeCommandIn(text)
  if (acting.test(phrase) || (command !== null && phrase.toLowerCase().includes(command))) return 'command'
  const isNext = going.test(phrase) || /(?:\b(?:and|plus|also)|[?;])$/iu.test(before)
  if (isNext && (asking.test(phrase) || words(phrase).length > 2)) return 'second_question'
  if (denying.test(phrase) || /\b(?:not|without|except|excluding)$/iu.test(before)) return 'negation'
  if (contrastsIn(words(phrase)).some(({ isOrder }) => isOrder) || ordering.test(phrase)) return 'order'
  const isDivided = /\b(?:by|per|each|every)$/iu.test(before) && !named.test(phrase)
  if (isDivided || dividing.test(phrase)) return 'grain'
  if (measuring.test(phrase)) return 'measure'
  return before !== '' && named.test(phrase) ? 'entity' : 'condition'
}
