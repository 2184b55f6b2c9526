import { breather } from './breathe.ts'
import type { Constants } from './constants.ts'
import { farQuestions } from './far-questions.ts'
import type { Uncalibrated } from './index-project.ts'
import { link } from './link.ts'
import { shape } from './mask.ts'
import { compare, gather, type Asked, type Candidate, type Evidence, type Without } from './rank.ts'
import { dotRow, rowOf } from './vectors.ts'
import { toWhite } from './whiten.ts'

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
const share = { examplesRefused: 0.04, farRefused: 0.99 }
// With this many examples the project's own threshold counts as much as the general one.
const priorExamples = 20
const mostShift = 2

/** Learns a project's threshold from its own examples, each left out in turn, and from questions of other worlds. */
export async function calibrate(index: Uncalibrated): Promise<Calibration> {
  const neighbours = await measureNeighbours(index)
  const { constants } = index.encoder
  const breathe = breather()
  const judge = (evidence: Evidence, without: Without): { top: number; value: number } | null => {
    const ranked = rank(index, evidence, without)
    const [best] = ranked
    if (best === undefined) return null
    return { top: best.candidate.query, value: confidence(constants, confidenceInputs(evidence, ranked, neighbours)) }
  }
  const accepted: number[] = []
  for (const text of spread(index.texts.length, mostExamples)) {
    const own = index.texts[text]
    const query = index.queries[own?.query ?? -1]
    if (own === undefined || query === undefined || query.to - query.from < 2) continue
    const asked: Asked = {
      linked: own.linked,
      shape: own.shape,
      raw: rowOf(index.raw, text),
      masked: rowOf(index.masked, text),
    }
    const judged = judge(gather(index, asked), { text })
    if (judged?.top === own.query) accepted.push(judged.value)
    await breathe()
  }
  const far: number[] = []
  for (const { asked } of await askFar(index)) {
    const judged = judge(gather(index, asked), {})
    if (judged !== null) far.push(judged.value)
    await breathe()
  }
  const threshold = chooseThreshold(constants.confidence.threshold, accepted, far)
  return { ...neighbours, threshold, basis: { examples: accepted.length, far: far.length } }
}

/** The general threshold, moved towards what the project's own examples allow and kept above the far-away ones. */
export function chooseThreshold(general: number, accepted: number[], far: number[]): number {
  const trust = accepted.length / (accepted.length + priorExamples)
  const own = quantile(accepted, share.examplesRefused) ?? general
  const moved = general + trust * Math.max(-mostShift, Math.min(mostShift, own - general))
  const farTop = quantile(far, share.farRefused) ?? -Infinity
  const middle = quantile(accepted, 0.25) ?? general + mostShift
  return Math.max(moved, Math.min(farTop, middle))
}

function quantile(values: number[], at: number): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * at))]
}

/** At most `most` numbers below `count`, evenly spread, always the same ones. */
function spread(count: number, most: number): number[] {
  const step = Math.max(1, count / most)
  return Array.from({ length: Math.min(count, most) }, (_, at) => Math.floor(at * step))
}

/** How close the nearest text of another query lies, on average over the project's texts. */
async function measureNeighbours(index: Uncalibrated): Promise<Neighbours> {
  const sample = spread(index.texts.length, mostNeighbours)
  const breathe = breather()
  let [cosines, whites, counted] = [0, 0, 0]
  for (const text of sample) {
    const own = index.texts[text]?.query ?? -1
    const masked = rowOf(index.masked, text)
    const white = toWhite(index.whiteMasked, masked)
    let [cosine, nearest] = [-1, Infinity]
    for (const [query, { from, to }] of index.queries.entries()) {
      if (query === own) continue
      for (let other = from; other < to; other += 1) cosine = Math.max(cosine, dotRow(index.masked, other, masked))
      nearest = Math.min(nearest, squaredDistance(rowOf(index.whiteMasked.centroids, query), white))
    }
    await breathe()
    if (nearest === Infinity) continue
    cosines += cosine
    whites += logDistance(nearest)
    counted += 1
  }
  // A lone query has no neighbours: what is typical of other projects stands in.
  return counted === 0
    ? { neighbourCosine: 0.7, neighbourWhite: 6 }
    : { neighbourCosine: cosines / counted, neighbourWhite: whites / counted }
}

function squaredDistance(left: Float32Array, right: Float32Array): number {
  let sum = 0
  for (let at = 0; at < left.length; at += 1) sum += ((left[at] as number) - (right[at] as number)) ** 2
  return sum
}

async function askFar(index: Uncalibrated): Promise<{ asked: Asked }[]> {
  const clock = { now: new Date(0), timeZone: 'UTC' }
  const shaped = farQuestions.map((text) => {
    const linked = link(index.linker, text, clock)
    return { linked, shape: shape(linked, index.contexts) }
  })
  const raw = await index.embed(farQuestions)
  const masked = await index.embed(shaped.map(({ shape: { masked: text } }) => text))
  return shaped.map((each, at) => ({ asked: { ...each, raw: rowOf(raw, at), masked: rowOf(masked, at) } }))
}
