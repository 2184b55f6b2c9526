import type { Linked, Span } from './span.ts'
import type { ValueType } from './value-type.ts'

/** A text with its spans replaced by their type: as words to compare and count, and as a string to embed. */
export type TextShape = {
  tokens: string[]
  masked: string
  /** For each span of the text: where it stands among the tokens, and the type it was read as. */
  marks: { token: number; type: ValueType; span: Span }[]
}

/** Which words stand before and after the values of each type in the project's own texts. */
export type Contexts = {
  byType: Map<string, { total: number; counts: Map<string, number> }>
  all: { total: number; counts: Map<string, number> }
}

export function newContexts(): Contexts {
  return { byType: new Map(), all: { total: 0, counts: new Map() } }
}

export function learnContext(
  contexts: Contexts,
  { type, span, token }: TextShape['marks'][number],
  tokens: string[],
): void {
  const own = contexts.byType.get(type.key) ?? { total: 0, counts: new Map<string, number>() }
  contexts.byType.set(type.key, own)
  const near = { before1: tokens[token - 1], before2: tokens[token - 2], after: tokens[token + 1] }
  const size = sizeKey(span.readings.find((reading) => reading.type.key === type.key)?.value)
  for (const seen of [own, contexts.all]) {
    seen.total += 1
    for (const [, key] of surroundings(near)) seen.counts.set(key, (seen.counts.get(key) ?? 0) + 1)
    if (size !== null) seen.counts.set(size, (seen.counts.get(size) ?? 0) + 1)
  }
}

type Near = { before1: string | undefined; before2: string | undefined; after: string | undefined }

function surroundings({ before1, before2, after }: Near): [number, string][] {
  return [
    [1, `-1 ${before1 ?? '^'}`],
    [0.5, `-2 ${before2 ?? '^'}`],
    [0.7, `+1 ${after ?? '$'}`],
  ]
}

/** How long a number is written: years, prices and counts differ in it. */
function sizeKey(value: unknown): string | null {
  const number =
    typeof value === 'number' ? value : typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : null
  return number === null ? null : `# ${String(Math.trunc(Math.abs(number))).length}`
}

type Choice = { span: Span; type: ValueType }
type Scored = Choice & { score: number }

/** How spans of a text were read, by what stood around them. */
export type KnownReadings = Map<Span, Map<string, Scored>>

type Masking = { linked: Linked; contexts: Contexts; known: KnownReadings | undefined }

/**
 * Replaces spans by their types: those of `decided` as given, of the others the set that fits the words best. Who masks
 * one text many times passes `known`, for a text of many numbers costs the square of their number otherwise.
 */
export function shape(
  linked: Linked,
  contexts: Contexts,
  decided: Map<Span, ValueType> = new Map(),
  known?: KnownReadings,
): TextShape {
  const tokens: string[] = []
  const marks: TextShape['marks'] = []
  let masked = ''
  let copied = 0
  let at = 0
  for (const { span, type } of choose({ linked, contexts, known }, decided)) {
    for (; at < span.from; at += 1) tokens.push(linked.words[at]?.stem ?? '')
    masked += `${linked.text.slice(copied, span.start)}<${type.label}>`
    copied = span.end
    marks.push({ token: tokens.length, type, span })
    tokens.push(`<${type.label}>`)
    at = span.to
  }
  for (; at < linked.words.length; at += 1) tokens.push(linked.words[at]?.stem ?? '')
  return { tokens, masked: masked + linked.text.slice(copied), marks }
}

/** Two readings: the second sees its neighbours as the first masked them, so that `<city> <street>` is a context. */
function choose(masking: Masking, decided: Map<Span, ValueType>): Choice[] {
  const first = bestSet(masking, decided, [])
  return first.length < 2 ? first : bestSet(masking, decided, first)
}

/** The best set of spans that do not overlap: weighted interval scheduling over the words of the text. */
function bestSet(masking: Masking, decided: Map<Span, ValueType>, around: Choice[]): Choice[] {
  const { linked } = masking
  const fixed = Array.from(decided, ([span, type]) => ({ span, type, score: 1000 }))
  const open = linked.spans.filter((span) => !decided.has(span)).map((span) => readAs(masking, span, around))
  const ending = Map.groupBy([...fixed, ...open], ({ span }) => span.to)
  const best: { score: number; chosen: Choice[] }[] = [{ score: 0, chosen: [] }]
  for (let to = 1; to <= linked.words.length; to += 1) {
    let top = best[to - 1] ?? { score: 0, chosen: [] }
    for (const { span, type, score } of ending.get(to) ?? []) {
      const before = best[span.from] ?? { score: 0, chosen: [] }
      if (before.score + score > top.score)
        top = { score: before.score + score, chosen: [...before.chosen, { span, type }] }
    }
    best.push(top)
  }
  return best.at(-1)?.chosen ?? []
}

const wordScore = 1.5
// More than a word's own score: one value of two words is likelier than two values side by side.
const joinedScore = 2.2
const minScore = 0.3

/** The type of a span by the words around it and by the type's own name nearby, and how well the span stands there. */
function readAs({ linked, contexts, known }: Masking, span: Span, around: Choice[]): Scored {
  const [before1, at1] = neighbour(linked, around, span.from - 1, -1)
  const [before2] = neighbour(linked, around, at1, -1)
  const [after] = neighbour(linked, around, span.to, 1)
  const near = { before1, before2, after }
  if (known === undefined) return bestReading(contexts, span, near)
  const key = `${before1 ?? ''} ${before2 ?? ''} ${after ?? ''}`
  const read = known.get(span) ?? new Map<string, Scored>()
  known.set(span, read)
  const scored = read.get(key) ?? bestReading(contexts, span, near)
  read.set(key, scored)
  return scored
}

function bestReading(contexts: Contexts, span: Span, near: Near): Scored {
  let best: Scored | undefined
  const around = surroundings(near)
  for (const { type, quality, value } of span.readings) {
    const fit =
      Math.log(quality) * 3 +
      contextScore(contexts, type, around) +
      labelScore(type, near) +
      sizeScore(contexts, type, value)
    const score = Math.max(minScore, fit + wordScore) + (span.to - span.from - 1) * joinedScore + fit * 1e-3
    if (best === undefined || score > best.score) best = { span, type, score }
  }
  if (best === undefined) throw new TypeError('A span without a reading.')
  return best
}

/** The token at a word, a masked span counting as one, and the word beyond it. */
function neighbour(linked: Linked, around: Choice[], at: number, step: 1 | -1): [string | undefined, number] {
  const covering = around.find(({ span }) => span.from <= at && at < span.to)
  if (covering === undefined) return [linked.words[at]?.stem, at + step]
  return [`<${covering.type.label}>`, step < 0 ? covering.span.from - 1 : covering.span.to]
}

/** Log odds of the surroundings for this type against all types; a type that is often bound is likelier at once. */
function contextScore({ byType, all }: Contexts, type: ValueType, around: [number, string][]): number {
  const own = byType.get(type.key)
  let score = 0.5 * Math.log(((own?.total ?? 0) + 1) / ((all.total + 1) / Math.max(byType.size, 1)))
  for (const [weight, key] of around) score += weight * odds(own, all, key)
  return score
}

function odds(own: Contexts['all'] | undefined, all: Contexts['all'], key: string): number {
  const here = ((own?.counts.get(key) ?? 0) + 0.5) / ((own?.total ?? 0) + 5)
  const anywhere = ((all.counts.get(key) ?? 0) + 0.5) / (all.total + 5)
  return Math.max(-2, Math.min(2, Math.log(here / anywhere)))
}

function labelScore(type: ValueType, { before1, before2, after }: Near): number {
  const said = (token: string | undefined, weight: number): number =>
    token !== undefined && type.labelStems.has(token) ? weight : 0
  return said(before1, 2) + said(after, 1.5) + said(before2, 1)
}

/** A number of a length the type has been seen with; a type named for years takes four digits of our time. */
function sizeScore({ byType, all }: Contexts, type: ValueType, value: unknown): number {
  const key = sizeKey(value)
  if (type.kind !== 'number' || key === null) return 0
  const seen = byType.get(type.key)
  const yearlike = Number(value) >= 1800 && Number(value) <= 2100
  const named = /\byear\b/.test(type.label) ? (yearlike ? 1.5 : -3) : 0
  return named + (seen === undefined ? 0 : 0.7 * odds(seen, all, key))
}
