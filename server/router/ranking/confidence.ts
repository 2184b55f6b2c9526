import type { Constants, FewName, ManyName, ReadName } from '../learned/router-constants.ts'
import type { TextCloseness, Uncalibrated } from '../project/project-index.ts'
import { compare, type Candidate, type Without } from './compare.ts'
import type { Evidence } from './evidence.ts'

export type ConfidenceInputs = Record<ManyName | FewName, number>

export type Ranked = { candidate: Candidate; score: number }

/** Best first. `among` are the only queries that are looked at, where others cannot matter. */
export function rank(index: Uncalibrated, evidence: Evidence, without: Without = {}, among?: number[]): Ranked[] {
  const { ranker } = index.encoder.constants
  return compare(index, evidence, without, among)
    .map((candidate) => ({ candidate, score: weigh(ranker, candidate.features) }))
    .sort((a, b) => b.score - a.score || a.candidate.query - b.candidate.query)
}

function weigh<Name extends string>(weights: Record<Name, number>, values: Record<Name, number>): number {
  let sum = 0
  for (const name in weights) sum += weights[name] * values[name]
  return sum
}

/** Two best queries closer than this are both offered. */
export const ambiguousMargin = 0.15

/** A candidate this far behind the best is never chosen, even if the best is rejected. */
export const candidateReach = 1.5

/** The inputs of the confidence in the best of `ranked`. */
export function confidenceInputs(
  evidence: Pick<Evidence, 'whiteMasked' | 'elsewhere'>,
  ranked: Ranked[],
  neighbours: TextCloseness,
): ConfidenceInputs {
  const [best] = ranked
  if (best === undefined) throw new TypeError('Nothing is ranked.')
  let [close, total] = [0, 0]
  for (const { score } of ranked) {
    const share = Math.exp(score - best.score)
    total += share
    if (best.score - score < ambiguousMargin) close += share
  }
  const nearest = logDistance(Math.min(...ranked.map(({ candidate }) => candidate.whiteMasked)))
  const toMean = logDistance(evidence.whiteMasked.square)
  const { features, query } = best.candidate
  return {
    // Twins speak for each other: that both could answer makes a question ambiguous, not unanswerable.
    probability: close / total,
    whiteNear: nearest - neighbours.neighbourWhite,
    whiteGain: nearest - toMean,
    shapeGain: features.cosMasked - neighbours.neighbourCosine,
    ownGain: features.cosMasked - (neighbours.ownCosine[query] ?? typicalOwnCosine),
    cosRaw: features.cosRaw,
    cosName: features.cosName,
    slotsMissing: features.slotsMissing,
    spansUnused: features.spansUnused,
    strange: best.candidate.strange,
    elsewhere: evidence.elsewhere,
    worded: best.candidate.worded,
  }
}

/** Default where no query has two texts. */
export const typicalOwnCosine = 0.75
// Keeps the logarithm calm where a question is one of the examples word for word.
const minDistance = 20

export function logDistance(squared: number): number {
  return Math.log(squared + minDistance)
}

// With this many queries both measures count the same.
const evenQueries = 8

// Above this share the measure for few queries would move nothing, so it is not computed.
const wholeShare = 0.999

/** How much the measure of many queries counts in a project of this size. */
export function shareOfMany(queries: number): number {
  const share = queries ** 2 / (queries ** 2 + evenQueries ** 2)
  return share > wholeShare ? 1 : share
}

/** Above zero, what holds for every project would answer; the project's own threshold says more. */
export function confidence(
  { confidence: { many, few } }: Constants,
  queries: number,
  inputs: ConfidenceInputs,
): number {
  const share = shareOfMany(queries)
  return share * (many.bias + weigh(many.weights, inputs)) + (1 - share) * (few.bias + weigh(few.weights, inputs))
}

/** Signs of an answer that are known before it is given. */
export type AnswerSigns = {
  /** How far the router's own evidence lies above where the project stops answering. */
  lead: number
  /** The reader's logit; null where it has not read the question. */
  match: number | null
  /** How far the reader puts the query ahead of the next it has read; null where it has read no other. */
  ahead: number | null
  /** How far the router puts the query ahead of the next; null where there is no other. */
  margin: number | null
  /** Whether a value of the question fills no slot. */
  hasUnused: boolean
}

const clip = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))

/** Beyond these the signs say no more. */
const range = { short: [-4, 0], match: [-10, 7], margin: [-2, 4], ahead: [-4, 8] } as const

/** The match in three stretches: what surely leaves something out, what may, and what does not. */
export function inputsOf({ lead, match, ahead, margin, hasUnused }: AnswerSigns): Record<ReadName, number> {
  const read = clip(match ?? 0, ...range.match)
  return {
    // Above the limit it says nothing that the margin and the reader do not say better.
    short: clip(lead, ...range.short),
    margin: clip(margin ?? range.margin[1], ...range.margin),
    unused: hasUnused ? 1 : 0,
    matchLow: Math.min(read, 0),
    matchMiddle: clip(read, 0, 4),
    matchHigh: Math.max(read - 4, 0),
    ahead: clip(ahead ?? range.ahead[1], ...range.ahead),
  }
}

/** Share of answers with these signs that are right (`bench/trust/calibration.ts` learns and checks it). */
export function shareRight({ share: { read, unread } }: Constants, signs: AnswerSigns): number {
  const inputs = inputsOf(signs)
  const sum =
    signs.match === null ? unread.bias + weigh(unread.weights, inputs) : read.bias + weigh(read.weights, inputs)
  return 1 / (1 + Math.exp(-sum))
}
