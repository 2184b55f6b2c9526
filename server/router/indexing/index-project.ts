import { defaultMinConfidence } from '../../../api/questions.ts'
import {
  addSpelling,
  isFunctionWord,
  learnContext,
  newContexts,
  newSpelling,
  words,
  type Spelling,
} from '../../language/index.ts'
import type { Encoder } from '../encoder/encoder.ts'
import { yieldToEventLoop } from '../../flow/index.ts'
import { calibrate } from './calibrate.ts'
import { readFarBank } from './far-bank.ts'
import { indexText, reread, type IndexedText } from '../project/index-text.ts'
import { ownWordingsOf } from '../decision/candidate.ts'
import { makeLinker } from './make-linker.ts'
import type { Embed, IndexedQuery, ProjectIndex, Uncalibrated, VectorCache } from '../project/project-index.ts'
import { indexCounterExamples } from '../ranking/counter-examples.ts'
import { slotsOf, spoken, type CounterExample, type RoutableProject, type Slot } from '../project/project.ts'
import { prepareReading } from '../decision/guard.ts'
import type { RuleName } from '../project/rules.ts'
import { type Asked, textKey } from '../ranking/evidence.ts'
import { shareOfMany } from '../ranking/confidence.ts'
import { buildLexical } from '../vectors/lexical.ts'
import { roughen, settle } from '../vectors/scan-kernel.ts'
import { matrixOf, toUnitLength, rowOf, type Matrix } from '../vectors/vectors.ts'
import { pullsOf, scatterOf, squareOf, whiten, type Scatter } from '../vectors/whiten.ts'

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
    await yieldToEventLoop()
  }
  for (const { shape, roles } of texts) {
    for (const { mark } of roles) {
      const place = shape.marks[mark]
      if (place !== undefined) learnContext(contexts, place, shape.tokens)
    }
    await yieldToEventLoop()
  }
  for (const text of texts) {
    reread(text, contexts)
    await yieldToEventLoop()
  }
  for (const each of queries) {
    each.fixed = fixedValues(texts.slice(each.from, each.to))
    await yieldToEventLoop()
  }
  const { index, ...learning } = await assemble(
    encoder,
    {
      linker,
      contexts,
      queries,
      texts,
      ownWordings: ownWordingsOf(texts),
      labels: await slotWords(queries),
      spelling: await spellingOf(project, queries, texts),
    },
    { previous, counterExamples: project.counterExamples ?? [] },
  )
  const calibration = await calibrate(index, learning)
  const { leastConfidence = defaultMinConfidence } = project
  const unread = { ...index, calibration, leastConfidence, reading: null }
  if (encoder.reader === null) return unread
  const reading = await prepareReading(encoder.reader, project, unread, previous?.matches)
  for (const [read, match] of reading.matches) index.vectors.matches.set(read, match)
  return { ...unread, reading }
}

type Parts = Pick<ProjectIndex, 'linker' | 'contexts' | 'queries' | 'texts' | 'ownWordings' | 'labels' | 'spelling'>

async function assemble(
  encoder: Encoder,
  parts: Parts,
  { previous, counterExamples }: { previous: VectorCache | undefined; counterExamples: CounterExample[] },
): Promise<{ index: Uncalibrated; scatter: Scatter; far: Asked[] }> {
  const { queries, texts } = parts
  const vectors: VectorCache = { modelHash: encoder.hash, byText: new Map(), matches: new Map() }
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
  await yieldToEventLoop()
  const roughCentroids = await roughen(means.raw.rows, means.masked.rows)
  await yieldToEventLoop()
  const far = await readFarBank(parts, settled.raw, embed)
  const farRows = matrixOf(shareOfMany(queries.length) === 1 ? [] : far.map((asked) => asked.raw), encoder.dimensions)
  // The cache points into the index's own memory: a vector is kept once.
  for (const [row, { text, shape }] of texts.entries()) {
    vectors.byText.set(textKey(text), rowOf(settled.raw, row))
    vectors.byText.set(textKey(shape.masked), rowOf(settled.masked, row))
    await yieldToEventLoop()
  }
  const whiteRaw = await whiten(await scatterOf(raw, queryOfText, queries.length))
  const index = {
    ...parts,
    encoder,
    counterExamples: await indexCounterExamples(counterExamples, parts, embed),
    rulesOff: new Set<RuleName>(),
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
export function embedder(encoder: Encoder, { byText }: VectorCache, known: Map<string, Float32Array>): Embed {
  return async (wanted) => {
    const keys: string[] = []
    const fresh = new Map<string, string>()
    for (const text of wanted) {
      const key = textKey(text)
      const kept = byText.get(key) ?? known.get(key)
      if (kept === undefined) fresh.set(key, text)
      else byText.set(key, kept)
      keys.push(key)
      await yieldToEventLoop()
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

export async function centroids(
  { data, columns }: Matrix,
  queries: Array<Pick<IndexedQuery, 'from' | 'to'>>,
): Promise<{ rows: Matrix; lengths: Float32Array }> {
  const rows: Float32Array[] = []
  const lengths: number[] = []
  for (const { from, to } of queries) {
    const sum = new Float32Array(columns)
    for (let row = from; row < to; row += 1) {
      for (let at = 0; at < columns; at += 1) sum[at] = (sum[at] as number) + (data[row * columns + at] as number)
    }
    rows.push(toUnitLength(sum))
    lengths.push(Math.sqrt(squareOf(sum)) || 1)
    await yieldToEventLoop()
  }
  return { rows: matrixOf(rows, columns), lengths: Float32Array.from(lengths) }
}

// In longer lists some name is always one letter away from another word.
const maxSpelledValues = 30

async function spellingOf(
  { values }: RoutableProject,
  queries: IndexedQuery[],
  texts: IndexedText[],
): Promise<Spelling> {
  const spelling = newSpelling()
  const add = (text: string): void => {
    for (const word of words(text)) addSpelling(spelling, word.text)
  }
  for (const { query, slots } of queries) {
    add(spoken(query.name))
    for (const { name, type, rules } of slots) {
      add(`${spoken(name)} ${type.label} ${rules.description}`)
      const listed = [...rules.choices, ...(values[rules.valuesFrom ?? ''] ?? [])]
      if (listed.length <= maxSpelledValues) {
        for (const each of listed) add(labelOf(each))
      }
    }
    await yieldToEventLoop()
  }
  for (const { linked } of texts) {
    for (const { text } of linked.words) addSpelling(spelling, text)
    await yieldToEventLoop()
  }
  return spelling
}

function labelOf(value: unknown): string {
  return typeof value === 'object' && value !== null && 'label' in value ? String(value.label) : String(value)
}

async function slotWords(queries: IndexedQuery[]): Promise<Set<string>> {
  const stems = new Set<string>()
  for (const { slots } of queries) {
    for (const { name, type } of slots) {
      for (const { stem } of words(`${spoken(name)} ${type.label}`))
        if (!isFunctionWord(stem) && !/^\d/.test(stem)) stems.add(stem)
    }
    await yieldToEventLoop()
  }
  return stems
}

export function wordsSaid(name: string, slots: Slot[], texts: IndexedText[]): Map<string, number> {
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
export function fixedValues(texts: IndexedText[]): Set<string> {
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
