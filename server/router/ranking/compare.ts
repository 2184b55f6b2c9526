import type { Features } from '../learned/router-constants.ts'
import type { IndexedQuery, Uncalibrated } from '../project/project-index.ts'
import { measured, type Asked, type Evidence, type White } from './evidence.ts'
import { slotFitter } from './signature.ts'
import { rowOf, scanRanges, type Matrix } from '../vectors/vectors.ts'
import { squaredDistance, toWhite, type Whitened } from '../vectors/whiten.ts'

/** Leaves a text or a whole query out, to learn from a project's own examples what a good match looks like. */
export type Without = { text?: number; query?: number }

export type Candidate = {
  query: number
  features: Features
  bestText: number
  whiteMasked: number
  /** Words beside a value that the query never says: naming something known is no reason to be answered. */
  strange: number
  /** How close the nearest text comes in what is said about the values, their naming aside. */
  worded: number
}

const candidateCount = 32
/**
 * Shared words count in the shortlist alone: as a feature their learned weight was 0. Without them here, 1 of 200 questions
 * to a project of 440 queries moves, from a refusal to a wrong answer.
 */
const sharedWordsWeight = 0.5

/** First stage: the queries worth a closer look, in their own order. */
function shortlist(evidence: Evidence, without: Without): number[] {
  const { scores: lexical, best } = evidence.bm25
  const rough = evidence.rough()
  // Kept best first; nearly every query fails at the last of them, so seldom is one moved.
  const kept: number[] = []
  const scores = new Float32Array(candidateCount)
  let last = -Infinity
  for (let query = 0; query < rough.length; query += 1) {
    const score = (rough[query] as number) + (sharedWordsWeight * (lexical[query] as number)) / best
    if (score <= last || query === without.query) continue
    let place = Math.min(kept.length, candidateCount - 1)
    for (; place > 0 && (scores[place - 1] as number) < score; place -= 1) {
      scores[place] = scores[place - 1] as number
      kept[place] = kept[place - 1] as number
    }
    scores[place] = score
    kept[place] = query
    if (kept.length === candidateCount) last = scores[candidateCount - 1] as number
  }
  return kept.sort((a, b) => a - b)
}

/** Second stage: the features of each shortlisted query, or of those that are named in the order of the index. */
export function compare(
  index: Uncalibrated,
  evidence: Evidence,
  without: Without = {},
  chosen: number[] = shortlist(evidence, without),
): Candidate[] {
  const products = multiply(index, evidence, chosen)
  const fit = slotFitter(evidence.asked, index.labels)
  let text = 0
  const candidates = chosen.map((query, row) => {
    const { from, to } = index.queries[query] as IndexedQuery
    const candidate = measure(index, evidence, query, { without, fit, products, row, text })
    text += to - from
    return candidate
  })
  relate(candidates, 'whiteRaw')
  relate(candidates, 'whiteMasked')
  return candidates
}

/** Dot products of the question with what the shortlisted queries have: their texts, names and whitened means. */
type Products = Record<'raw' | 'masked' | 'name' | 'whiteRaw' | 'whiteMasked', Float32Array> & {
  /** Similarity of the values alone to the masked texts; null where the question names none. */
  bare: Float32Array | null
}

/** One matrix after the other: going from query to query instead costs more than the products themselves. */
function multiply(
  index: Uncalibrated,
  { asked: { raw, masked }, centredRaw, whiteMasked, bare }: Evidence,
  chosen: number[],
): Products {
  const texts: number[] = []
  const rows: number[] = []
  for (const query of chosen) {
    const { from, to } = index.queries[query] as IndexedQuery
    texts.push(from, to)
    rows.push(query, query + 1)
  }
  return {
    raw: scanRanges(index.raw, raw, texts),
    masked: scanRanges(index.masked, masked, texts),
    bare: bare === null ? null : scanRanges(index.masked, bare.vector, texts),
    name: scanRanges(index.names, raw, rows),
    whiteRaw: scanRanges(index.whiteRaw.pulls, centredRaw, rows),
    whiteMasked: scanRanges(index.whiteMasked.centroids, whiteMasked.vector, rows),
  }
}

const whiteTemperature = 16
const whiteFloor = -10

/** Whitened distances are logits: only how far a query lies behind the nearest one says something. */
function relate(candidates: Candidate[], name: 'whiteRaw' | 'whiteMasked'): void {
  const best = Math.max(...candidates.map(({ features }) => features[name]))
  for (const { features } of candidates)
    features[name] = Math.max(whiteFloor, (features[name] - best) / whiteTemperature)
}

/** Where a query stands among the products: its own row, and the place of its first text. */
type RowAt = { products: Products; row: number; text: number }
type Measuring = RowAt & { without: Without; fit: ReturnType<typeof slotFitter> }

function measure(
  index: Uncalibrated,
  evidence: Evidence,
  query: number,
  { without, fit, ...place }: Measuring,
): Candidate {
  const each = index.queries[query] as IndexedQuery
  const { asked } = evidence
  const { products, row } = place
  const left = without.text !== undefined && without.text >= each.from && without.text < each.to ? without.text : null
  const texts = compareTexts(index, evidence, each, { ...place, left })
  const name = products.name[row] as number
  const distance = {
    raw: rawDistance(index, asked, { query, left, product: products.whiteRaw[row] as number }),
    masked: whiteDistance(index.whiteMasked, index.masked, evidence.whiteMasked, {
      query,
      left,
      product: products.whiteMasked[row] as number,
    }),
  }
  // A query whose only text is left out still has its name.
  const alone = texts.raw < -1
  const { slotsMissing, spansUnused, exactSignature } = fit(each)
  const features: Features = {
    cosRaw: alone ? name : texts.raw,
    cosMasked: alone ? name : texts.masked,
    cosMasked2nd: alone ? name : Math.max(texts.second, texts.second < -1 ? texts.masked : -1),
    cosName: name,
    // A mean's product is the mean of the products: no row of its own has to be read.
    centroidRaw:
      left === null
        ? texts.rawSum / (index.lengths.raw[query] as number)
        : centroidWithout(index.raw, asked.raw, each, left),
    centroidMasked:
      left === null
        ? texts.maskedSum / (index.lengths.masked[query] as number)
        : centroidWithout(index.masked, asked.masked, each, left),
    whiteRaw: -distance.raw / 2,
    whiteMasked: -distance.masked / 2,
    pairs: texts.pairs,
    slotsMissing,
    spansUnused,
    exactSignature,
  }
  const strange = strangeWords(evidence.content, each, left)
  const worded = alone ? name : texts.worded
  return { query, features, bestText: texts.best, whiteMasked: distance.masked, strange, worded }
}

const maxStrange = 3

/** A text that is left out does not vouch for its own words. */
function strangeWords(content: string[], { said }: IndexedQuery, left: number | null): number {
  const least = left === null ? 1 : 2
  return Math.min(maxStrange, content.filter((stem) => (said.get(stem) ?? 0) < least).length)
}

type TextScores = {
  raw: number
  masked: number
  second: number
  worded: number
  pairs: number
  best: number
  rawSum: number
  maskedSum: number
}

/** The closest text of the query in each sense; they need not be the same one. */
function compareTexts(
  index: Uncalibrated,
  evidence: Evidence,
  { from, to }: IndexedQuery,
  { products, text: first, left }: RowAt & { left: number | null },
): TextScores {
  const scores: TextScores = {
    raw: -2,
    masked: -2,
    second: -2,
    worded: -2,
    pairs: 0,
    best: from,
    rawSum: 0,
    maskedSum: 0,
  }
  const { bare } = products
  const share = evidence.bare?.share ?? 0
  for (let text = from; text < to; text += 1) {
    if (text === left) continue
    const at = first + text - from
    const raw = products.raw[at] as number
    const masked = products.masked[at] as number
    scores.rawSum += raw
    scores.maskedSum += masked
    if (raw > scores.raw) scores.raw = raw
    if (masked > scores.masked) {
      scores.second = scores.masked
      scores.masked = masked
      scores.best = text
    } else if (masked > scores.second) scores.second = masked
    const worded = bare === null ? masked : besides(masked, share, bare[at] as number)
    if (worded > scores.worded) scores.worded = worded
    const pairs =
      (2 * (evidence.sharedPairs[text] as number)) / ((index.lexical.pairCounts[text] as number) + evidence.pairs)
    if (pairs > scores.pairs) scores.pairs = pairs
  }
  return scores
}

// Keeps a question that is little more than its values from being all noise.
const minRest = 0.05

/** Partial cosine: how alike two directions are once what each has in common with a third is taken out of them. */
function besides(cosine: number, left: number, right: number): number {
  return (cosine - left * right) / Math.sqrt(Math.max(minRest, 1 - left ** 2) * Math.max(minRest, 1 - right ** 2))
}

function centroidWithout(matrix: Matrix, vector: Float32Array, { from, to }: IndexedQuery, left: number): number {
  const sum = new Float32Array(matrix.columns)
  for (let row = from; row < to; row += 1) {
    if (row !== left) rowOf(matrix, row).forEach((value, column) => (sum[column] = (sum[column] ?? 0) + value))
  }
  let [dot, squares] = [0, 0]
  sum.forEach((value, column) => {
    dot += value * (vector[column] ?? 0)
    squares += value * value
  })
  return squares === 0 ? 0 : dot / Math.sqrt(squares)
}

type ToMean = { query: number; left: number | null; product: number }

/** Squared distance to the query's mean, its `left` text taken out of the mean. */
function whiteDistance(space: Whitened, matrix: Matrix, white: White, { query, left, product }: ToMean): number {
  const count = space.counts[query] ?? 1
  if (left === null || count < 2) {
    // |a - b|² by |a|² and |b|²: the kernel multiplies, and rounding weighs little against the least distance.
    return Math.max(0, (space.squares[query] as number) + white.square - 2 * product)
  }
  const mean = rowOf(space.centroids, query)
  const own = toWhite(space, rowOf(matrix, left))
  const without = mean.map((value, column) => (value * count - (own[column] as number)) / (count - 1))
  return squaredDistance(without, white.vector)
}

/** The same for the raw question, less its own square: that is a matrix to read, and only differences count. */
function rawDistance({ whiteRaw: space, raw: matrix }: Uncalibrated, { raw }: Asked, mean: ToMean): number {
  if (mean.left === null) return (space.squares[mean.query] as number) - 2 * mean.product
  const white = measured(toWhite(space, raw))
  return whiteDistance(space, matrix, white, mean) - white.square
}
