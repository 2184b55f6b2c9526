import { shape, type Linked, type Span, type TextShape, type ValueType } from '../language/index.ts'
import { bareWording, heedCounterExamples, reportedWrong } from './ranking/counter-examples.ts'
import { explain } from './decision/explain.ts'
import { fill } from './filling/fill.ts'
import { openWording } from './indexing/own-wordings.ts'
import { objectionTo } from './objections.ts'
import type { ProjectIndex } from './project/project-index.ts'
import type { Ranked } from './ranking/confidence.ts'
import { rowOf } from './vectors/vectors.ts'
import { conclude, type RouteOptions, type Routing } from './decision/routing.ts'

type Shaped = { linked: Linked; shape: TextShape }

/**
 * A question that is an example of one query but for its values: its author has said what answers it, and nothing is
 * left out. So nothing is compared and nothing is read, which is most of what a question costs. Null for any other, and
 * where the reader would not be believed either.
 */
export function answerOwnWording(
  index: ProjectIndex,
  shaped: Shaped,
  options: RouteOptions,
  /** What else comes near, where somebody wants to know: it changes nothing but what is told. */
  ranked: Ranked[] = [],
): Routing | null {
  const own = ownExample(index, shaped)
  const at = index.texts[own?.row ?? -1]?.query
  const query = index.queries[at ?? -1]
  if (own === null || at === undefined || query === undefined) return null
  if (index.reading?.isBelieved !== true || index.reading.cards[at]?.isBare !== false) return null
  const { row } = own
  const asked = { ...shaped, shape: own.shape, raw: rowOf(index.raw, row), masked: rowOf(index.masked, row) }
  const told = heedCounterExamples(index, asked)
  const isMeant = told.meantQuery === null || told.meantQuery === query.query.name
  if (!isMeant || reportedWrong(query, told) !== null) return null
  const filled = fill(index, asked, query, options)
  if (filled.unused.length > 0 || objectionTo(index, asked, query, filled) !== null) return null
  const others = ranked.filter(({ candidate }) => candidate.query !== at)
  const score = ranked.find(({ candidate }) => candidate.query === at)?.score ?? 0
  // Its share is that of what the router and the reader are surest of.
  const surest = { lead: Infinity, margin: null, match: Infinity }
  const known = explain(index, [{ candidate: { query: at, bestText: row }, score }, ...others], filled, surest)
  const margin = others[0] === undefined ? null : score - others[0].score
  return conclude(query, filled, { explanation: { ...known, match: null, margin }, given: options.given })
}

type Mark = TextShape['marks'][number]
type OwnExample = { row: number; shape: TextShape }

/** The example with the same wording whose values are of the same types, or can be; null where several queries have one. */
function ownExample(index: ProjectIndex, shaped: Shaped): OwnExample | null {
  const wording = bareWording(shaped.shape.masked)
  const alike = index.ownWordings.get(openWording(shaped.shape)) ?? []
  const same = alike.filter((row) => bareWording(index.texts[row]?.shape.masked ?? '') === wording)
  const literal = index.ownWordings.get(bareWording(shaped.linked.text)) ?? []
  const rows = literal.length > 0 ? literal : alike
  const fitting =
    same.length > 0
      ? same.map((row) => ({ row, shape: shaped.shape }))
      : rows.flatMap((row) => maskedAs(index, shaped, row) ?? [])
  const [first] = fitting
  if (first === undefined) return null
  const isShared = fitting.some(({ row }) => index.texts[row]?.query !== index.texts[first.row]?.query)
  return isShared ? null : first
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
