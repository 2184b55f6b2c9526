import { yieldToEventLoop } from '../../flow/index.ts'
import type { Calibration, TextCloseness, Uncalibrated } from '../project/project-index.ts'
import type { Without } from '../ranking/compare.ts'
import {
  confidence,
  confidenceInputs,
  logDistance,
  rank,
  shareOfMany,
  typicalOwnCosine,
} from '../ranking/confidence.ts'
import { gather, lexicalEvidence, rawEvidence, type Asked, type Evidence } from '../ranking/evidence.ts'
import { rowOf, scan } from '../vectors/vectors.ts'
import { squaredDistance, toWhite, whiten, type Scatter } from '../vectors/whiten.ts'

const maxNeighbours = 150
const maxExamples = 200
// How many of its own examples a project may refuse: few at least, more where that keeps near misses out.
const refusedShares = [0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08]
const nearMissWorth = 0.3
const farShare = 0.99
// A description alone lies farther from questions than examples do.
const fewRange = { least: 1.1, minWithoutExamples: -1, most: 4 }
// Left-out examples look a little worse than new questions do, so this costs fewer of those.
const maxRefused = 0.12
// With this many examples the project's own threshold counts as much as the general one.
const priorExamples = 20
const maxShift = 2.5

/** Learns a project's threshold from its own examples, each left out in turn, and from questions of other worlds. */
export async function calibrate(
  index: Uncalibrated,
  { scatter, far }: { scatter: Scatter; far: Asked[] },
): Promise<Calibration> {
  const neighbours = await measureNeighbours(index)
  const { constants } = index.encoder
  const judge: Judge = (seen, evidence, without) => {
    const ranked = rank(seen, evidence, without)
    if (ranked.length === 0) return []
    return [confidence(constants, seen.queries.length, confidenceInputs(evidence, ranked, neighbours))]
  }
  const { accepted, taken } = await judgeExamples(index, scatter, judge)
  const outside: number[] = []
  for (const [at, asked] of far.entries()) {
    const known = { ...lexicalEvidence(index, asked), ...rawEvidence(index, asked.raw, at) }
    outside.push(...judge(index, gather(index, asked, known), {}))
    await yieldToEventLoop()
  }
  const threshold = chooseThreshold(shareOfMany(index.queries.length), { accepted, taken, far: outside })
  return { ...neighbours, threshold, basis: { examples: accepted.length, far: far.length } }
}

/** Confidences of examples left out, of examples whose query was taken away, and of far-away questions. */
type Confidences = { accepted: number[]; taken: number[]; far: number[] }
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
  const [accepted, taken]: [number[], number[]] = [[], []]
  for (const half of [0, 1]) {
    const seen = { ...index, whiteMasked: await whiten(scatter, 1 - half) }
    for (const text of spread(index.texts.length, maxExamples)) {
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
      await yieldToEventLoop()
    }
  }
  return { accepted, taken }
}

/**
 * Where to stop answering. Among many queries: zero, moved towards what the project's own examples allow, and lifted
 * over far-away questions as long as that costs few examples. Among few queries there are too few examples to learn
 * from: there it stands where nearly every far-away question is refused.
 */
export function chooseThreshold(shareMany: number, confidences: Confidences): number {
  const { accepted, taken, far } = confidences
  const trust = accepted.length / (accepted.length + priorExamples)
  const limits = refusedShares.map((refused) => {
    const limit = quantile(accepted, refused) ?? 0
    const missesRefused = taken.filter((value) => value < limit).length / Math.max(taken.length, 1)
    return { limit, worth: nearMissWorth * missesRefused - refused }
  })
  const own = limits.reduce((best, each) => (each.worth > best.worth ? each : best)).limit
  const moved = trust * Math.max(-maxShift, Math.min(maxShift, own))
  const lifted = Math.min(quantile(far, farShare) ?? -Infinity, quantile(accepted, maxRefused) ?? 0)
  const least = accepted.length === 0 ? fewRange.minWithoutExamples : fewRange.least
  const few = Math.max(least, Math.min(fewRange.most, quantile(far, farShare) ?? 0))
  return shareMany * Math.max(moved, lifted) + (1 - shareMany) * few
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
async function measureNeighbours(index: Uncalibrated): Promise<TextCloseness> {
  let [cosineSum, whiteSum, counted] = [0, 0, 0]
  for (const text of spread(index.texts.length, maxNeighbours)) {
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
    await yieldToEventLoop()
    if (nearest === Infinity) continue
    cosineSum += cosine
    whiteSum += logDistance(nearest)
    counted += 1
  }
  // A lone query has no neighbours: what is typical of other projects stands in.
  const ownCosine = await ownCosines(index)
  if (counted === 0) return { neighbourCosine: 0.7, neighbourWhite: 6, ownCosine }
  return { neighbourCosine: cosineSum / counted, neighbourWhite: whiteSum / counted, ownCosine }
}

// A query of few texts is taken to be like the others.
const sharedTexts = 3

async function ownCosines({ queries, masked }: Uncalibrated): Promise<Float32Array> {
  const sums: { sum: number; texts: number }[] = []
  for (const { from, to } of queries) {
    let sum = 0
    for (let text = from; text < to; text += 1) {
      sum += scan(masked, rowOf(masked, text), from, to).reduce(
        (most, cosine, at) => (from + at === text ? most : Math.max(most, cosine)),
        0,
      )
    }
    // A lone text has no other and says nothing.
    sums.push({ sum, texts: to - from > 1 ? to - from : 0 })
    await yieldToEventLoop()
  }
  const [all, texts] = sums.reduce(([sum, count], each) => [sum + each.sum, count + each.texts], [0, 0])
  const usual = texts === 0 ? typicalOwnCosine : all / texts
  return Float32Array.from(sums, (own) => (own.sum + sharedTexts * usual) / (own.texts + sharedTexts))
}
