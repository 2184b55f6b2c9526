import { defaultMinConfidence } from '../../../api/questions.ts'
import { verdictNames, type VerdictName } from '../../../api/verdicts.ts'
import { languageOf } from '../../language/index.ts'
import type { Doubt } from '../gaps/gap.ts'
import type { ProjectIndex } from '../project/project-index.ts'
import { ambiguousMargin, candidateReach, shareRight } from '../ranking/confidence.ts'
import { against, isOwnWording, type Candidate } from './candidate.ts'
import { explain, leastShare, lowered } from './explain.ts'
import { conclude, type Explanation, type RouteOptions, type Routing } from './routing.ts'

/** A question with the queries that could answer it and all their evidence. */
export type Case = {
  text: string
  options: RouteOptions
  /** The one that chooses: the reader, which has read the best; the router alone; or a caller who has named the only one. */
  by: 'reader' | 'router' | 'caller'
  /** As the router ranks them. */
  candidates: Candidate[]
  /** How far the router's evidence lies above where the project stops answering; null where nothing was compared. */
  lead: number | null
  /** The first is an example of one query alone: the others do not matter. */
  isUncompared?: boolean
}

/** A case with the query that would answer, and what its evidence comes to. */
type Weighed = Omit<Case, 'candidates'> & {
  index: ProjectIndex
  chosen: Candidate
  /** The router's first. */
  first: Candidate
  isKnown: boolean
  margin: number | null
  ahead: number | null
  explanation: Explanation
  /** Enough speaks for it by the router's own measure. */
  isNear: boolean
  /** The share is below the limit for what the router would answer, or would not. */
  isRefused: boolean
  concluded: Routing
}

type Row = { when: (the: Weighed) => boolean; outcome: (the: Weighed) => Routing }

/** When each verdict holds, and how it ends the question. The first that holds does; the last always does. */
export const rows: Record<VerdictName, Row> = {
  own_wording: { when: ({ isKnown }) => isKnown, outcome: ({ concluded }) => concluded },
  little_in_common: { when: ({ by, isNear }) => by === 'router' && !isNear, outcome: nothingNear },
  opposed: {
    when: ({ by, chosen }) => by !== 'caller' && against(chosen) !== null,
    outcome: (the) => opposedBy(the, the.chosen),
  },
  tied: { when: ({ by, margin }) => by === 'router' && isTied(margin), outcome: tied },
  period_end: {
    when: ({ isNear, isRefused, concluded }) => (isNear || !isRefused) && concluded.outcome === 'period_end',
    outcome: ({ concluded }) => concluded,
  },
  missing_value: {
    when: ({ isNear, isRefused, concluded }) => (isNear || !isRefused) && concluded.outcome !== 'answer',
    outcome: ({ concluded }) => concluded,
  },
  doubted_value: {
    when: (the) => (the.isNear || !the.isRefused) && doubtedBy(the) !== null,
    outcome: askBack,
  },
  nearest_opposed: {
    when: ({ isNear, isRefused, first }) => isRefused && !isNear && against(first) !== null,
    outcome: (the) => opposedBy(the, the.first),
  },
  far: { when: ({ isNear, isRefused }) => isRefused && !isNear, outcome: nothingNear },
  left_out: { when: ({ isRefused }) => isRefused, outcome: (the) => withWords(the, 'partial') },
  tied_when_read: {
    when: ({ by, margin, ahead }) => by === 'reader' && isTied(margin) && ahead !== null && ahead < tiedBelow,
    outcome: tied,
  },
  unsure: { when: isUnsure, outcome: unsure },
  may_leave_out: { when: mayLeaveOut, outcome: (the) => withWords(the, 'sure') },
  whole: { when: () => true, outcome: ({ concluded }) => concluded },
}

/** Decides how a question ends, by its evidence alone. */
export function reachVerdict(index: ProjectIndex, the: Case): Routing {
  const weighed = weigh(index, the)
  const verdict = verdictNames.find((name) => rows[name].when(weighed) && !index.rulesOff.has(name)) ?? 'whole'
  const routing = rows[verdict].outcome(weighed)
  return { ...routing, explanation: { ...routing.explanation, verdict } }
}

/** Two that the router cannot tell apart must lie so far apart for the reader. */
const tiedBelow = 1

/** The query that would answer, with those beside it, and what all their evidence comes to. */
export function weigh(index: ProjectIndex, the: Case): Weighed {
  const { chosen, others } = choose(index, the)
  const [first = chosen] = the.candidates
  const [second] = others
  const { by, lead, options, isUncompared = false } = the
  const margin = second === undefined ? null : chosen.placed.score - second.placed.score
  const isKnown = by === 'reader' && chosen === first && isOwnWording(isUncompared ? [first] : the.candidates)
  const match = isKnown ? Infinity : by === 'reader' ? (chosen.reading?.match ?? null) : null
  const rivals = others.flatMap(({ reading }) => reading?.match ?? [])
  const ahead = match === null || isKnown || rivals.length === 0 ? null : match - Math.max(...rivals)
  const placed = [chosen, ...others].map((each) => each.placed)
  const signs = { lead, margin: isUncompared ? null : margin, match, ahead }
  const explained = explain(index, placed, chosen.filled, signs)
  const explanation = { ...explained, margin, match: chosen.reading?.match ?? null }
  const isClose = first.placed.score - chosen.placed.score <= candidateReach
  const isNear = isClose && (lead === null || lead + chosen.lack >= 0)
  return {
    ...the,
    index,
    chosen,
    first,
    isKnown,
    margin,
    ahead,
    explanation,
    isNear,
    isRefused: by === 'reader' && (explanation.confidence ?? 0) < leastToAnswer(index, the.text, isNear),
    concluded: conclude(chosen.query, chosen.filled, { explanation, given: options.given }),
  }
}

/**
 * The share from which on a question is answered that the router would answer, or would refuse. What the router would
 * refuse in another language is not answered: the reader has learned none.
 */
function leastToAnswer({ encoder: { reader }, queries, linker }: ProjectIndex, text: string, isNear: boolean): number {
  if (reader === null) return 0
  const { constants } = reader
  if (isNear) return constants.refuse_below
  if (languageOf(text, linker.mayBeTypo) !== null) return Infinity
  return queries.length < constants.few_queries ? constants.refuse_far_of_few_below : constants.refuse_far_below
}

type Choice = { chosen: Candidate; others: Candidate[] }

/** Penalty on the opposite of two queries that the reader finds alike. */
const opposedCost = 3

/** Chooses by what the reader has read; the router's first where it has read nothing and none is opposed. */
function choose({ encoder: { reader } }: ProjectIndex, { by, candidates }: Case): Choice {
  if (by === 'router') return unopposed(candidates)
  const weight = reader?.constants.score_weight ?? 0
  const worth = (each: Candidate): number =>
    (each.reading?.match ?? 0) + weight * each.placed.score - (against(each) === null ? 0 : opposedCost)
  const read = candidates.filter(({ reading }) => reading !== null).sort((a, b) => worth(b) - worth(a))
  const chosen = read[0] ?? firstOf(candidates)
  return { chosen, others: candidates.filter((each) => each !== chosen) }
}

function firstOf([first]: Candidate[]): Candidate {
  if (first === undefined) throw new TypeError('A case has no candidate.')
  return first
}

const maxOpposed = 4

/** Passes over queries that mean the opposite of the question, as long as another lies near. */
function unopposed(candidates: Candidate[]): Choice {
  const first = firstOf(candidates)
  let left = candidates
  for (let turn = 0; turn < maxOpposed; turn += 1) {
    const [best, second] = left
    if (best === undefined || first.placed.score - best.placed.score > candidateReach) break
    const isClose = second !== undefined && isTied(best.placed.score - second.placed.score)
    const opposed = against(best) !== null ? best : isClose && against(second) !== null ? second : null
    if (opposed === null) return { chosen: best, others: left.slice(1) }
    left = left.filter((each) => each !== opposed)
  }
  return { chosen: first, others: candidates.slice(1) }
}

function isTied(margin: number | null): boolean {
  return margin !== null && margin < ambiguousMargin
}

function tied({ explanation }: Weighed): Routing {
  return { outcome: 'ambiguous', explanation }
}

/** A refused question shows no higher share than one that is answered. */
function refused({ index, by, explanation }: Weighed): Explanation {
  const { reader } = index.encoder
  return lowered(explanation, by === 'reader' && reader !== null ? reader.constants.refuse_below : leastShare(index))
}

/** No query comes near: for want of words in common, or because it is asked in another language. */
function nothingNear(the: Weighed): Routing {
  const because = languageOf(the.text, the.index.linker.mayBeTypo) === null ? 'not_confident' : 'other_language'
  return { outcome: 'no_match', because, explanation: refused(the) }
}

function opposedBy(the: Weighed, candidate: Candidate): Routing {
  return {
    outcome: 'no_match',
    because: 'opposed',
    objection: against(candidate) ?? '',
    explanation: refused(the),
  }
}

/** A value that no slot has, where the reader too finds nothing that expresses it. */
function doubtedBy({ chosen: { filled, reading }, options }: Weighed): Doubt | null {
  const { completeness, given = {} } = options
  const open = filled.doubts.filter(({ slot }) => given[slot] === undefined)
  if (reading === null || open.length === 0 || completeness === 'partial') return null
  const left = reading.unexpressed()
  return open.find(({ start, end }) => left.some((each) => each.start < end && start < each.end)) ?? null
}

function askBack(the: Weighed): Routing {
  const { concluded } = the
  const doubted = doubtedBy(the)
  if (concluded.outcome !== 'answer' || doubted === null) return concluded
  const { query, parameters } = concluded
  const { slot } = doubted
  const { [slot]: _, ...rest } = parameters
  const explanation = saying(the)
  return { outcome: 'missing_slots', query, parameters: rest, missing: [slot], gaps: [doubted], explanation }
}

/** The explanation with the words that the query leaves out. */
function saying({ explanation, chosen: { reading } }: Weighed): Explanation {
  return { ...explanation, unexpressed: reading?.unexpressed() ?? [] }
}

/** An answer that says what it leaves out, for callers who accept so much; a refusal for the others. */
function withWords(the: Weighed, least: 'partial' | 'sure'): Routing {
  const { concluded } = the
  if (concluded.outcome !== 'answer') return concluded
  const { completeness = 'sure' } = the.options
  const isAccepted = completeness === 'partial' || (completeness === 'sure' && least === 'sure')
  return { ...concluded, outcome: isAccepted ? 'answer' : 'unexpressed', explanation: saying(the) }
}

/**
 * More likely wrong than the project accepts; a caller who accepts a part has been told. Where the reader is not
 * believed, shares are too low for right answers, so that only a least confidence that somebody chose refuses there.
 */
function isUnsure({ index, by, options, explanation: { confidence } }: Weighed): boolean {
  if (by !== 'reader' && index.leastConfidence === defaultMinConfidence) return false
  return options.completeness !== 'partial' && confidence !== null && confidence < index.leastConfidence
}

function unsure(the: Weighed): Routing {
  const { concluded } = the
  if (concluded.outcome !== 'answer') return concluded
  return { ...concluded, outcome: 'unsure', explanation: mayLeaveOut(the) ? saying(the) : the.explanation }
}

/** Whether the reader finds that something may be left out; where it is not believed to choose, far below zero. */
function mayLeaveOut({ index, by, chosen: { reading, filled }, explanation: { confidence } }: Weighed): boolean {
  const { encoder } = index
  if (reading === null || encoder.reader === null || index.reading === null) return false
  const { flag_below: flagBelow, guard } = encoder.reader.constants
  if (by === 'reader') return (confidence ?? 0) < flagBelow
  const { match } = reading
  if (index.reading.trust !== 'chooses') return match < guard.flag_below
  const signs = { lead: 0, match, ahead: null, margin: null, hasUnused: filled.unused.length > 0 }
  return shareRight(encoder.constants, signs) < flagBelow
}
