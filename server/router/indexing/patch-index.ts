import { defaultMinConfidence } from '../../../api/questions.ts'
import { isDeepStrictEqual } from 'node:util'
import { addSpelling, isFunctionWord, words, type Linker, type Spelling } from '../../language/index.ts'
import { indexCounterExamples } from '../ranking/counter-examples.ts'
import type { Encoder } from '../encoder/encoder.ts'
import type { IndexedQuery, ProjectIndex } from '../project/project-index.ts'
import { slotsOf, spoken, type RoutableProject, type RoutableQuery } from '../project/project.ts'
import { buildLexical } from '../vectors/lexical.ts'
import { roughen, settle, type Unsettled } from '../vectors/scan-kernel.ts'
import { matrixOf, rowOf, scan, type Matrix } from '../vectors/vectors.ts'
import { pullsOf, squareOf, toWhite, type Whitened } from '../vectors/whiten.ts'
import { cardOf } from '../project/card.ts'
import { yieldToEventLoop } from '../../flow/index.ts'
import { centroids, embedder, fixedValues, wordsSaid } from './index-project.ts'
import { indexText, reread, type IndexedText } from '../project/index-text.ts'
import { ownWordingsOf } from '../decision/candidate.ts'

/** Below this many queries an index is built as fast as it is patched. */
const minQueries = 100
/** A change of this share hardly moves what a project has learned of itself. */
const maxShare = 0.05
const sharedTexts = 3

/**
 * The index of a project that differs in few queries from one that is there: their texts are read, and what was learned
 * from all texts (surroundings of values, the whitened spaces, the threshold) stays as it is until the next build. What
 * it costs grows with what changed. Null where too much did.
 */
export async function patchIndex(
  encoder: Encoder,
  project: RoutableProject,
  old: ProjectIndex,
): Promise<ProjectIndex | null> {
  const places = placesOf(project, old)
  const changed = project.queries.filter((_, at) => places[at] === undefined)
  if (!isSmall(project, { old, places, changed })) return null
  if (!knowsTypes(old.linker, changed)) return null
  const linker = withWords(old.linker, changed)
  const { queries, texts } = await takeTexts(project, { old, places, linker })
  const vectors = { ...old.vectors, byText: new Map(old.vectors.byText) }
  const embed = embedder(encoder, vectors, new Map())
  const fresh = texts.filter(({ query }) => places[query] === undefined)
  const freshRaw = await embed(fresh.map(({ text }) => text))
  const freshMasked = await embed(fresh.map(({ shape }) => shape.masked))
  const freshNames = await embed(changed.map(({ name }) => spoken(name)))
  const join = { queries, places, old: old.queries }
  const queryOfText = Int32Array.from(texts, ({ query }) => query)
  const tokens = texts.map(({ shape }) => shape.tokens)
  const lexical = await buildLexical(tokens, queryOfText, queries.length, old.lexical)
  const freshQueries = rangesOf(queries.filter((_, at) => places[at] === undefined))
  const means = { raw: await centroids(freshRaw, freshQueries), masked: await centroids(freshMasked, freshQueries) }
  const settled = settle({
    raw: joinTexts(old.raw, freshRaw, join),
    names: joinRows(old.names, freshNames, places),
    masked: joinTexts(old.masked, freshMasked, join),
    maskedCentroids: joinRows(old.maskedCentroids, means.masked.rows, places),
  })
  await yieldToEventLoop()
  const whiteRaw = whitenAgain(old.whiteRaw, settled.raw, join)
  const whiteMasked = whitenAgain(old.whiteMasked, settled.masked, join)
  const { reader } = encoder
  return {
    ...old,
    encoder,
    linker,
    queries,
    texts,
    ownWordings: ownWordingsOf(texts),
    labels: new Set([...old.labels, ...changed.flatMap(labelStems)]),
    spelling: await spellingWith(old.spelling, changed),
    ...settled,
    lengths: {
      raw: joinNumbers(old.lengths.raw, means.raw.lengths, places),
      masked: joinNumbers(old.lengths.masked, means.masked.lengths, places),
    },
    roughCentroids: await roughen(means.raw.rows, means.masked.rows, { old: old.roughCentroids, places }),
    whiteRaw: { ...whiteRaw, pulls: await pullsAgain(old.whiteRaw.pulls, whiteRaw, places) },
    whiteMasked,
    lexical,
    counterExamples: await indexCounterExamples(
      project.counterExamples ?? [],
      { linker, contexts: old.contexts, queries },
      embed,
    ),
    calibration: { ...old.calibration, ownCosine: ownCosinesAgain(old, settled.masked, join) },
    leastConfidence: project.leastConfidence ?? defaultMinConfidence,
    reading:
      old.reading === null || reader === null
        ? null
        : {
            ...old.reading,
            cards: project.queries.map((query, at) => {
              return old.reading?.cards[places[at] ?? -1] ?? cardOf(reader, query, project.values)
            }),
          },
    vectors,
  }
}

/** Position of each query in the existing index; undefined where it has changed or is new. */
function placesOf({ queries }: RoutableProject, old: ProjectIndex): Array<number | undefined> {
  const known = new Map(old.queries.map(({ query }, at) => [query.name, { query, at }]))
  return queries.map((query) => {
    const found = known.get(query.name)
    if (found === undefined) return undefined
    return found.query === query || isDeepStrictEqual(found.query, query) ? found.at : undefined
  })
}

function isSmall(
  { queries }: RoutableProject,
  { old, places, changed }: { old: ProjectIndex; places: Array<number | undefined>; changed: RoutableQuery[] },
): boolean {
  const kept = places.length - changed.length
  const differing = changed.length + old.queries.length - kept
  return Math.min(queries.length, old.queries.length) >= minQueries && differing <= maxShare * queries.length
}

/** A value of a kind that no text has named yet is read by a build only. */
function knowsTypes({ types }: Linker, changed: RoutableQuery[]): boolean {
  return changed.every((query) => slotsOf(query).every(({ type }) => types.has(type.key)))
}

/** Words of the new texts are no typing errors. */
function withWords(linker: Linker, changed: RoutableQuery[]): Linker {
  const said = new Set<string>()
  const described = new Set(linker.described)
  for (const { description, examples } of changed) {
    for (const { text, stem } of words(description)) {
      described.add(text)
      said.add(stem)
    }
    for (const { question } of examples) for (const { stem } of words(question)) said.add(stem)
  }
  return { ...linker, described, mayBeTypo: (word) => linker.mayBeTypo(word) && !said.has(word) }
}

type Places = { queries: IndexedQuery[]; places: Array<number | undefined>; old: IndexedQuery[] }

async function takeTexts(
  project: RoutableProject,
  { old, places, linker }: { old: ProjectIndex; places: Array<number | undefined>; linker: Linker },
): Promise<{ queries: IndexedQuery[]; texts: IndexedText[] }> {
  const texts: IndexedText[] = []
  const queries: IndexedQuery[] = []
  for (const [at, query] of project.queries.entries()) {
    const from = texts.length
    const known = old.queries[places[at] ?? -1]
    if (known !== undefined) {
      for (let text = known.from; text < known.to; text += 1) {
        const kept = old.texts[text]
        if (kept !== undefined) texts.push(kept.query === at ? kept : { ...kept, query: at })
      }
      queries.push({ ...known, from, to: texts.length })
      continue
    }
    const slots = slotsOf(query)
    texts.push(indexText(linker, slots, at, { kind: 'description', text: query.description, parameters: {} }))
    for (const { question, parameters } of query.examples) {
      texts.push(indexText(linker, slots, at, { kind: 'example', text: question, parameters }))
    }
    const own = texts.slice(from)
    const said = wordsSaid(query.name, slots, own)
    for (const text of own) reread(text, old.contexts)
    queries.push({ query, slots, from, to: texts.length, said, fixed: fixedValues(own) })
    await yieldToEventLoop()
  }
  return { queries, texts }
}

/** Rows of texts: those of kept queries from the old matrix, the others from the new one, in the order of the queries. */
function joinTexts(old: Matrix, fresh: Matrix, { queries, places, old: before }: Places): Unsettled {
  const { columns } = old
  const write = (data: Float32Array): void => {
    let used = 0
    for (const [at, { from, to }] of queries.entries()) {
      const known = before[places[at] ?? -1]
      const [source, start] = known === undefined ? [fresh, used] : [old, known.from]
      if (known === undefined) used += to - from
      data.set(source.data.subarray(start * columns, (start + to - from) * columns), from * columns)
    }
  }
  return { rows: queries.at(-1)?.to ?? 0, columns, write }
}

/** The texts of some queries as they stand one after the other. */
function rangesOf(queries: IndexedQuery[]): Array<Pick<IndexedQuery, 'from' | 'to'>> {
  let done = 0
  return queries.map(({ from, to }) => {
    const start = done
    done += to - from
    return { from: start, to: done }
  })
}

/** The same where each query has one row. */
function joinRows(old: Matrix, fresh: Matrix, places: Array<number | undefined>): Unsettled {
  const { columns } = old
  const write = (data: Float32Array): void => {
    let used = 0
    for (const [at, place] of places.entries()) {
      data.set(place === undefined ? rowOf(fresh, used) : rowOf(old, place), at * columns)
      if (place === undefined) used += 1
    }
  }
  return { rows: places.length, columns, write }
}

function joinNumbers(old: Float32Array, fresh: Float32Array, places: Array<number | undefined>): Float32Array {
  const left = fresh.values()
  return Float32Array.from(places, (place) => (place === undefined ? left.next().value : old[place]) ?? 0)
}

/** The means of the queries in the space that was learned before. */
function whitenAgain(old: Whitened, vectors: Matrix, { queries, places }: Places): Whitened {
  const { columns } = vectors
  const counts = Int32Array.from(queries, ({ from, to }) => to - from)
  const fresh = queries.flatMap(({ from, to }, at) =>
    places[at] === undefined ? [toWhite(old, meanOf(vectors, from, to))] : [],
  )
  const { centroids: means } = settle({ centroids: joinRows(old.centroids, matrixOf(fresh, columns), places) })
  const squares = Float32Array.from(places, (place, at) => old.squares[place ?? -1] ?? squareOf(rowOf(means, at)))
  return { mean: old.mean, factor: old.factor, centroids: means, squares, counts }
}

function meanOf(vectors: Matrix, from: number, to: number): Float32Array {
  const mean = new Float32Array(vectors.columns)
  for (let row = from; row < to; row += 1) {
    const vector = rowOf(vectors, row)
    for (let at = 0; at < mean.length; at += 1)
      mean[at] = (mean[at] as number) + (vector[at] as number) / Math.max(1, to - from)
  }
  return mean
}

async function pullsAgain(old: Matrix, white: Whitened, places: Array<number | undefined>): Promise<Matrix> {
  const changed = places.flatMap((place, at) => (place === undefined ? [at] : []))
  const { columns } = old
  const data = new Float32Array(changed.length * columns)
  for (const [row, at] of changed.entries()) data.set(rowOf(white.centroids, at), row * columns)
  const own = { ...white, centroids: { rows: changed.length, columns, data } }
  const fresh = changed.length === 0 ? own.centroids : await pullsOf(own)
  return settle({ pulls: joinRows(old, fresh, places) }).pulls
}

function ownCosinesAgain({ calibration }: ProjectIndex, masked: Matrix, { queries, places }: Places): Float32Array {
  const { ownCosine } = calibration
  const usual = ownCosine.reduce((sum, each) => sum + each, 0) / Math.max(1, ownCosine.length)
  return Float32Array.from(queries, ({ from, to }, at) => {
    const known = ownCosine[places[at] ?? -1]
    if (known !== undefined) return known
    let sum = 0
    for (let text = from; text < to; text += 1) {
      const near = scan(masked, rowOf(masked, text), from, to)
      sum += near.reduce((most, cosine, other) => (from + other === text ? most : Math.max(most, cosine)), 0)
    }
    const texts = to - from > 1 ? to - from : 0
    return (sum + sharedTexts * usual) / (texts + sharedTexts)
  })
}

function labelStems(query: RoutableQuery): string[] {
  return slotsOf(query)
    .flatMap(({ name, type }) => words(`${spoken(name)} ${type.label}`).map(({ stem }) => stem))
    .filter((stem) => !isFunctionWord(stem) && !/^\d/.test(stem))
}

async function spellingWith(old: Spelling, changed: RoutableQuery[]): Promise<Spelling> {
  const spelling: Spelling = new Map([...old].map(([length, known]) => [length, new Set(known)]))
  for (const query of changed) {
    const slots = slotsOf(query).map(({ name, type, rules }) => `${spoken(name)} ${type.label} ${rules.description}`)
    const texts = [spoken(query.name), query.description, ...query.examples.map(({ question }) => question), ...slots]
    for (const text of texts) for (const word of words(text)) addSpelling(spelling, word.text)
    await yieldToEventLoop()
  }
  return spelling
}
