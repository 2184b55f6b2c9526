import { featureNames, type FeatureName } from '../../server/router/learned/router-constants.ts'
import { confidenceInputs, type ConfidenceInputs, type Ranked } from '../../server/router/ranking/confidence.ts'
import type { Sample } from './collect.ts'

/** Signs that make sense in every domain: a weight of the other sign would be a quirk of the sets at hand. */
const againstAnswer = new Set<string>(['slotsMissing', 'spansUnused', 'whiteNear', 'whiteGain', 'elsewhere', 'strange'])

const clampSign = (name: string, weight: number): number =>
  againstAnswer.has(name) ? Math.min(0, weight) : Math.max(0, weight)

type Ranker = Record<FeatureName, number>

/** Softmax over each question's candidates, every set and k counting the same. */
export function fitRanker(samples: Sample[]): Ranker {
  const share = shares(samples.filter(({ kind, size }) => kind === 'in' && size === 'many'))
  const cases = samples
    .filter(
      ({ kind, size, target, candidates }) => kind === 'in' && size === 'many' && target >= 0 && candidates.length > 1,
    )
    .map((sample) => ({ weight: share(sample), rows: hardest(sample) }))
  return descend(featureNames, { steps: 250, rate: 0.15, decay: 0.003, free: [] }, (weights, slope) => {
    for (const { weight, rows } of cases) {
      const scores = rows.map((row) => dot(row, weights))
      const best = Math.max(...scores)
      const powers = scores.map((score) => Math.exp(score - best))
      const total = powers.reduce((sum, power) => sum + power, 0)
      rows.forEach((row, at) => {
        const error = weight * ((powers[at] ?? 0) / total - (at === 0 ? 1 : 0))
        row.forEach((value, column) => (slope[column] = (slope[column] ?? 0) + error * value))
      })
    }
  }) as Ranker
}

/** The right candidate first, then the nearest wrong ones: the others add time and nothing else. */
function hardest({ candidates, target }: Sample): Float64Array[] {
  const rough = candidates.map(({ features }, at) => ({
    at,
    score:
      features.cosRaw +
      features.cosMasked +
      features.centroidRaw +
      0.5 * features.exactSignature -
      0.3 * features.spansUnused,
  }))
  const near = rough
    .sort((a, b) => b.score - a.score)
    .slice(0, 9)
    .map(({ at }) => at)
  return [target, ...near.filter((at) => at !== target)].map((at) =>
    Float64Array.from(featureNames, (name) => candidates[at]?.features[name] ?? 0),
  )
}

type Weighing<Name extends string> = { bias: number; weights: Record<Name, number> }

const kindWeight = { in: 2, near: 1, taken: 1, far: 0.6, named: 1 }

/**
 * Logistic regression of "this question has an answer here" on the confidence's inputs. Its zero is put where
 * `zero` says: where so large a share of the questions with an answer lies above it, or of far-away ones below.
 */
export function fitConfidence<Name extends keyof ConfidenceInputs>(
  samples: Sample[],
  ranker: Ranker,
  { names, zero }: { names: readonly Name[]; zero: { accepted: number } | { farRefused: number } },
): Weighing<Name> {
  const share = shares(samples)
  const cases = samples.map((sample) => {
    const inputs = confidenceInputs(sample.evidence, ranked(sample, ranker), sample.calibration)
    const row = Float64Array.from([1, ...names.map((name) => inputs[name])])
    return { row, kind: sample.kind, weight: share(sample) * kindWeight[sample.kind] }
  })
  const fitted = descend(
    ['bias', ...names],
    { steps: 600, rate: 0.08, decay: 0.002, free: ['bias'] },
    (weights, slope) => {
      for (const { row, kind, weight } of cases) {
        const error = weight * (1 / (1 + Math.exp(-dot(row, weights))) - (kind === 'in' ? 1 : 0))
        row.forEach((value, column) => (slope[column] = (slope[column] ?? 0) + error * value))
      }
    },
  )
  const { bias = 0, ...weights } = fitted
  const order = Float64Array.from(['bias', ...names], (name) => fitted[name] ?? 0)
  const [wanted, below] =
    'accepted' in zero ? (['in', 1 - zero.accepted] as const) : (['far', zero.farRefused] as const)
  const counted = cases
    .filter(({ kind }) => kind === wanted)
    .map(({ row, weight }) => ({ weight, value: dot(row, order) }))
    .sort((a, b) => a.value - b.value)
  const all = counted.reduce((sum, { weight }) => sum + weight, 0)
  let passed = 0
  const limit = counted.find(({ weight }) => (passed += weight) >= below * all)?.value ?? 0
  return { bias: Number((bias - limit).toFixed(4)), weights: weights as Record<Name, number> }
}

function ranked({ candidates }: Sample, ranker: Ranker): Ranked[] {
  const score = (candidate: Sample['candidates'][number]): number =>
    featureNames.reduce((sum, name) => sum + ranker[name] * candidate.features[name], 0)
  return candidates.map((candidate) => ({ candidate, score: score(candidate) })).sort((a, b) => b.score - a.score)
}

/** One over the number of samples of the same set, k, size and kind. */
function shares(samples: Sample[]): (sample: Sample) => number {
  const key = ({ set, k, size, kind }: Sample): string => `${set} ${k} ${size} ${kind}`
  const counts = Map.groupBy(samples, key)
  return (sample) => 1 / (counts.get(key(sample))?.length ?? 1)
}

function dot(left: Float64Array, right: Float64Array): number {
  let sum = 0
  for (let at = 0; at < left.length; at += 1) sum += (left[at] as number) * (right[at] as number)
  return sum
}

type Descent = { steps: number; rate: number; decay: number; free: string[] }

/** Adam on the whole data with signs kept. */
function descend(
  names: readonly string[],
  { steps, rate, decay, free }: Descent,
  addSlope: (weights: Float64Array, slope: Float64Array) => void,
): Record<string, number> {
  const size = names.length
  const [weights, first, second] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)]
  for (let step = 1; step <= steps; step += 1) {
    const slope = new Float64Array(size)
    addSlope(weights, slope)
    names.forEach((name, at) => {
      const own = (slope[at] ?? 0) + (free.includes(name) ? 0 : decay * (weights[at] ?? 0))
      first[at] = 0.9 * (first[at] ?? 0) + 0.1 * own
      second[at] = 0.99 * (second[at] ?? 0) + 0.01 * own * own
      const moved =
        (weights[at] ?? 0) -
        (rate * ((first[at] ?? 0) / (1 - 0.9 ** step))) / (Math.sqrt((second[at] ?? 0) / (1 - 0.99 ** step)) + 1e-9)
      weights[at] = free.includes(name) ? moved : clampSign(name, moved)
    })
  }
  return Object.fromEntries(names.map((name, at) => [name, Number((weights[at] ?? 0).toFixed(4))]))
}
