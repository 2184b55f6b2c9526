import { languageOf } from '../language/index.ts'
import { bareWording, reportedWrong, type Told } from './ranking/counter-examples.ts'
import { explain, lowered } from './decision/explain.ts'
import { fill, type Filled } from './filling/fill.ts'
import type { Doubt } from './gaps/gap.ts'
import { candidateReach } from './judge.ts'
import { lack } from './lack.ts'
import { objectionTo } from './objections.ts'
import type { IndexedQuery, ProjectIndex } from './project/project-index.ts'
import { ambiguousMargin, type Ranked } from './ranking/confidence.ts'
import type { Asked } from './ranking/evidence.ts'
import { shareRight } from './ranking/share.ts'
import type { ProjectReading } from './reader/project-reading.ts'
import { readQuestionWhole, type WholeReading } from './reader/read-whole.ts'
import type { Reader } from './encoder/reader.ts'
import type { Unexpressed } from './reader/unexpressed.ts'
import { conclude, type Explanation, type RouteOptions, type Routing } from './decision/routing.ts'

type Answered = Extract<Routing, { outcome: 'answer' }>

/** A question with the queries that could answer it, as the router ranks them. */
export type Judging = {
  asked: Asked
  ranked: Ranked[]
  /** How far the router's own evidence lies above where the project stops answering. */
  lead: number
  /** What people have said of questions like this one. */
  told: Told
  options: RouteOptions
}

/** One of the router's best queries, read beside the question. */
type Candidate = {
  each: Ranked
  query: IndexedQuery
  filled: Filled
  objection: string | null
  read: WholeReading
}

/**
 * Chooses among the router's best queries the one that answers the whole question, and says how surely. What it surely
 * leaves out makes it no answer; what it likely leaves out is said beside the answer. Null where the reader cannot be
 * believed, and the router decides alone.
 */
export async function routeWhole(index: ProjectIndex, judging: Judging): Promise<Routing | null> {
  const { reading, encoder } = index
  const { reader } = encoder
  const first = judging.ranked[0]
  if (reader === null || reading === null || !reading.isBelieved || first === undefined) return null
  if (reading.cards[first.candidate.query]?.isBare === true) return null
  // Nothing that so little speaks for was ever right, and signs that it does not know tell the reader nothing.
  if (judging.lead < reader.constants.least_lead || isUnreadable(reader, judging.asked.linked.text)) return null
  const own = ownWording(index, judging, first)
  if (own !== null) return own
  const read = await readCandidates(index, judging, { reader, reading })
  const [chosen] = read
  return chosen === undefined ? null : concludeWhole(index, judging, { reader, chosen, read })
}

function isUnreadable({ tokenizer, constants }: Reader, text: string): boolean {
  return tokenizer.pieces(text).every(({ id }) => id === constants.token.unknown)
}

/** The best first. Where the first leaves no doubt, it is the only one. */
async function readCandidates(
  index: ProjectIndex,
  { asked, ranked, told, options }: Judging,
  { reader, reading }: { reader: Reader; reading: ProjectReading },
): Promise<Candidate[]> {
  const { candidates: count, score_reach: reach, sure_from: sureFrom, score_weight: weight } = reader.constants
  const look = async (each: Ranked): Promise<Candidate> => {
    const [query, card] = [index.queries[each.candidate.query], reading.cards[each.candidate.query]]
    if (query === undefined || card === undefined) throw new TypeError('A ranked query is not in the index.')
    const filled = fill(index, asked, query, options)
    const objection = reportedWrong(query, told) ?? objectionTo(index, asked, query, filled)
    const read = await readQuestionWhole(reader, card, { text: asked.linked.text, sources: filled.sources }, reading)
    return { each, query, filled, objection, read }
  }
  const worth = ({ each, objection, read }: Candidate): number =>
    read.match + weight * each.score - (objection === null ? 0 : opposedCost)
  const [first, ...rest] = ranked.slice(0, count)
  if (first === undefined) return []
  const others = rest.filter(({ score }) => first.score - score <= reach)
  const best = await look(first)
  const second = others[0]
  const isAlone = second === undefined || first.score - second.score >= ambiguousMargin
  if (best.objection === null && isAlone && best.read.match >= sureFrom) return [best]
  return [best, ...(await Promise.all(others.map(look)))].sort((a, b) => worth(b) - worth(a))
}

/** The share from which on a question is answered that the router would refuse. */
function farLimit({ queries }: ProjectIndex, { constants }: Reader): number {
  return queries.length < constants.far_from_queries ? Infinity : constants.refuse_far_below
}

/** Two that the router cannot tell apart must lie so far apart for the reader. */
const tiedBelow = 1
/** Of two that the reader finds alike, the one that means the opposite is not the one. */
const opposedCost = 3

function concludeWhole(
  index: ProjectIndex,
  { asked, ranked, lead, options }: Judging,
  { reader, chosen, read }: { reader: Reader; chosen: Candidate; read: Candidate[] },
): Routing {
  const { refuse_below: refuseBelow, flag_below: flagBelow } = reader.constants
  const { each, query, filled, objection } = chosen
  const others = ranked.filter((other) => other !== each)
  const margin = others[0] === undefined ? null : each.score - others[0].score
  const { match } = chosen.read
  const rivals = read.filter((other) => other !== chosen).map((other) => other.read.match)
  const ahead = rivals.length === 0 ? null : match - Math.max(...rivals)
  const explanation = explain(index, [each, ...others], filled, { lead, margin, match, ahead })
  const share = explanation.confidence ?? 0
  const refused = lowered(explanation, refuseBelow)
  if (objection !== null) return { outcome: 'no_match', because: 'opposed', objection, explanation: refused }
  const told = (): Routing['explanation'] => ({ ...explanation, unexpressed: chosen.read.unexpressed() })
  const concluded = conclude(query, filled, { explanation, given: options.given })
  // What speaks for answering speaks for the first: another is near only where it lies close to it.
  const isClose = (ranked[0]?.score ?? each.score) - each.score <= candidateReach
  const isNear = isClose && lead + lack(index, each, filled) >= 0
  const isRefused = share < (isNear ? refuseBelow : farLimit(index, reader))
  if (isNear || !isRefused) {
    if (concluded.outcome !== 'answer') return concluded
    const doubted = doubtedIn({ doubts: filled.doubts, options }, chosen.read)
    if (doubted !== null && !index.rulesOff.has('doubted value')) return askBack(concluded, doubted, told())
  }
  if (isRefused) {
    // What comes near is refused with the words that it leaves out; to the rest no query comes near.
    if (!isNear || concluded.outcome !== 'answer') {
      const against = read.find((other) => other.each === ranked[0])?.objection ?? null
      if (against !== null) return { outcome: 'no_match', because: 'opposed', objection: against, explanation: refused }
      return notConfident(asked, refused)
    }
    const isPartial = options.completeness === 'partial'
    return { ...concluded, outcome: isPartial ? 'answer' : 'unexpressed', explanation: told() }
  }
  if (concluded.outcome !== 'answer') return concluded
  if (share < index.leastConfidence) return { outcome: 'no_match', because: 'unsure', explanation }
  const isTied = margin !== null && margin < ambiguousMargin && ahead !== null && ahead < tiedBelow
  if (isTied) return { outcome: 'ambiguous', explanation }
  if (share >= flagBelow) return concluded
  return { ...concluded, outcome: options.completeness === 'strict' ? 'unexpressed' : 'answer', explanation: told() }
}

/** No query comes near: for want of words in common, or because it is asked in another language. */
export function notConfident({ linked }: Asked, explanation: Explanation): Routing {
  return {
    outcome: 'no_match',
    because: languageOf(linked.text) === null ? 'not_confident' : 'other_language',
    explanation,
  }
}

/** One of the query's own examples but for its values: its author has said that it is answered, and nothing is left out. */
function ownWording(
  index: ProjectIndex,
  { asked, ranked, lead, told, options }: Judging,
  first: Ranked,
): Routing | null {
  const query = index.queries[first.candidate.query]
  if (query === undefined) return null
  const said = bareWording(asked.shape.masked)
  const texts = index.texts.slice(query.from, query.to)
  const isMeant = told.meantQuery === query.query.name
  const isOwn = texts.some(({ kind, shape }) => kind === 'example' && bareWording(shape.masked) === said)
  if (!isMeant && !isOwn) return null
  const filled = fill(index, asked, query, options)
  if (reportedWrong(query, told) !== null) return null
  if (!isMeant && (filled.unused.length > 0 || objectionTo(index, asked, query, filled) !== null)) return null
  const margin = ranked[1] === undefined ? null : first.score - ranked[1].score
  if (margin !== null && margin < ambiguousMargin) return null
  // Its share is that of what the reader is surest of.
  const known = explain(index, ranked, filled, { lead, margin, match: Infinity })
  return conclude(query, filled, { explanation: { ...known, match: null }, given: options.given })
}

/** A value that no slot has, where the reader too finds nothing that expresses it. */
function doubtedIn(
  { doubts, options: { completeness, given = {} } }: { doubts: Doubt[]; options: RouteOptions },
  { unexpressed }: WholeReading,
): Doubt | null {
  const open = doubts.filter(({ slot }) => given[slot] === undefined)
  if (open.length === 0 || completeness === 'partial') return null
  const left: Unexpressed[] = unexpressed()
  return open.find(({ start, end }) => left.some((each) => each.start < end && start < each.end)) ?? null
}

function askBack({ query, parameters }: Answered, { slot, message }: Doubt, explanation: Explanation): Routing {
  const { [slot]: _, ...rest } = parameters
  return { outcome: 'missing_slots', query, parameters: rest, missing: [slot], gaps: [{ slot, message }], explanation }
}

/** Says what an answer leaves out that the router has chosen alone, or the caller; refuses it only where that is wanted. */
export async function checkWhole(
  index: ProjectIndex,
  { asked, doubts, options }: Pick<Judging, 'asked' | 'options'> & { doubts: Doubt[] },
  routing: Answered,
): Promise<Routing> {
  const { encoder, reading, queries } = index
  const { reader } = encoder
  const at = queries.findIndex(({ query }) => query.name === routing.query)
  const card = reading?.cards[at]
  if (reader === null || reading === null || card === undefined || card.isBare) return routing
  const { sources, unused } = routing.explanation
  const read = await readQuestionWhole(reader, card, { text: asked.linked.text, sources }, reading)
  const { match } = read
  const doubted = doubtedIn({ doubts, options }, read)
  if (doubted !== null && !index.rulesOff.has('doubted value'))
    return askBack(routing, doubted, { ...routing.explanation, match, unexpressed: read.unexpressed() })
  const share = shareRight(encoder.constants, {
    lead: 0,
    match,
    ahead: null,
    margin: null,
    hasUnused: unused.length > 0,
  })
  if (reading.isBelieved ? share >= reader.constants.flag_below : match >= reading.flagBelow) {
    return { ...routing, explanation: { ...routing.explanation, match } }
  }
  const explanation = { ...routing.explanation, match, unexpressed: read.unexpressed() }
  return { ...routing, outcome: options.completeness === 'strict' ? 'unexpressed' : 'answer', explanation }
}
