import { overlaps, shape, type Span, type ValueType } from '../language/index.ts'
import { openText, textSpan } from './project/open-text.ts'
import type { IndexedQuery, ProjectIndex } from './project/project-index.ts'
import { confidence, confidenceInputs, rank, type Ranked } from './ranking/confidence.ts'
import { gather, lexicalEvidence, type Evidence } from './ranking/evidence.ts'
import { vectorOf } from './vector-of.ts'

/** Whoever lies further behind the first was not meant, whatever speaks against the first. */
export const candidateReach = 1.5
const maxRerankCandidates = 3
// So many values are a list, or meant to cost time: another reading of one of them would tip nothing.
const maxRerankSpans = 12
// A mask makes any sentence look more like the examples: it may tip the scales, not turn them over.
const maxRerankLift = 1.5

/** The queries that could answer, best first, and how sure the first may be. */
export type Judged = { evidence: Evidence; ranked: Ranked[]; sure: number }

export function judge(index: ProjectIndex, evidence: Evidence): Judged {
  const ranked = rank(index, evidence)
  return {
    evidence,
    ranked,
    sure: confidence(
      index.encoder.constants,
      index.queries.length,
      confidenceInputs(evidence, ranked, index.calibration),
    ),
  }
}

/**
 * Free text is known only once a query says where to look for it, and of several readings of the same words, "mount
 * whitney" and "whitney", the query says which it can use. When one of the best wants what was masked as something else
 * or not at all, the question is masked its way and compared once more; the second look stands when it is surer, and of
 * that query.
 */
export async function rerank(index: ProjectIndex, first: Judged): Promise<Judged | null> {
  const {
    evidence: { asked },
    ranked,
    sure,
  } = first
  const [top] = ranked
  if (asked.linked.spans.length >= maxRerankSpans) return null
  const hopeless = sure < index.calibration.threshold - maxRerankLift
  for (const each of ranked.slice(0, maxRerankCandidates)) {
    const query = index.queries[each.candidate.query]
    if (top === undefined || query === undefined || top.score - each.score > candidateReach) break
    const wanted = otherReading(asked, query) ?? (each !== top || hopeless ? null : freeText(index, asked, query))
    if (wanted === null || index.rulesOff.has('second look')) continue
    return rerankAs(index, first, { ...wanted, query: each.candidate.query })
  }
  return null
}

async function rerankAs(
  index: ProjectIndex,
  { evidence, sure }: Judged,
  { span, type, query }: Wanted & { query: number },
): Promise<Judged | null> {
  const { linked, raw } = evidence.asked
  const spans = [...linked.spans.filter((other) => !overlaps(span, other)), span]
  const shaped = shape({ ...linked, spans }, index.contexts, new Map([[span, type]]))
  const masked = await vectorOf(index, shaped.masked)
  const more = { linked: { ...linked, spans }, shape: shaped, raw, masked }
  const again = judge(index, gather(index, more, { ...evidence, ...lexicalEvidence(index, more) }))
  return again.ranked[0]?.candidate.query === query && again.sure > sure ? again : null
}

type Wanted = { span: Span; type: ValueType }

/** A value for a slot of the query that was masked as another value. */
function otherReading({ linked, shape: { marks } }: Evidence['asked'], { slots }: IndexedQuery): Wanted | null {
  for (const { type } of slots) {
    if (type.kind === 'text' || marks.some((mark) => mark.type.key === type.key)) continue
    const span = linked.spans.find(
      (each) =>
        each.readings.some((reading) => reading.type.key === type.key) &&
        marks.some((mark) => overlaps(mark.span, each)),
    )
    if (span !== undefined) return { span, type }
  }
  return null
}

function freeText(
  index: ProjectIndex,
  { linked, shape: { marks } }: Evidence['asked'],
  query: IndexedQuery,
): Wanted | null {
  const slot = query.slots.find(({ type }) => type.kind === 'text' && !marks.some((mark) => mark.type.key === type.key))
  if (slot === undefined) return null
  const taken = marks.map(({ span }) => span)
  const found = openText(linked, slot, index.texts.slice(query.from, query.to), taken)
  const span = found === null ? null : textSpan(linked, slot, found)
  return span === null ? null : { span, type: slot.type }
}
