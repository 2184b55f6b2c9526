import { fixedLimits } from '../../api/limits.ts'
import { link, shape, type CallerTime, type Linked } from '../language/index.ts'
import { fill, type Filled } from './filling/fill.ts'
import { heedCounterExamples, reportedWrong, type Told } from './ranking/counter-examples.ts'
import { candidateReach, judge, rerank, type Judged } from './judge.ts'
import { lack } from './lack.ts'
import { objectionTo } from './objections.ts'
import { explain, lowered } from './decision/explain.ts'
import { answerOwnWording } from './own-wording.ts'
import type { ProjectIndex } from './project/project-index.ts'
import { ambiguousMargin, type Ranked } from './ranking/confidence.ts'
import { shareRight } from './ranking/share.ts'
import { gather, lexicalEvidence, rawEvidence, type Asked, type Evidence } from './ranking/evidence.ts'
import { conclude, type RouteOptions, type Routing } from './decision/routing.ts'
import { spell, type Spelled } from './spell.ts'
import { vectorOf } from './vector-of.ts'
import { checkWhole, notConfident, routeWhole, type Judging } from './whole.ts'

const nothing: Filled = { parameters: {}, sources: {}, missing: [], unused: [], gaps: [], doubts: [] }

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
  const own = answerOwnWording(index, shaped, options)
  if (own !== null && options.explain !== true) return own
  const first = judge(index, await encode(index, shaped))
  const judged = (await rerank(index, first)) ?? first
  if (own !== null) return answerOwnWording(index, shaped, options, judged.ranked) ?? own
  const { evidence } = judged
  const told = heedCounterExamples(index, evidence.asked)
  const { ranked, sure } = withMeant(index, judged, told)
  const judging = { asked: evidence.asked, ranked, lead: sure - index.calibration.threshold, told, options }
  return (await routeWhole(index, judging)) ?? routeAlone(index, judging)
}

/** What the router makes of a question where no reader can be believed. */
async function routeAlone(index: ProjectIndex, judging: Judging): Promise<Routing> {
  const { asked, lead, options } = judging
  const { ranked, filled, objection } = unopposed(index, judging)
  const [best, second] = ranked
  const query = index.queries[best?.candidate.query ?? -1]
  if (best === undefined || query === undefined) return refuse(index, 'nothing_deployed')
  const margin = second === undefined ? null : best.score - second.score
  const explanation = explain(index, ranked, filled, { lead, margin })
  const refused = lowered(explanation, leastShare(index))
  if (lead + lack(index, best, filled) < 0) return notConfident(asked, refused)
  if (objection !== null) return { outcome: 'no_match', because: 'opposed', objection, explanation: refused }
  if (margin !== null && margin < explanation.minMargin) return { outcome: 'ambiguous', explanation }
  const concluded = conclude(query, filled, { explanation, given: options.given })
  if (concluded.outcome !== 'answer') return concluded
  return sureEnough(index, await checkWhole(index, { ...judging, doubts: filled.doubts }, concluded))
}

/** What an answer has for which nothing speaks but that it may just be given. */
function leastShare({ encoder }: ProjectIndex): number {
  const signs = { lead: 0, margin: ambiguousMargin, match: null, ahead: null, hasUnused: true }
  return shareRight(encoder.constants, signs)
}

/** What the project would rather refuse than answer wrongly. */
function sureEnough(index: ProjectIndex, routing: Routing): Routing {
  const { confidence } = routing.explanation
  if (routing.outcome !== 'answer' || confidence === null || confidence >= index.leastConfidence) return routing
  return { outcome: 'no_match', because: 'unsure', explanation: routing.explanation }
}

type Unopposed = { ranked: Ranked[]; filled: Filled; objection: string | null }

const maxOpposed = 4
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

/** Passes over queries that mean the opposite of the question, as long as another lies near; else says what opposes. */
function unopposed(index: ProjectIndex, { asked, ranked, told, options }: Judging): Unopposed {
  const seen = new Map<Ranked, Omit<Unopposed, 'ranked'>>()
  const look = (each: Ranked): Omit<Unopposed, 'ranked'> => {
    const known = seen.get(each)
    if (known !== undefined) return known
    const query = index.queries[each.candidate.query]
    const filled = query === undefined ? nothing : fill(index, asked, query, options)
    const objection =
      query === undefined ? null : (reportedWrong(query, told) ?? objectionTo(index, asked, query, filled))
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
  return { outcome: 'no_match', because, explanation: explain(index, [], nothing, { lead: null, margin: null }) }
}
