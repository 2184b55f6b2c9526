import { shape, type Linked, type Span, type TextShape, type ValueType } from '../../language/index.ts'
import { fill, type Filled } from '../filling/fill.ts'
import type { IndexedText } from '../project/index-text.ts'
import type { IndexedQuery, ProjectIndex } from '../project/project-index.ts'
import { ambiguousMargin, shareOfMany, type Ranked } from '../ranking/confidence.ts'
import { bareWording, heedCounterExamples, reportedWrong, type Told } from '../ranking/counter-examples.ts'
import type { Asked } from '../ranking/evidence.ts'
import type { WholeReading } from '../reader/read-whole.ts'
import { rowOf } from '../vectors/vectors.ts'
import type { Placed } from './explain.ts'
import { objectionTo } from './objections.ts'
import type { RouteOptions } from './routing.ts'

/** A query that could answer, with all that speaks for it and against it. */
export type Candidate = {
  /** How near it comes, and with which of its texts. */
  placed: Placed
  query: IndexedQuery
  filled: Filled
  /** Confidence that a missing or a surplus value cost. */
  lack: number
  /** Why it would answer something else than was asked; null where nothing says so. */
  objection: string | null
  /** Why people say that it must not answer; null where nobody did. */
  reported: string | null
  /** People have said that such a question means it. */
  isMeant: boolean
  /** The question is one of its examples but for the values, which its slots take; or word for word. */
  isOwn: boolean
  /** The reader's judgement of the question beside it; null where it was not read. */
  reading: WholeReading | null
}

export type Looking = { asked: Asked; told: Told; options: RouteOptions }

/** Gathers the evidence of a ranked query. Each part is worked out when it is first wanted: most decisions need few. */
export function candidateOf(index: ProjectIndex, each: Ranked, { asked, told, options }: Looking): Candidate {
  const at = each.candidate.query
  const query = index.queries[at]
  if (query === undefined) throw new TypeError('A ranked query is not in the index.')
  let [filled, objection, isOwn]: [Filled?, (string | null)?, boolean?] = []
  return {
    placed: each,
    query,
    get filled() {
      return (filled ??= fill(index, asked, query, options))
    },
    get lack() {
      return lackOf(index, each, this.filled)
    },
    get objection() {
      if (objection === undefined) objection = objectionTo(index, asked, query, this.filled)
      return objection
    },
    reported: reportedWrong(query, told),
    isMeant: told.meantQuery === query.query.name,
    get isOwn() {
      isOwn ??=
        ownExamples(index, asked).some(({ row }) => index.texts[row]?.query === at) &&
        isFilledAsOwn(index, asked, { at, filled: this.filled })
      return isOwn
    },
    reading: null,
  }
}

/** Why it must not answer: by what people reported, or by its meaning. */
export function against({ reported, objection }: Pick<Candidate, 'reported' | 'objection'>): string | null {
  return reported ?? objection
}

/**
 * Confidence that a missing or a surplus value cost: a question that only lacks a value, or names two where a slot
 * takes one, is told so instead of "no query answers this".
 */
function lackOf({ encoder, queries }: ProjectIndex, { candidate }: Ranked, { missing, gaps }: Filled): number {
  const surplus = gaps.reduce((sum, gap) => sum + (gap.surplus ?? 0), 0)
  if (missing.length === 0 && surplus === 0) return 0
  const { slotsMissing, spansUnused } = candidate.features
  const { many, few } = encoder.constants.confidence
  const share = shareOfMany(queries.length)
  const weight = (input: 'slotsMissing' | 'spansUnused'): number =>
    share * many.weights[input] + (1 - share) * few.weights[input]
  const tooFew = missing.length === 0 ? 0 : weight('slotsMissing') * slotsMissing
  return -tooFew - weight('spansUnused') * Math.min(surplus, spansUnused)
}

/**
 * An example of the router's first but for its values, or a question that people have said to mean it: its author has
 * said what answers it, nothing is left out, and it need not be read. Without other candidates nothing can be alike.
 */
export function isOwnWording([first, second]: Candidate[]): boolean {
  if (first === undefined || first.reported !== null) return false
  if (second !== undefined && first.placed.score - second.placed.score < ambiguousMargin) return false
  return first.isMeant || (first.isOwn && first.objection === null)
}

/**
 * The query of which a question is an example but for its values, where no other has such an example and nothing speaks
 * against it: it is answered without comparing or reading anything, which is most of what a question costs. Null for any
 * other, and where the reader would not be believed either.
 */
export function ownCandidate(index: ProjectIndex, shaped: Shaped, options: RouteOptions): Candidate | null {
  const examples = ownExamples(index, shaped)
  const [own] = examples
  const at = index.texts[own?.row ?? -1]?.query
  const query = index.queries[at ?? -1]
  if (own === undefined || at === undefined || query === undefined) return null
  if (examples.some(({ row }) => index.texts[row]?.query !== at)) return null
  if (index.reading?.trust !== 'chooses' || index.reading.cards[at]?.isBare !== false) return null
  const { row } = own
  const asked = { ...shaped, shape: own.shape, raw: rowOf(index.raw, row), masked: rowOf(index.masked, row) }
  const told = heedCounterExamples(index, asked)
  if (told.meantQuery !== null && told.meantQuery !== query.query.name) return null
  const filled = fill(index, asked, query, options)
  const candidate: Candidate = {
    placed: { candidate: { query: at, bestText: row }, score: 0 },
    query,
    filled,
    lack: 0,
    objection: objectionTo(index, asked, query, filled),
    reported: reportedWrong(query, told),
    isMeant: false,
    isOwn: isFilledAsOwn(index, asked, { at, filled }),
    reading: null,
  }
  return isOwnWording([candidate]) ? candidate : null
}

/** Its slots take all the values of the question, or it is an example word for word. */
function isFilledAsOwn(index: ProjectIndex, asked: Asked, { at, filled }: { at: number; filled: Filled }): boolean {
  return filled.unused.length === 0 || isVerbatim(index, asked, at)
}

type Shaped = { linked: Linked; shape: TextShape }
type Mark = TextShape['marks'][number]
/** An example, and the question with its values masked as the example's are. */
type OwnExample = { row: number; shape: TextShape }

/** The rows of examples by their wording, whatever their values are of, and word for word. */
export function ownWordingsOf(texts: IndexedText[]): Map<string, number[]> {
  const rows = new Map<string, number[]>()
  for (const [row, { kind, text, shape: shaped }] of texts.entries()) {
    if (kind !== 'example') continue
    for (const wording of new Set([openWording(shaped), bareWording(text)])) {
      rows.set(wording, [...(rows.get(wording) ?? []), row])
    }
  }
  return rows
}

/** The wording of a text with a gap for its values: values side by side, "March 2026", may be one elsewhere. */
function openWording({ masked }: Pick<TextShape, 'masked'>): string {
  return bareWording(masked).replaceAll(/<[^<>]*>(?:\s+<[^<>]*>)*/g, '<>')
}

/** Whether a question is an example of a query word for word: what fills no slot then is part of what it means. */
function isVerbatim(index: ProjectIndex, { linked }: Pick<Shaped, 'linked'>, query: number): boolean {
  const said = bareWording(linked.text)
  return (index.ownWordings.get(said) ?? []).some((row) => {
    const text = index.texts[row]
    return text?.query === query && bareWording(text.text) === said
  })
}

/** The examples that say the question word for word; else those of its wording whose values can be read so. */
function ownExamples(index: ProjectIndex, shaped: Shaped): OwnExample[] {
  const said = bareWording(shaped.linked.text)
  const literal = (index.ownWordings.get(said) ?? []).filter(
    (row) => bareWording(index.texts[row]?.text ?? '') === said,
  )
  if (literal.length > 0) {
    return literal.map((row) => maskedAs(index, shaped, row) ?? { row, shape: shaped.shape })
  }
  const wording = bareWording(shaped.shape.masked)
  const alike = index.ownWordings.get(openWording(shaped.shape)) ?? []
  const same = alike.filter((row) => bareWording(index.texts[row]?.shape.masked ?? '') === wording)
  if (same.length > 0) return same.map((row) => ({ row, shape: shaped.shape }))
  return alike.flatMap((row) => maskedAs(index, shaped, row) ?? [])
}

/** The question with its values masked as those of an example are, if they can be read so. */
function maskedAs(index: ProjectIndex, { linked, shape: { marks } }: Shaped, row: number): OwnExample | null {
  const example = index.texts[row]
  if (example === undefined) return null
  const wanted = example.shape.marks
  const decided =
    bareWording(example.text) === bareWording(linked.text)
      ? readWhere(linked, wanted)
      : readInGaps(linked, gapsOf(linked, marks), gapsOf(example.linked, wanted))
  if (decided === null) return null
  const again = shape(linked, index.contexts, new Map(decided))
  return bareWording(again.masked) === bareWording(example.shape.masked) ? { row, shape: again } : null
}

type Decided = Array<[Span, ValueType]>

const isOf = (span: Span, type: ValueType): boolean => span.readings.some((each) => each.type.key === type.key)

/** The values of a question that is an example word for word: they stand where the example's stand. */
function readWhere({ spans }: Linked, marks: Mark[]): Decided | null {
  const decided = marks.flatMap(({ span: { start, end }, type }): Decided => {
    const span = spans.find((each) => each.start === start && each.end === end && isOf(each, type))
    return span === undefined ? [] : [[span, type]]
  })
  return decided.length === marks.length ? decided : null
}

/** The values of a question that has an example's wording, gap by gap. */
function readInGaps(linked: Linked, gaps: Mark[][], wanted: Mark[][]): Decided | null {
  const decided = gaps.map((gap, at) => readAs(linked, gap, wanted[at]?.map(({ type }) => type) ?? []))
  return decided.includes(null) ? null : decided.flatMap((each) => each ?? [])
}

/** Marks that nothing stands between are one gap of the wording. */
function gapsOf({ text }: Linked, marks: Mark[]): Mark[][] {
  const gaps: Mark[][] = []
  for (const mark of marks) {
    const last = gaps.at(-1)?.at(-1)
    if (last !== undefined && text.slice(last.span.end, mark.span.start).trim() === '') gaps.at(-1)?.push(mark)
    else gaps.push([mark])
  }
  return gaps
}

/** The values of a gap as those types, one by one or all of them together; null where they cannot be read so. */
function readAs({ spans }: Linked, gap: Mark[], types: ValueType[]): Decided | null {
  const single = gap.flatMap(({ span }, at) => types.slice(at, at + 1).map((type): [Span, ValueType] => [span, type]))
  if (gap.length === types.length && single.every(([span, type]) => isOf(span, type))) return single
  const [type, ...more] = types
  const [start, end] = [gap[0]?.span.start, gap.at(-1)?.span.end]
  if (type === undefined || more.length > 0) return null
  const joined = spans.find((span) => span.start === start && span.end === end && isOf(span, type))
  return joined === undefined ? null : [[joined, type]]
}
