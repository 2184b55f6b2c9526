import type { IndexedQuery, ProjectIndex } from './index-project.ts'
import { countTokens, lexicalScores } from './lexical.ts'
import { overlaps, type Linked, type Span } from './link.ts'
import type { Shape } from './mask.ts'
import type { Slot } from './project.ts'
import { dotRow, rowOf, scan, toWhite, type Matrix, type Whitened } from './vectors.ts'

/** A question as the ranker compares it. */
export type Asked = { linked: Linked; shape: Shape; raw: Float32Array; masked: Float32Array; stems: string[] }

/** Leaves a text or a whole query out, to learn from a project's own examples what a good match looks like. */
export type Without = { text?: number; query?: number }

/** What speaks for a query, by name. The ranker's weights carry the same names. */
export const featureNames = [
  'cosRaw',
  'cosMasked',
  'cosMasked2nd',
  'tfidfRaw',
  'tfidfMasked',
  'slotsCovered',
  'slotsMissing',
  'spansUnused',
  'cosName',
  'bm25Max',
  'bm25Ideal',
  'centroidRaw',
  'centroidMasked',
  'exactSignature',
  'ldaRaw',
  'ldaMasked',
  'fixedNamed',
  'fixedMissing',
  'coverage',
  'covered',
  'bigrams',
] as const

export type FeatureName = (typeof featureNames)[number]
export type Candidate = {
  query: number
  features: Float64Array
  bestText: number
  white: { raw: number; masked: number }
}

const candidateCount = 32

/** All evidence that does not depend on the candidate, computed once a question. */
export type Evidence = {
  asked: Asked
  raw: Float32Array
  masked: Float32Array
  rawCentroids: Float32Array
  maskedCentroids: Float32Array
  tfidfRaw: Float32Array
  tfidfMasked: Float32Array
  bm25: Float32Array
  bm25Ideal: number
  whiteRaw: Float32Array
  whiteMasked: Float32Array
  bigrams: Set<string>
  counts: Map<string, number>
}

export function gather(index: ProjectIndex, asked: Asked): Evidence {
  const { tokens } = asked.shape
  let bm25Ideal = 0
  for (const token of new Set(tokens))
    bm25Ideal += 1.3 * (index.lexicalQueries.idf.get(token) ?? index.lexicalQueries.unseenIdf)
  return {
    asked,
    raw: scan(index.raw, asked.raw),
    masked: scan(index.masked, asked.masked),
    rawCentroids: scan(index.rawCentroids, asked.raw),
    maskedCentroids: scan(index.maskedCentroids, asked.masked),
    tfidfRaw: lexicalScores(index.lexicalRaw, asked.stems, 'cosine'),
    tfidfMasked: lexicalScores(index.lexicalMasked, tokens, 'cosine'),
    bm25: lexicalScores(index.lexicalQueries, tokens, 'bm25'),
    bm25Ideal,
    whiteRaw: toWhite(index.whiteRaw, asked.raw),
    whiteMasked: toWhite(index.whiteMasked, asked.masked),
    bigrams: bigramsOf(tokens),
    counts: countTokens(tokens),
  }
}

/** First stage: the queries worth a closer look. */
export function shortlist(index: ProjectIndex, evidence: Evidence, without: Without = {}): number[] {
  const bestBm25 = Math.max(1e-6, ...evidence.bm25)
  const rough = index.queries.map(({ from, to }, query) => {
    if (query === without.query) return { query, score: -Infinity }
    let best = -1
    for (let text = from; text < to; text += 1)
      if (text !== without.text) best = Math.max(best, evidence.masked[text] ?? -1)
    return { query, score: best + (evidence.rawCentroids[query] ?? 0) + 0.5 * ((evidence.bm25[query] ?? 0) / bestBm25) }
  })
  rough.sort((a, b) => b.score - a.score || a.query - b.query)
  return rough
    .slice(0, candidateCount)
    .filter(({ score }) => score > -Infinity)
    .map(({ query }) => query)
}

/** Second stage: the features of each shortlisted query. */
export function compare(index: ProjectIndex, evidence: Evidence, without: Without = {}): Candidate[] {
  const list = shortlist(index, evidence, without)
  const bestBm25 = Math.max(1e-6, ...evidence.bm25)
  const candidates = list.map((query) => measure(index, evidence, query, { without, bestBm25 }))
  relate(candidates, 'ldaRaw')
  relate(candidates, 'ldaMasked')
  return candidates
}

const at = Object.fromEntries(featureNames.map((name, position) => [name, position])) as Record<FeatureName, number>
const whiteTemperature = 8
const whiteFloor = -6

/** Whitened distances are logits: only how far a query lies behind the nearest one says something. */
function relate(candidates: Candidate[], name: 'ldaRaw' | 'ldaMasked'): void {
  const best = Math.max(...candidates.map(({ features }) => features[at[name]] ?? 0))
  for (const { features } of candidates)
    features[at[name]] = Math.max(whiteFloor, ((features[at[name]] ?? 0) - best) / whiteTemperature)
}

type Measuring = { without: Without; bestBm25: number }

function measure(index: ProjectIndex, evidence: Evidence, query: number, { without, bestBm25 }: Measuring): Candidate {
  const each = index.queries[query] as IndexedQuery
  const features = new Float64Array(featureNames.length)
  let [raw, masked, second, tfidfRaw, tfidfMasked, covered, bigrams] = [-1, -1, -1, 0, 0, 0, 0]
  let bestText = each.from
  for (let text = each.from; text < each.to; text += 1) {
    if (text === without.text) continue
    raw = Math.max(raw, evidence.raw[text] ?? -1)
    const cos = evidence.masked[text] ?? -1
    if (cos > masked) {
      second = masked
      masked = cos
      bestText = text
    } else second = Math.max(second, cos)
    tfidfRaw = Math.max(tfidfRaw, evidence.tfidfRaw[text] ?? 0)
    tfidfMasked = Math.max(tfidfMasked, evidence.tfidfMasked[text] ?? 0)
    const tokens = index.texts[text]?.shape.tokens ?? []
    covered = Math.max(
      covered,
      share(index, tokens, (token) => evidence.counts.has(token)),
    )
    bigrams = Math.max(bigrams, dice(bigramsOf(tokens), evidence.bigrams))
  }
  const name = dotRow(index.names, query, evidence.asked.raw)
  const empty = raw < 0
  features[at.cosRaw] = empty ? name : raw
  features[at.cosMasked] = empty ? name : masked
  features[at.cosMasked2nd] = second < 0 ? (features[at.cosMasked] ?? 0) : second
  features[at.tfidfRaw] = tfidfRaw
  features[at.tfidfMasked] = tfidfMasked
  features[at.cosName] = name
  features[at.bm25Max] = (evidence.bm25[query] ?? 0) / bestBm25
  features[at.bm25Ideal] = (evidence.bm25[query] ?? 0) / Math.max(evidence.bm25Ideal, 1e-6)
  features[at.covered] = covered
  features[at.bigrams] = bigrams
  features[at.coverage] = share(index, evidence.asked.shape.tokens, (token) => each.vocabulary.has(token))
  const left = without.text !== undefined && without.text >= each.from && without.text < each.to ? without.text : null
  const white = {
    raw: whiteDistance(index.whiteRaw, index.raw, evidence.whiteRaw, query, left),
    masked: whiteDistance(index.whiteMasked, index.masked, evidence.whiteMasked, query, left),
  }
  features[at.ldaRaw] = -white.raw / 2
  features[at.ldaMasked] = -white.masked / 2
  features[at.centroidRaw] = centroidCosine(index.raw, evidence.asked.raw, each, {
    known: evidence.rawCentroids[query] ?? 0,
    left,
  })
  features[at.centroidMasked] = centroidCosine(index.masked, evidence.asked.masked, each, {
    known: evidence.maskedCentroids[query] ?? 0,
    left,
  })
  signature(evidence.asked, each, features)
  return { query, features, bestText, white }
}

/** Share of the tokens' weight for which `holds`. */
function share(index: ProjectIndex, tokens: string[], holds: (token: string) => boolean): number {
  let [held, total] = [0, 0]
  for (const token of tokens) {
    const idf = index.lexicalQueries.idf.get(token) ?? index.lexicalQueries.unseenIdf
    total += idf
    if (holds(token)) held += idf
  }
  return total === 0 ? 0 : held / total
}

function bigramsOf(tokens: string[]): Set<string> {
  const pairs = new Set<string>()
  for (let position = 0; position <= tokens.length; position += 1)
    pairs.add(`${tokens[position - 1] ?? '^'} ${tokens[position] ?? '$'}`)
  return pairs
}

function dice(left: Set<string>, right: Set<string>): number {
  let shared = 0
  for (const pair of left) if (right.has(pair)) shared += 1
  return (2 * shared) / (left.size + right.size)
}

function centroidCosine(
  matrix: Matrix,
  vector: Float32Array,
  { from, to }: IndexedQuery,
  { known, left }: { known: number; left: number | null },
): number {
  if (left === null) return known
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

/** Squared distance to the query's mean, less certain the fewer texts it stands on. */
function whiteDistance(
  space: Whitened,
  matrix: Matrix,
  white: Float32Array,
  query: number,
  left: number | null,
): number {
  const count = space.counts[query] ?? 1
  const own = left === null ? null : toWhite(space, rowOf(matrix, left))
  const used = left === null ? count : Math.max(count - 1, 1)
  const base = query * space.columns
  let sum = 0
  for (let column = 0; column < space.columns; column += 1) {
    const mean = space.centroids.data[base + column] as number
    const without = own === null || count < 2 ? mean : (mean * count - (own[column] as number)) / (count - 1)
    const offset = (white[column] as number) - without
    sum += offset * offset
  }
  return (sum * used) / (used + 1)
}

/** How the question's spans and the query's slots fit together, by type alone. */
function signature({ linked, shape: { marks } }: Asked, { slots, fixed }: IndexedQuery, features: Float64Array): void {
  const isFixed = (span: Span): boolean => span.readings.some(({ value }) => fixed.has(String(value)))
  const named = linked.spans.filter(isFixed)
  const free = linked.spans.filter((span) => !named.some((other) => overlaps(span, other)))
  const wanted = slots.filter(({ required }) => required)
  const matched = match(wanted, free)
  const rest = free.filter((span) => !matched.used.some((other) => overlaps(span, other)))
  const extra = match(
    slots.filter(({ required }) => !required),
    rest,
  )
  const weak = match(
    wanted.filter((slot) => !matched.filled.has(slot)),
    linked.weak,
  )
  const used = [...named, ...matched.used, ...extra.used]
  const values = new Set(used.flatMap(({ readings }) => readings.map(({ value }) => String(value))))
  const unused = marks.filter(
    ({ span }) =>
      !used.some((other) => overlaps(span, other)) && !span.readings.some(({ value }) => values.has(String(value))),
  )
  const open = wanted.filter(({ type }) => type.kind === 'text' || type.kind === 'boolean').length
  const missing = Math.max(0, wanted.length - matched.filled.size - weak.filled.size * 0.7 - open * 0.7)
  features[at.slotsCovered] = wanted.length === 0 ? 1 : 1 - missing / wanted.length
  features[at.slotsMissing] = missing
  features[at.spansUnused] = unused.length
  features[at.exactSignature] = missing < 0.35 && unused.length === 0 ? 1 : 0
  features[at.fixedNamed] = fixed.size === 0 ? 0 : Math.min(1, named.length / fixed.size)
  features[at.fixedMissing] = fixed.size === 0 ? 0 : 1 - Math.min(1, named.length / fixed.size)
}

/** A large pairing of slots with spans that can be read as their type, by augmenting paths; used spans never overlap. */
export function match(slots: Slot[], spans: Span[]): { filled: Set<Slot>; used: Span[] } {
  const owner = new Map<Span, Slot>()
  const tryFill = (slot: Slot, seen: Set<Span>): boolean => {
    for (const span of spans) {
      if (seen.has(span) || !span.readings.some(({ type }) => type.key === slot.type.key)) continue
      seen.add(span)
      const holder = owner.get(span)
      const blocked = holder === undefined && [...owner.keys()].some((other) => overlaps(span, other))
      if (!blocked && (holder === undefined || tryFill(holder, seen))) {
        owner.set(span, slot)
        return true
      }
    }
    return false
  }
  const filled = new Set(slots.filter((slot) => tryFill(slot, new Set())))
  return { filled, used: [...owner.keys()] }
}
