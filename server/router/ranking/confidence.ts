import type { Constants, FewName, ManyName } from '../learned/router-constants.ts'
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

/** What stands in where no query has two texts. */
export const typicalOwnCosine = 0.75
// Keeps the logarithm calm where a question is one of the examples word for word.
const minDistance = 20

export function logDistance(squared: number): number {
  return Math.log(squared + minDistance)
}

// With this many queries both measures count the same.
const evenQueries = 8

// What is left to the measure of few queries then would move nothing, and need not be looked for.
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
