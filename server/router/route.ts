import { fixedLimits } from '../../api/limits.ts'
import { languageOf, link, shape, type CallerTime } from '../language/index.ts'
import { fill, type Filled } from './fill.ts'
import type { Source } from './gaps/gap.ts'
import { candidateReach, judge, rerank } from './judge.ts'
import { objectionTo } from './objections.ts'
import type { IndexedQuery, ProjectIndex } from './project-index.ts'
import { ambiguousMargin, shareOfMany, type Ranked } from './ranking/confidence.ts'
import { gather, lexicalEvidence, rawEvidence, type Evidence } from './ranking/evidence.ts'

/** A query that could answer, best first. */
type RouteCandidate = { name: string; description: string; score: number; example: string }

/** Why a question was routed as it was. */
export type Explanation = {
  candidates: RouteCandidate[]
  /** The description or example nearest to the question in shape. */
  matchedExample: string | null
  /** What was found for the best candidate's slots, also when the question is refused. */
  parameters: Record<string, unknown>
  /** The words of the question behind each parameter. */
  sources: Record<string, Source>
  /** Words that were read as values but fill no slot. */
  unused: Source[]
  confidence: number | null
  threshold: number
  margin: number | null
  minMargin: number
  encoder: 'neural' | 'lexical'
}

export type Routing = { explanation: Explanation } & (
  | { outcome: 'answer'; query: string; parameters: Record<string, unknown> }
  | { outcome: 'missing_slots'; query: string; parameters: Record<string, unknown>; missing: string[]; gaps: Lacking[] }
  | { outcome: 'ambiguous' }
  | { outcome: 'no_match'; because: 'empty' | 'too_long' | 'nothing_deployed' | 'not_confident' | 'other_language' }
  | { outcome: 'no_match'; because: 'opposed'; objection: string }
)

/** Why a slot still wants a value. */
type Lacking = { slot: string; message: string }

export type RouteOptions = CallerTime & {
  /** Values the caller has given for slots; they stand as they are, and null leaves one out. */
  given?: Record<string, unknown>
}

const nothing: Filled = { parameters: {}, sources: {}, missing: [], unused: [], gaps: [] }
const shownCandidates = 5

/** Routes a question to a deployed query with slot values, or refuses. The same question gives the same answer. */
export async function route(index: ProjectIndex, question: string, options: RouteOptions): Promise<Routing> {
  const text = plain(question)
  if (text.trim() === '') return refuse(index, 'empty')
  if (question.length > fixedLimits.questionChars.value) return refuse(index, 'too_long')
  if (index.queries.length === 0) return refuse(index, 'nothing_deployed')
  const first = judge(index, await read(index, text, options))
  const { evidence, ranked: all, sure } = (await rerank(index, first)) ?? first
  const { ranked, filled, objection } = unopposed(index, evidence, all, options)
  const [best, second] = ranked
  const query = index.queries[best?.candidate.query ?? -1]
  if (best === undefined || query === undefined) return refuse(index, 'nothing_deployed')
  const margin = second === undefined ? null : best.score - second.score
  const explanation = explain(index, ranked, filled, { confidence: sure, margin })
  if (sure + lack(index, best, filled) < index.calibration.threshold) {
    const because = languageOf(text) === null ? 'not_confident' : 'other_language'
    return { outcome: 'no_match', because, explanation }
  }
  if (objection !== null) return { outcome: 'no_match', because: 'opposed', objection, explanation }
  if (margin !== null && margin < explanation.minMargin) return { outcome: 'ambiguous', explanation }
  return conclude(query, filled, { explanation, given: options.given })
}

type Unopposed = { ranked: Ranked[]; filled: Filled; objection: string | null }

const maxOpposed = 4

/** Passes over queries that mean the opposite of the question, as long as another lies near; else says what opposes. */
function unopposed(index: ProjectIndex, evidence: Evidence, ranked: Ranked[], clock: CallerTime): Unopposed {
  const seen = new Map<Ranked, Omit<Unopposed, 'ranked'>>()
  const look = (each: Ranked): Omit<Unopposed, 'ranked'> => {
    const known = seen.get(each)
    if (known !== undefined) return known
    const query = index.queries[each.candidate.query]
    const filled = query === undefined ? nothing : fill(index, evidence.asked, query, clock)
    const objection = query === undefined ? null : objectionTo(index, evidence.asked, query, filled)
    seen.set(each, { filled, objection })
    return { filled, objection }
  }
  const [first] = ranked
  if (first === undefined) return { ranked, filled: nothing, objection: null }
  let left = ranked
  for (let turn = 0; turn < maxOpposed; turn += 1) {
    const [best, second] = left
    if (best === undefined || first.score - best.score > candidateReach) break
    const isClose = second !== undefined && best.score - second.score < ambiguousMargin
    const opposed = look(best).objection !== null ? best : isClose && look(second).objection !== null ? second : null
    if (opposed === null) return { ranked: left, ...look(best) }
    left = left.filter((each) => each !== opposed)
  }
  return { ranked, ...look(first) }
}

/**
 * What the question says and the caller gives, put together: enough to run the query, or what it still lacks. A given
 * null leaves a slot out, whatever the question says of it; one that is required cannot be.
 */
export function conclude(
  { query: { name }, slots }: IndexedQuery,
  filled: Filled,
  { explanation, given = {} }: { explanation: Explanation; given: RouteOptions['given'] },
): Routing {
  const open = slots.filter((slot) => given[slot.name] === undefined || (given[slot.name] === null && slot.required))
  const gaps = filled.gaps.filter(({ slot }) => open.some((each) => each.name === slot))
  const bound = slots.flatMap((slot): Array<[string, unknown]> => {
    const own = given[slot.name]
    if (own !== undefined) return own === null ? [] : [[slot.name, own]]
    const isFound = slot.name in filled.parameters && !gaps.some((gap) => gap.slot === slot.name)
    return isFound ? [[slot.name, filled.parameters[slot.name]]] : []
  })
  const parameters = Object.fromEntries(bound)
  const missing = slots
    .filter((slot) => slot.required || gaps.some((gap) => gap.slot === slot.name))
    .map((slot) => slot.name)
    .filter((slot) => parameters[slot] === undefined)
  if (missing.length > 0) return { outcome: 'missing_slots', query: name, parameters, missing, gaps, explanation }
  return { outcome: 'answer', query: name, parameters, explanation }
}

/**
 * What confidence lost for a value too few or too many: a question that only lacks one, or names two where a slot takes
 * one, is told so, not that nobody answers it.
 */
function lack({ encoder, queries }: ProjectIndex, { candidate }: Ranked, { missing, gaps }: Filled): number {
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

/** Links, masks and embeds a question: all that the ranker needs of it. */
export async function read(index: ProjectIndex, text: string, clock: CallerTime): Promise<Evidence> {
  // The encoder takes longer than all the rest: what can be done without its answers is done while it works.
  const reading = embed(index, text)
  const linked = link(index.linker, text, clock)
  const shaped = shape(linked, index.contexts)
  const masking = shaped.masked === text ? reading : embed(index, shaped.masked)
  const heard = lexicalEvidence(index, { linked, shape: shaped })
  const raw = await reading
  const seen = rawEvidence(index, raw)
  return gather(index, { linked, shape: shaped, raw, masked: await masking }, { ...heard, ...seen })
}

function embed({ encoder }: ProjectIndex, text: string): Promise<Float32Array> {
  const vector = encoder.encode([text]).then(([given]) => {
    if (given === undefined) throw new TypeError('The encoder gave no vector.')
    return given
  })
  // Whoever awaits it hears of a failure, also when something else failed first.
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
  return { outcome: 'no_match', because, explanation: explain(index, [], nothing, { confidence: null, margin: null }) }
}

function explain(
  index: ProjectIndex,
  ranked: Ranked[],
  filled: Filled,
  sure: Pick<Explanation, 'confidence' | 'margin'>,
): Explanation {
  const candidates = ranked.slice(0, shownCandidates).flatMap(({ candidate, score }) => {
    const query = index.queries[candidate.query]?.query
    if (query === undefined) return []
    return [
      {
        name: query.name,
        description: query.description,
        score,
        example: index.texts[candidate.bestText]?.text ?? query.description,
      },
    ]
  })
  return {
    candidates,
    matchedExample: candidates[0]?.example ?? null,
    parameters: filled.parameters,
    sources: filled.sources,
    unused: filled.unused,
    ...sure,
    threshold: index.calibration.threshold,
    minMargin: ambiguousMargin,
    encoder: index.encoder.kind,
  }
}
