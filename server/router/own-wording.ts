import { shape, type Linked, type TextShape } from '../language/index.ts'
import { bareWording, heedCounterExamples, reportedWrong } from './counter-examples.ts'
import { explain } from './explain.ts'
import { fill } from './fill.ts'
import { openWording } from './indexing/own-wordings.ts'
import { objectionTo } from './objections.ts'
import type { ProjectIndex } from './project-index.ts'
import type { Ranked } from './ranking/confidence.ts'
import { rowOf } from './ranking/vectors.ts'
import { conclude, type RouteOptions, type Routing } from './routing.ts'

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

type OwnExample = { row: number; shape: TextShape }

/** The example with the same wording whose values are of the same types, or can be; null where several queries have one. */
function ownExample(index: ProjectIndex, shaped: Shaped): OwnExample | null {
  const rows = index.ownWordings.get(openWording(shaped.shape)) ?? []
  const wording = bareWording(shaped.shape.masked)
  const same = rows.filter((row) => bareWording(index.texts[row]?.shape.masked ?? '') === wording)
  const fitting =
    same.length > 0
      ? same.map((row) => ({ row, shape: shaped.shape }))
      : rows.flatMap((row) => maskedAs(index, shaped, row))
  const [first] = fitting
  if (first === undefined) return null
  const isShared = fitting.some(({ row }) => index.texts[row]?.query !== index.texts[first.row]?.query)
  return isShared ? null : first
}

/** The question with its values masked as those of an example are, if they can be read so. */
function maskedAs({ texts, contexts }: ProjectIndex, { linked, shape: { marks } }: Shaped, row: number): OwnExample[] {
  const example = texts[row]?.shape
  if (example === undefined) return []
  const decided = new Map(
    marks.flatMap(({ span }, at) => {
      const type = example.marks[at]?.type
      return type !== undefined && span.readings.some((each) => each.type.key === type.key)
        ? [[span, type] as const]
        : []
    }),
  )
  if (decided.size < marks.length) return []
  const again = shape(linked, contexts, decided)
  return bareWording(again.masked) === bareWording(example.masked) ? [{ row, shape: again }] : []
}
