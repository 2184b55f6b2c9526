import { breather } from './breathe.ts'
import type { Constants } from './constants.ts'
import { farQuestions, valuedQuestions } from './far-questions.ts'
import type { Embed, Uncalibrated } from './index-project.ts'
import { link } from './link.ts'
import { shape } from './mask.ts'
import { compare, gather, type Asked, type Candidate, type Evidence, type Without } from './rank.ts'
import { rowOf, scan } from './vectors.ts'
import { squaredDistance, toWhite, whiten, type Scatter } from './whiten.ts'

/** What speaks for answering at all. */
export const confidenceNames = [
  'probability',
  'whiteNear',
  'whiteGain',
  'shapeGain',
  'exactSignature',
  'slotsMissing',
  'spansUnused',
] as const

export type ConfidenceName = (typeof confidenceNames)[number]

/** What a project's own texts say about its questions: how close neighbours lie, and where to stop answering. */
export type Calibration = {
  neighbourCosine: number
  neighbourWhite: number
  threshold: number
  /** How many of the project's own examples, and of how many far-away questions, the threshold stands on. */
  basis: { examples: number; far: number }
}

export type Ranked = { candidate: Candidate; score: number }

export function rank(index: Uncalibrated, evidence: Evidence, without: Without = {}): Ranked[] {
  const { ranker } = index.encoder.constants
  return compare(index, evidence, without)
    .map((candidate) => ({ candidate, score: weigh(ranker, candidate.features) }))
    .sort((a, b) => b.score - a.score || a.candidate.query - b.candidate.query)
}

function weigh<Name extends string>(weights: Record<Name, number>, values: Record<Name, number>): number {
  let sum = 0
  for (const name in weights) sum += weights[name] * values[name]
  return sum
}

type Neighbours = Pick<Calibration, 'neighbourCosine' | 'neighbourWhite'>

/** The inputs of the confidence in the best of `ranked`. */
export function confidenceInputs(
  evidence: Pick<Evidence, 'whiteMasked'>,
  ranked: Ranked[],
  neighbours: Neighbours,
): Record<ConfidenceName, number> {
  const [best] = ranked
  if (best === undefined) throw new TypeError('Nothing is ranked.')
  let total = 0
  for (const { score } of ranked) total += Math.exp(score - best.score)
  const nearest = logDistance(Math.min(...ranked.map(({ candidate }) => candidate.whiteMasked)))
  const toMean = logDistance(evidence.whiteMasked.reduce((sum, value) => sum + value * value, 0))
  const { features } = best.candidate
  return {
    probability: 1 / total,
    whiteNear: nearest - neighbours.neighbourWhite,
    whiteGain: nearest - toMean,
    shapeGain: features.cosMasked - neighbours.neighbourCosine,
    exactSignature: features.exactSignature,
    slotsMissing: features.slotsMissing,
    spansUnused: features.spansUnused,
  }
}

// Keeps the logarithm calm where a question is one of the examples word for word.
const leastDistance = 20

function logDistance(squared: number): number {
  return Math.log(squared + leastDistance)
}

export function confidence(
  { confidence: { bias, weights } }: Constants,
  inputs: Record<ConfidenceName, number>,
): number {
  return bias + weigh(weights, inputs)
}

const mostNeighbours = 150
const mostExamples = 200
// How many of its own examples a project may refuse: few at least, more where that keeps near misses out.
const refusedShares = [0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08]
const nearMissWorth = 0.3
const farShare = 0.9
const valuedShare = 1
// Left-out examples look a little worse than new questions do, so this costs fewer of those.
const mostRefused = 0.12
const mostValued = 24
// With this many examples the project's own threshold counts as much as the general one.
const priorExamples = 20
const mostShift = 2.5

/** Learns a project's threshold from its own examples, each left out in turn, and from questions of other worlds. */
export async function calibrate(
  index: Uncalibrated,
  { scatter, embed }: { scatter: Scatter; embed: Embed },
): Promise<Calibration> {
  const neighbours = await measureNeighbours(index)
  const { constants } = index.encoder
  const breathe = breather()
  const judge: Judge = (seen, evidence, without) => {
    const ranked = rank(seen, evidence, without)
    return ranked.length === 0 ? [] : [confidence(constants, confidenceInputs(evidence, ranked, neighbours))]
  }
  const { accepted, taken } = await judgeExamples(index, scatter, judge)
  const judgeAll = async (questions: string[]): Promise<number[]> => {
    const values: number[] = []
    for (const asked of await askAll(index, embed, questions)) {
      values.push(...judge(index, gather(index, asked), {}))
      await breathe()
    }
    return values
  }
  const far = await judgeAll(farQuestions)
  const valued = await judgeAll(withValues(index.linker.samples))
  const threshold = chooseThreshold(constants.confidence.threshold, { accepted, taken, far, valued })
  return { ...neighbours, threshold, basis: { examples: accepted.length, far: far.length } }
}

/**
 * Confidences of examples left out, of examples whose query was taken away, and of far-away questions, plain
 * and with a value of the project in them. */
type Confidences = { accepted: number[]; taken: number[]; far: number[]; valued: number[] }
type Judge = (index: Uncalibrated, evidence: Evidence, without: Without) => number[]

/**
 * The confidence in each of the project's own examples as if it were new: itself left out, and compared in a space
 * that was learned from the other half of the queries. In its own space it would look closer than a stranger can.
 */
async function judgeExamples(
  index: Uncalibrated,
  scatter: Scatter,
  judge: Judge,
): Promise<Pick<Confidences, 'accepted' | 'taken'>> {
  const breathe = breather()
  const [accepted, taken]: [number[], number[]] = [[], []]
  for (const half of [0, 1]) {
    const seen = { ...index, whiteMasked: await whiten(scatter, 1 - half) }
    for (const text of spread(index.texts.length, mostExamples)) {
      // A description need not be a question: only examples tell how questions look.
      const own = index.texts[text]
      const query = index.queries[own?.query ?? -1]
      if (
        own === undefined ||
        query === undefined ||
        own.kind !== 'example' ||
        own.query % 2 !== half ||
        query.to - query.from < 2
      )
        continue
      const { linked, shape: shaped } = own
      const asked: Asked = { linked, shape: shaped, raw: rowOf(index.raw, text), masked: rowOf(index.masked, text) }
      const evidence = gather(seen, asked)
      accepted.push(...judge(seen, evidence, { text }))
      taken.push(...judge(seen, evidence, { query: own.query }))
      await breathe()
    }
  }
  return { accepted, taken }
}

/**
 * The general threshold, moved towards what the project's own examples allow, and lifted over far-away questions as
 * long as that costs few examples: some project answers what is far away for all others.
 */
export function chooseThreshold(general: number, { accepted, taken, far, valued }: Confidences): number {
  const trust = accepted.length / (accepted.length + priorExamples)
  const limits = refusedShares.map((refused) => {
    const limit = quantile(accepted, refused) ?? general
    const missesRefused = taken.filter((value) => value < limit).length / Math.max(taken.length, 1)
    return { limit, worth: nearMissWorth * missesRefused - refused }
  })
  const own = limits.reduce((best, each) => (each.worth > best.worth ? each : best)).limit
  const moved = general + trust * Math.max(-mostShift, Math.min(mostShift, own - general))
  const outside = Math.max(quantile(far, farShare) ?? -Infinity, quantile(valued, valuedShare) ?? -Infinity)
  const lifted = Math.min(outside, quantile(accepted, mostRefused) ?? general)
  return Math.max(moved, lifted)
}

function quantile(values: number[], at: number): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * at))]
}

/** At most `most` numbers below `count`, evenly spread, always the same ones. */
function spread(count: number, most: number): number[] {
  const step = Math.max(1, count / most)
  return Array.from({ length: Math.min(count, most) }, (_, at) => Math.floor(at * step))
}

/** How close the nearest other query lies, on average over the project's texts. */
async function measureNeighbours(index: Uncalibrated): Promise<Neighbours> {
  const breathe = breather()
  let [cosineSum, whiteSum, counted] = [0, 0, 0]
  for (const text of spread(index.texts.length, mostNeighbours)) {
    const own = index.texts[text]?.query ?? -1
    const masked = rowOf(index.masked, text)
    const white = toWhite(index.whiteMasked, masked)
    const cosines = scan(index.maskedCentroids, masked)
    let [cosine, nearest] = [-1, Infinity]
    for (let query = 0; query < index.queries.length; query += 1) {
      if (query === own) continue
      cosine = Math.max(cosine, cosines[query] ?? -1)
      nearest = Math.min(nearest, squaredDistance(rowOf(index.whiteMasked.centroids, query), white))
    }
    await breathe()
    if (nearest === Infinity) continue
    cosineSum += cosine
    whiteSum += logDistance(nearest)
    counted += 1
  }
  // A lone query has no neighbours: what is typical of other projects stands in.
  if (counted === 0) return { neighbourCosine: 0.7, neighbourWhite: 6 }
  return { neighbourCosine: cosineSum / counted, neighbourWhite: whiteSum / counted }
}

function withValues(samples: string[]): string[] {
  const filled = valuedQuestions.flatMap((question) => samples.map((value) => question.replace('{}', value)))
  return spread(filled.length, mostValued).flatMap((at) => filled[at] ?? [])
}

async function askAll(index: Uncalibrated, embed: Embed, questions: string[]): Promise<Asked[]> {
  const clock = { now: new Date(0), timeZone: 'UTC' }
  const shaped = questions.map((text) => {
    const linked = link(index.linker, text, clock)
    return { linked, shape: shape(linked, index.contexts) }
  })
  const raw = await embed(questions)
  const masked = await embed(shaped.map(({ shape: { masked: text } }) => text))
  return shaped.map(({ linked, shape: own }, at) => ({
    linked,
    shape: own,
    raw: rowOf(raw, at),
    masked: rowOf(masked, at),
  }))
}
