import { createHash } from 'node:crypto'
import { breathe } from './breathe.ts'
import type { Encoder } from '../encoder/encoder.ts'
import { readFarBank } from './far-bank.ts'
import { indexText, reread, type IndexedText } from './index-text.ts'
import { makeLinker } from './make-linker.ts'
import { shareOfMany } from '../ranking/confidence.ts'
import { buildLexical, type LexicalIndex } from '../ranking/lexical.ts'
import type { Linker } from '../reading/link.ts'
import { learnContext, newContexts, type Contexts } from '../reading/mask.ts'
import type { Asked } from '../ranking/evidence.ts'
import { slotsOf, spoken, type RoutableProject, type RoutableQuery, type Slot } from '../project.ts'
import { calibrate, type Calibration } from './calibrate.ts'
import { roughen, settle, type RoughSums } from '../ranking/scan-kernel.ts'
import { isFunctionWord, words } from '../reading/text.ts'
import { matrixOf, normalise, rowOf, type Matrix } from '../ranking/vectors.ts'
import { pullsOf, scatterOf, squareOf, whiten, type Scatter, type Whitened } from '../ranking/whiten.ts'

export type IndexedQuery = {
  query: RoutableQuery
  slots: Slot[]
  /** Its texts are `texts.slice(from, to)`. */
  from: number
  to: number
  /** How many of its texts say a word; its name and its slots say theirs too. */
  said: Map<string, number>
  /** Values that its texts name without binding them to a slot: part of what it means. */
  fixed: Set<string>
}

/** Everything a question is compared with. Never changed once built: a new one takes its place. */
export type ProjectIndex = {
  encoder: Encoder
  linker: Linker
  contexts: Contexts
  queries: IndexedQuery[]
  texts: IndexedText[]
  /** Words that name some slot: beside a number they say what it counts. */
  labels: Set<string>
  raw: Matrix
  masked: Matrix
  maskedCentroids: Matrix
  /** How long the sum of a query's vectors is; by it sums of products become products with their mean. */
  lengths: Record<'raw' | 'masked', Float32Array>
  /** Means of raw and masked vectors together, roughly, to find what is worth a closer look. */
  roughCentroids: RoughSums
  names: Matrix
  /** Each type of slot as a text that holds nothing but its mask. */
  bareTypes: Map<string, Float32Array>
  whiteRaw: Whitened & { pulls: Matrix }
  whiteMasked: Whitened
  lexical: LexicalIndex
  /** Questions of other worlds; none where a project is so large that its own queries say more. */
  far: Matrix
  calibration: Calibration
  vectors: VectorCache
}

/** An index before it knows its own threshold. */
export type Uncalibrated = Omit<ProjectIndex, 'calibration'>

/** Embeds texts, each once. */
export type Embed = (texts: string[]) => Promise<Matrix>

/** Vectors by text: what makes a second build of a project cheap. Holds one model's vectors only. */
export type VectorCache = { modelHash: string; byText: Map<string, Float32Array> }

const batchTexts = 8

/** Builds the index of a project off the request path; with `previous` only new texts are embedded. */
export async function buildIndex(
  encoder: Encoder,
  project: RoutableProject,
  previous?: VectorCache,
): Promise<ProjectIndex> {
  const linker = await makeLinker(encoder, project)
  const contexts = newContexts()
  const texts: IndexedText[] = []
  const queries: IndexedQuery[] = []
  for (const [at, query] of project.queries.entries()) {
    const from = texts.length
    const slots = slotsOf(query)
    texts.push(indexText(linker, slots, at, { kind: 'description', text: query.description, parameters: {} }))
    for (const { question, parameters } of query.examples) {
      texts.push(indexText(linker, slots, at, { kind: 'example', text: question, parameters }))
    }
    const said = wordsSaid(query.name, slots, texts.slice(from))
    queries.push({ query, slots, from, to: texts.length, said, fixed: new Set() })
    await breathe()
  }
  for (const { shape, roles } of texts) {
    for (const { mark } of roles) {
      const place = shape.marks[mark]
      if (place !== undefined) learnContext(contexts, place, shape.tokens)
    }
    await breathe()
  }
  for (const text of texts) {
    reread(text, contexts)
    await breathe()
  }
  for (const each of queries) {
    each.fixed = fixedValues(texts.slice(each.from, each.to))
    await breathe()
  }
  const { index, ...learning } = await assemble(
    encoder,
    { linker, contexts, queries, texts, labels: await slotWords(queries) },
    previous,
  )
  return { ...index, calibration: await calibrate(index, learning) }
}

type Parts = Pick<ProjectIndex, 'linker' | 'contexts' | 'queries' | 'texts' | 'labels'>

async function assemble(
  encoder: Encoder,
  parts: Parts,
  previous?: VectorCache,
): Promise<{ index: Uncalibrated; scatter: Scatter; far: Asked[] }> {
  const { queries, texts } = parts
  const vectors: VectorCache = { modelHash: encoder.hash, byText: new Map() }
  const known = previous?.modelHash === encoder.hash ? previous.byText : new Map<string, Float32Array>()
  const embed = embedder(encoder, vectors, known)
  const raw = await embed(texts.map(({ text }) => text))
  const masked = await embed(texts.map(({ shape }) => shape.masked))
  const names = await embed(queries.map(({ query }) => spoken(query.name)))
  const types = [...parts.linker.types.values()]
  const bare = await embed(types.map(({ label }) => `<${label}>`))
  const bareTypes = new Map(types.map(({ key }, row) => [key, rowOf(bare, row)]))
  const queryOfText = Int32Array.from(texts, ({ query }) => query)
  const lexical = await buildLexical(
    texts.map(({ shape: { tokens } }) => tokens),
    queryOfText,
    queries.length,
  )
  const scatter = await scatterOf(masked, queryOfText, queries.length)
  const means = { raw: await centroids(raw, queries), masked: await centroids(masked, queries) }
  const settled = settle({ raw, names, masked, maskedCentroids: means.masked.rows })
  await breathe()
  const roughCentroids = await roughen(means.raw.rows, means.masked.rows)
  await breathe()
  const far = await readFarBank(parts, settled.raw, embed)
  const farRows = matrixOf(shareOfMany(queries.length) === 1 ? [] : far.map((asked) => asked.raw), encoder.dimensions)
  // The cache points into the index's own memory: a vector is kept once.
  for (const [row, { text, shape }] of texts.entries()) {
    vectors.byText.set(textKey(text), rowOf(settled.raw, row))
    vectors.byText.set(textKey(shape.masked), rowOf(settled.masked, row))
    await breathe()
  }
  const whiteRaw = await whiten(await scatterOf(raw, queryOfText, queries.length))
  const index = {
    ...parts,
    encoder,
    lexical,
    vectors,
    ...settled,
    lengths: { raw: means.raw.lengths, masked: means.masked.lengths },
    roughCentroids,
    bareTypes,
    ...settle({ far: farRows }),
    whiteRaw: { ...whiteRaw, pulls: await pullsOf(whiteRaw) },
    whiteMasked: await whiten(scatter),
  }
  return { index, scatter, far }
}

/** Embeds texts through what is known already, few at a time: questions asked meanwhile find a nearly empty queue. */
function embedder(encoder: Encoder, { byText }: VectorCache, known: Map<string, Float32Array>): Embed {
  return async (wanted) => {
    const keys: string[] = []
    const fresh = new Map<string, string>()
    for (const text of wanted) {
      const key = textKey(text)
      const kept = byText.get(key) ?? known.get(key)
      if (kept === undefined) fresh.set(key, text)
      else byText.set(key, kept)
      keys.push(key)
      await breathe()
    }
    const missing = [...fresh]
    for (let at = 0; at < missing.length; at += batchTexts) {
      const batch = missing.slice(at, at + batchTexts)
      const answers = await encoder.encode(batch.map(([, text]) => text))
      batch.forEach(([key], position) => byText.set(key, answers[position] ?? new Float32Array(encoder.dimensions)))
    }
    return matrixOf(
      keys.map((key) => byText.get(key) ?? new Float32Array(encoder.dimensions)),
      encoder.dimensions,
    )
  }
}

function textKey(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

async function centroids(
  { data, columns }: Matrix,
  queries: IndexedQuery[],
): Promise<{ rows: Matrix; lengths: Float32Array }> {
  const rows: Float32Array[] = []
  const lengths: number[] = []
  for (const { from, to } of queries) {
    const sum = new Float32Array(columns)
    for (let row = from; row < to; row += 1) {
      for (let at = 0; at < columns; at += 1) sum[at] = (sum[at] as number) + (data[row * columns + at] as number)
    }
    rows.push(normalise(sum))
    lengths.push(Math.sqrt(squareOf(sum)) || 1)
    await breathe()
  }
  return { rows: matrixOf(rows, columns), lengths: Float32Array.from(lengths) }
}

async function slotWords(queries: IndexedQuery[]): Promise<Set<string>> {
  const stems = new Set<string>()
  for (const { slots } of queries) {
    for (const { name, type } of slots) {
      for (const { stem } of words(`${spoken(name)} ${type.label}`))
        if (!isFunctionWord(stem) && !/^\d/.test(stem)) stems.add(stem)
    }
    await breathe()
  }
  return stems
}

function wordsSaid(name: string, slots: Slot[], texts: IndexedText[]): Map<string, number> {
  const said = new Map<string, number>()
  // More often than any text may say them: leaving one text out does not make them strange.
  for (const slot of slots) for (const word of slot.cues) said.set(word, Infinity)
  for (const { stem } of words(spoken(name))) said.set(stem, Infinity)
  for (const { linked } of texts) {
    for (const stem of new Set(linked.words.map((word) => word.stem))) said.set(stem, (said.get(stem) ?? 0) + 1)
  }
  return said
}

/** Values that most texts of a query name outside its slots. */
function fixedValues(texts: IndexedText[]): Set<string> {
  const named = new Map<string, number>()
  for (const {
    shape: { marks },
    roles,
  } of texts) {
    const bound = new Set(
      roles.flatMap(({ mark }) => marks[mark]?.span.readings.map(({ value }) => String(value)) ?? []),
    )
    for (const { span } of marks) {
      const values = new Set(span.readings.map(({ value }) => String(value)))
      if ([...values].some((value) => bound.has(value))) continue
      for (const value of values) named.set(value, (named.get(value) ?? 0) + 1)
    }
  }
  return new Set([...named].filter(([, count]) => count * 2 >= texts.length).map(([value]) => value))
}
