import type { IndexedQuery, Uncalibrated } from '../indexing/index-project.ts'
import { bm25, comparePairs, numberTokens } from './lexical.ts'
import type { Linked } from '../reading/link.ts'
import type { Shape } from '../reading/mask.ts'
import { fitSlots } from './signature.ts'
import { isFunctionWord } from '../reading/text.ts'
import { dotRow, normalise, rowOf, scan, scanRanges, type Matrix } from './vectors.ts'
import { squaredDistance, squareOf, toWhite, type Whitened } from './whiten.ts'

/** A question as the ranker compares it. */
export type Asked = { linked: Linked; shape: Shape; raw: Float32Array; masked: Float32Array }

/** Leaves a text or a whole query out, to learn from a project's own examples what a good match looks like. */
export type Without = { text?: number; query?: number }

/** What speaks for a query, by name. The ranker's weights carry the same names. */
export const featureNames = [
  'cosRaw',
  'cosMasked',
  'cosMasked2nd',
  'cosName',
  'centroidRaw',
  'centroidMasked',
  'whiteRaw',
  'whiteMasked',
  'bm25',
  'pairs',
  'slotsMissing',
  'spansUnused',
  'exactSignature',
] as const

export type FeatureName = (typeof featureNames)[number]
export type Features = Record<FeatureName, number>
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

/** A vector in a whitened space, with its squared length. */
type White = { vector: Float32Array; square: number }

/** All evidence that does not depend on the candidate, computed once a question. */
export type Evidence = {
  asked: Asked
  /** For each query the cosines with its two means together, roughly. */
  rough: Float32Array
  whiteMasked: White
  /** The direction of the bare values that the question names and how much of the question it is; null without any. */
  bare: { vector: Float32Array; share: number } | null
} & HeardWords &
  SeenRaw

type HeardWords = {
  bm25: Float32Array
  /** How many pairs of neighbouring words the question has, and how many of them each text has too. */
  pairs: number
  sharedPairs: Uint8Array
  /** The words that say what is asked of the values. */
  content: string[]
}

type SeenRaw = {
  whiteRaw: White
  /** How close the nearest question of another world comes. */
  elsewhere: number
}

/** What the words alone tell: known before the encoder has answered. */
export function hearWords(index: Uncalibrated, asked: Pick<Asked, 'linked' | 'shape'>): HeardWords {
  const tokens = numberTokens(index.lexical, asked.shape.tokens)
  return { bm25: bm25(index.lexical, tokens), ...comparePairs(index.lexical, tokens), content: contentOf(asked) }
}

/** With `ownFar` the far-away question of that number asks itself and is not compared with itself. */
export function seeRaw(index: Uncalibrated, raw: Float32Array, ownFar?: number): SeenRaw {
  return { whiteRaw: measured(toWhite(index.whiteRaw, raw)), elsewhere: nearest(index.far, raw, ownFar) }
}

export function gather(
  index: Uncalibrated,
  asked: Asked,
  known: HeardWords & SeenRaw = { ...hearWords(index, asked), ...seeRaw(index, asked.raw) },
): Evidence {
  return {
    asked,
    bm25: known.bm25,
    pairs: known.pairs,
    sharedPairs: known.sharedPairs,
    content: known.content,
    whiteRaw: known.whiteRaw,
    elsewhere: known.elsewhere,
    rough: index.roughCentroids(asked.raw, asked.masked),
    whiteMasked: measured(toWhite(index.whiteMasked, asked.masked)),
    bare: bareValues(index, asked),
  }
}

/** "<region>" alone: what any two texts that name a region have in common, whatever they ask. */
function bareValues({ bareTypes }: Uncalibrated, { shape: { marks }, masked }: Asked): Evidence['bare'] {
  const named = [...new Set(marks.map(({ type }) => type.key))].flatMap((key) => bareTypes.get(key) ?? [])
  if (named.length === 0) return null
  const sum = new Float32Array(masked.length)
  for (const vector of named)
    for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] as number) + (vector[at] as number)
  const vector = normalise(sum)
  return { vector, share: dotRow({ rows: 1, columns: vector.length, data: vector }, 0, masked) }
}

function measured(vector: Float32Array): White {
  return { vector, square: squareOf(vector) }
}

/** None where no value is named: there the words are all there is, and the encoder has compared them. */
function contentOf({ linked, shape: { marks } }: Pick<Asked, 'linked' | 'shape'>): string[] {
  if (marks.length === 0) return []
  return linked.words
    .filter((word, at) => !isFunctionWord(word.text) && !marks.some(({ span }) => span.from <= at && at < span.to))
    .map(({ stem }) => stem)
}

const mostStrange = 3

/** A text that is left out does not vouch for its own words. */
function strangeWords(content: string[], { said }: IndexedQuery, left: number | null): number {
  const least = left === null ? 1 : 2
  return Math.min(mostStrange, content.filter((stem) => (said.get(stem) ?? 0) < least).length)
}

function nearest(matrix: Matrix, vector: Float32Array, except = -1): number {
  let most = -1
  scan(matrix, vector).forEach((cosine, row) => {
    if (row !== except && cosine > most) most = cosine
  })
  return most
}

/** First stage: the queries worth a closer look. */
function shortlist(evidence: Evidence, bestBm25: number, without: Without): number[] {
  const { rough: cosines, bm25: lexical } = evidence
  const rough = new Float32Array(cosines.length)
  for (let query = 0; query < rough.length; query += 1)
    rough[query] = (cosines[query] as number) + (0.5 * (lexical[query] as number)) / bestBm25
  // The lowest kept score is found again only when a better query takes its place: seldom, once the first are in.
  const kept: number[] = []
  let lowest = 0
  for (let query = 0; query < rough.length; query += 1) {
    const score = rough[query] as number
    if (
      query === without.query ||
      (kept.length === candidateCount && score <= (rough[kept[lowest] as number] as number))
    )
      continue
    if (kept.length < candidateCount) kept.push(query)
    else kept[lowest] = query
    lowest = 0
    for (let at = 1; at < kept.length; at += 1)
      if ((rough[kept[at] as number] as number) < (rough[kept[lowest] as number] as number)) lowest = at
  }
  return kept.sort((a, b) => a - b)
}

/** Second stage: the features of each shortlisted query. */
export function compare(index: Uncalibrated, evidence: Evidence, without: Without = {}): Candidate[] {
  let bestBm25 = 1e-6
  for (const score of evidence.bm25) if (score > bestBm25) bestBm25 = score
  const chosen = shortlist(evidence, bestBm25, without)
  const products = multiply(index, evidence, chosen)
  let text = 0
  const candidates = chosen.map((query, at) => {
    const { from, to } = index.queries[query] as IndexedQuery
    const own: Products = {
      raw: products.raw.subarray(text, text + to - from),
      masked: products.masked.subarray(text, text + to - from),
      name: products.name[at] as number,
      centroidRaw: products.centroidRaw[at] as number,
      centroidMasked: products.centroidMasked[at] as number,
      whiteRaw: products.whiteRaw[at] as number,
      whiteMasked: products.whiteMasked[at] as number,
      bare: products.bare?.subarray(text, text + to - from) ?? null,
    }
    text += to - from
    return measure(index, evidence, query, { without, bestBm25, own })
  })
  relate(candidates, 'whiteRaw')
  relate(candidates, 'whiteMasked')
  return candidates
}

/** Dot products of the question with what a query has: its texts, its name and its means. */
type Products = {
  raw: Float32Array
  masked: Float32Array
  /** Of the values alone with the masked texts; null where the question names none. */
  bare: Float32Array | null
  name: number
} & Record<'centroidRaw' | 'centroidMasked' | 'whiteRaw' | 'whiteMasked', number>

/** One matrix after the other: going from query to query instead costs more than the products themselves. */
function multiply(
  index: Uncalibrated,
  { asked: { raw, masked }, whiteRaw, whiteMasked, bare }: Evidence,
  chosen: number[],
): Record<Exclude<keyof Products, 'bare'>, Float32Array> & Pick<Products, 'bare'> {
  const texts = chosen.flatMap((query) => {
    const { from, to } = index.queries[query] as IndexedQuery
    return [from, to]
  })
  const rows = chosen.flatMap((query) => [query, query + 1])
  return {
    raw: scanRanges(index.raw, raw, texts),
    masked: scanRanges(index.masked, masked, texts),
    bare: bare === null ? null : scanRanges(index.masked, bare.vector, texts),
    name: scanRanges(index.names, raw, rows),
    centroidRaw: scanRanges(index.rawCentroids, raw, rows),
    centroidMasked: scanRanges(index.maskedCentroids, masked, rows),
    whiteRaw: scanRanges(index.whiteRaw.centroids, whiteRaw.vector, rows),
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

type Measuring = { without: Without; bestBm25: number; own: Products }

function measure(
  index: Uncalibrated,
  evidence: Evidence,
  query: number,
  { without, bestBm25, own }: Measuring,
): Candidate {
  const each = index.queries[query] as IndexedQuery
  const { asked } = evidence
  const left = without.text !== undefined && without.text >= each.from && without.text < each.to ? without.text : null
  const texts = compareTexts(index, evidence, each, { left, own })
  const { name } = own
  const distance = {
    raw: whiteDistance(index.whiteRaw, index.raw, evidence.whiteRaw, { query, left, product: own.whiteRaw }),
    masked: whiteDistance(index.whiteMasked, index.masked, evidence.whiteMasked, {
      query,
      left,
      product: own.whiteMasked,
    }),
  }
  // A query whose only text is left out still has its name.
  const alone = texts.raw < -1
  const features: Features = {
    cosRaw: alone ? name : texts.raw,
    cosMasked: alone ? name : texts.masked,
    cosMasked2nd: alone ? name : Math.max(texts.second, texts.second < -1 ? texts.masked : -1),
    cosName: name,
    centroidRaw: left === null ? own.centroidRaw : centroidWithout(index.raw, asked.raw, each, left),
    centroidMasked: left === null ? own.centroidMasked : centroidWithout(index.masked, asked.masked, each, left),
    whiteRaw: -distance.raw / 2,
    whiteMasked: -distance.masked / 2,
    bm25: (evidence.bm25[query] ?? 0) / bestBm25,
    pairs: texts.pairs,
    ...fitSlots(asked, each, index.labels),
  }
  const strange = strangeWords(evidence.content, each, left)
  const worded = alone ? name : texts.worded
  return { query, features, bestText: texts.best, whiteMasked: distance.masked, strange, worded }
}

type TextScores = { raw: number; masked: number; second: number; worded: number; pairs: number; best: number }

/** The closest text of the query in each sense; they need not be the same one. */
function compareTexts(
  index: Uncalibrated,
  evidence: Evidence,
  { from, to }: IndexedQuery,
  { left, own: { raw: raws, masked: maskeds, bare } }: { left: number | null; own: Products },
): TextScores {
  const scores: TextScores = { raw: -2, masked: -2, second: -2, worded: -2, pairs: 0, best: from }
  for (let text = from; text < to; text += 1) {
    if (text === left) continue
    scores.raw = Math.max(scores.raw, raws[text - from] as number)
    const masked = maskeds[text - from] as number
    if (masked > scores.masked) {
      scores.second = scores.masked
      scores.masked = masked
      scores.best = text
    } else scores.second = Math.max(scores.second, masked)
    const worded = bare === null ? masked : besides(masked, evidence.bare?.share ?? 0, bare[text - from] as number)
    scores.worded = Math.max(scores.worded, worded)
    const pairs =
      (2 * (evidence.sharedPairs[text] as number)) / ((index.lexical.pairCounts[text] as number) + evidence.pairs)
    scores.pairs = Math.max(scores.pairs, pairs)
  }
  return scores
}

// Keeps a question that is little more than its values from being all noise.
const leastRest = 0.05

/** Partial cosine: how alike two directions are once what each has in common with a third is taken out of them. */
function besides(cosine: number, left: number, right: number): number {
  return (cosine - left * right) / Math.sqrt(Math.max(leastRest, 1 - left ** 2) * Math.max(leastRest, 1 - right ** 2))
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

/** Squared distance to the query's mean, its `left` text taken out of the mean. */
function whiteDistance(
  space: Whitened,
  matrix: Matrix,
  white: White,
  { query, left, product }: { query: number; left: number | null; product: number },
): number {
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
