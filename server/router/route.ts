import { fixedLimits } from '../../api/limits.ts'
import { type CallerTime, link, type Linked, overlaps, shape, type Span, type ValueType } from '../language/index.ts'
import { candidateOf, ownCandidate, type Candidate } from './decision/candidate.ts'
import { consider } from './decision/consider.ts'
import { explain } from './decision/explain.ts'
import type { RouteOptions, Routing } from './decision/routing.ts'
import { reachVerdict, type Case } from './decision/verdicts.ts'
import type { Filled } from './filling/fill.ts'
import { type Asked, type Evidence, gather, lexicalEvidence, rawEvidence, vectorOf } from './ranking/evidence.ts'
import { heedCounterExamples, type Told } from './ranking/counter-examples.ts'
import { spell, type Spelled } from './spell.ts'
import { openText, textSpan } from './project/open-text.ts'
import type { IndexedQuery, ProjectIndex } from './project/project-index.ts'
import { candidateReach, confidence, confidenceInputs, rank, type Ranked } from './ranking/confidence.ts'

const nothing: Filled = { parameters: {}, sources: {}, missing: [], unused: [], gaps: [], doubts: [], period: null }

/** Routes a question to a deployed query with slot values, or refuses. The same question gives the same answer. */
export async function route(index: ProjectIndex, question: string, options: RouteOptions): Promise<Routing> {
  const text = plain(question)
  if (text.trim() === '') return refuse(index, 'empty')
  if (question.length > fixedLimits.questionChars.value) return refuse(index, 'too_long')
  if (index.queries.length === 0) return refuse(index, 'nothing_deployed')
  const spelled = spell(index, text, options)
  return spelled.restore(await routeText(index, spelled, options))
}

async function routeText(index: ProjectIndex, { text, linked }: Spelled, options: RouteOptions): Promise<Routing> {
  const shaped = shapeOf(index, linked ?? link(index.linker, text, options))
  const own = ownCase(index, shaped, options)
  if (own !== null && options.explain !== true) return reachVerdict(index, own)
  const first = judge(index, await encode(index, shaped))
  const judged = (await rerank(index, first)) ?? first
  const { asked } = judged.evidence
  const told = heedCounterExamples(index, asked)
  if (own !== null) return reachVerdict(index, besideOthers(index, own, { ...judged, told, options }))
  const { ranked, sure } = withMeant(index, judged, told)
  const lead = sure - index.calibration.threshold
  return reachVerdict(index, await consider(index, { asked, ranked, lead, told, options }))
}

/** An own wording, decided without comparing it; as sure as a project can be. */
function ownCase(index: ProjectIndex, shaped: Shaped, options: RouteOptions): Case | null {
  const own = ownCandidate(index, shaped, options)
  const { text } = shaped.linked
  return own && { text, options, by: 'reader', candidates: [own], lead: Infinity, isUncompared: true }
}

/** An own wording with the other queries beside it, for its explanation only. */
function besideOthers(
  index: ProjectIndex,
  own: Case,
  { evidence, ranked, told, options }: Judged & { told: Told; options: RouteOptions },
): Case {
  const looked = ranked.map((each) => candidateOf(index, each, { asked: evidence.asked, told, options }))
  const isSame = ({ query }: Candidate): boolean => query === own.candidates[0]?.query
  const score = looked.find(isSame)?.placed.score ?? 0
  const first = own.candidates.map((each) => ({ ...each, placed: { ...each.placed, score } }))
  return { ...own, candidates: [...first, ...looked.filter((each) => !isSame(each))] }
}

/** More than what makes two queries ambiguous. */
const meantLead = 1

/** The query that people have said is meant comes first, and may answer. */
function withMeant(
  index: ProjectIndex,
  { ranked, sure }: Judged,
  { meantQuery }: Told,
): Pick<Judged, 'ranked' | 'sure'> {
  const meant = ranked.find(({ candidate }) => index.queries[candidate.query]?.query.name === meantQuery)
  const [first] = ranked
  if (meant === undefined || first === undefined) return { ranked, sure }
  const ahead = { ...meant, score: Math.max(meant.score, first.score + meantLead) }
  return {
    ranked: [ahead, ...ranked.filter((each) => each !== meant)],
    sure: Math.max(sure, index.calibration.threshold),
  }
}

/** Links, masks and embeds a question: all that the ranker needs of it. */
export function read(index: ProjectIndex, text: string, clock: CallerTime): Promise<Evidence> {
  return encode(index, shapeOf(index, link(index.linker, text, clock)))
}

type Shaped = Pick<Asked, 'linked' | 'shape'>

function shapeOf({ contexts }: ProjectIndex, linked: Linked): Shaped {
  return { linked, shape: shape(linked, contexts) }
}

async function encode(index: ProjectIndex, shaped: Shaped): Promise<Evidence> {
  const { text } = shaped.linked
  const { masked } = shaped.shape
  // The encoder takes longer than all the rest: what can be done without its answers is done while it works.
  const reading = embed(index, text)
  const masking = masked === text ? reading : embed(index, masked)
  const heard = lexicalEvidence(index, shaped)
  const raw = await reading
  const seen = rawEvidence(index, raw)
  return gather(index, { ...shaped, raw, masked: await masking }, { ...heard, ...seen })
}

function embed(index: ProjectIndex, text: string): Promise<Float32Array> {
  const vector = vectorOf(index, text)
  // Marks a failure as handled: it reaches the caller that awaits the vector, also when something else failed first.
  vector.catch(() => undefined)
  return vector
}

/**
 * Control characters and lone surrogates become spaces of the same length, so that places in the text stay true; wide
 * letters, as some keyboards write them, become the plain ones that the encoder knows.
 */
export function plain(question: string): string {
  return question
    .toWellFormed()
    .replaceAll(/[\u{ff01}-\u{ff5e}]/gu, (wide) => wide.normalize('NFKC'))
    .replaceAll(/[\p{Cc}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{206f}\u{feff}\u{fffd}]/gu, ' ')
}

function refuse(index: ProjectIndex, because: 'empty' | 'too_long' | 'nothing_deployed'): Routing {
  return {
    outcome: 'no_match',
    because,
    explanation: explain(index, [], nothing, { lead: null, margin: null, match: null, ahead: null }),
  }
}

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
