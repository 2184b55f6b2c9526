import { createHash } from 'node:crypto'
import type { Encoder } from './encoder.ts'
import { link, overlaps, type Clock, type Linked, type Linker, type Span } from './link.ts'
import { buildLexical, type LexicalIndex } from './lexical.ts'
import { learnContext, newContexts, shape, type Contexts, type Shape } from './mask.ts'
import { slotsOf, spoken, type RoutableProject, type RoutableQuery, type Slot, type SlotType } from './project.ts'
import { isFunctionWord, words } from './text.ts'
import { buildTrie, sameValue } from './values.ts'
import { matrixOf, normalise, whiten, type Matrix, type Whitened } from './vectors.ts'

/** A description or an example as the router compares it, with the slot that each of its spans fills. */
export type IndexedText = {
  query: number
  kind: 'description' | 'example'
  text: string
  linked: Linked
  shape: Shape
  roles: { slot: string; mark: number }[]
}

export type IndexedQuery = {
  query: RoutableQuery
  slots: Slot[]
  /** Its texts are `texts.slice(from, to)`. */
  from: number
  to: number
  /** Values that its texts name without binding them to a slot: part of what it means. */
  fixed: Set<string>
  vocabulary: Set<string>
}

export type ProjectIndex = {
  modelHash: string
  encoder: Encoder
  linker: Linker
  contexts: Contexts
  queries: IndexedQuery[]
  texts: IndexedText[]
  queryOfText: Int32Array
  raw: Matrix
  masked: Matrix
  rawCentroids: Matrix
  maskedCentroids: Matrix
  names: Matrix
  whiteRaw: Whitened
  whiteMasked: Whitened
  lexicalRaw: LexicalIndex
  lexicalMasked: LexicalIndex
  lexicalQueries: LexicalIndex
  vectors: VectorCache
}

/** Vectors by text: what makes a second build of a project cheap. Holds one model's vectors only. */
export type VectorCache = { modelHash: string; byText: Map<string, Float32Array> }

// A word that a description uses is still a value when the list is short enough to have been written by hand.
const shortList = 30
const placeholder = /<([^<>]{1,60})>|\{\{?([^{}]{1,60})\}?\}|\$([a-z]\w{0,62})/gu
// Example texts are read once, when they are indexed; relative dates in them need some day to stand on.
const anyDay: Clock = { now: new Date(0), timeZone: 'UTC' }

export async function buildIndex(
  encoder: Encoder,
  project: RoutableProject,
  previous?: VectorCache,
): Promise<ProjectIndex> {
  const linker = makeLinker(encoder, project)
  const contexts = newContexts()
  const texts: IndexedText[] = []
  const queries = project.queries.map((query, at) => {
    const from = texts.length
    const slots = slotsOf(query)
    texts.push(indexText(linker, slots, at, { kind: 'description', text: query.description, parameters: {} }))
    for (const { question, parameters } of query.examples) {
      texts.push(indexText(linker, slots, at, { kind: 'example', text: question, parameters }))
    }
    return { query, slots, from, to: texts.length, fixed: new Set<string>(), vocabulary: new Set<string>() }
  })
  for (const {
    shape: { tokens, marks },
    roles,
  } of texts) {
    for (const { mark } of roles) {
      const at = marks[mark]
      if (at !== undefined) learnContext(contexts, at, tokens)
    }
  }
  // Spans whose type is not given by a role are read again, now that the surroundings of every type are known.
  texts.forEach((text) => reread(text, contexts))
  for (const each of queries) describeQuery(each, texts.slice(each.from, each.to))
  return assemble(encoder, { linker, contexts, queries, texts }, previous)
}

type Parts = Pick<ProjectIndex, 'linker' | 'contexts' | 'queries' | 'texts'>

async function assemble(encoder: Encoder, parts: Parts, previous?: VectorCache): Promise<ProjectIndex> {
  const { queries, texts } = parts
  const vectors: VectorCache = { modelHash: encoder.hash, byText: new Map() }
  const known = previous?.modelHash === encoder.hash ? previous.byText : new Map<string, Float32Array>()
  const embed = async (wanted: string[]): Promise<Matrix> => {
    const rows: Float32Array[] = []
    for (const text of wanted) {
      const key = textKey(text)
      const vector = vectors.byText.get(key) ?? known.get(key) ?? (await encoder.encode([text]))[0]
      if (vector === undefined) throw new TypeError('The encoder gave no vector.')
      vectors.byText.set(key, vector)
      rows.push(vector)
    }
    return matrixOf(rows, encoder.dimensions)
  }
  const raw = await embed(texts.map(({ text }) => text))
  const masked = await embed(texts.map(({ shape: { masked: text } }) => text))
  const names = await embed(queries.map(({ query }) => spoken(query.name)))
  const queryOfText = Int32Array.from(texts, ({ query }) => query)
  return {
    ...parts,
    modelHash: encoder.hash,
    encoder,
    queryOfText,
    raw,
    masked,
    names,
    rawCentroids: centroids(raw, queries),
    maskedCentroids: centroids(masked, queries),
    whiteRaw: whiten(raw, queryOfText, queries.length, 0.3),
    whiteMasked: whiten(masked, queryOfText, queries.length, 0.3),
    lexicalRaw: buildLexical(
      texts.map(({ text }) => words(text).map(({ stem }) => stem)),
      'cosine',
    ),
    lexicalMasked: buildLexical(
      texts.map(({ shape: { tokens } }) => tokens),
      'cosine',
    ),
    lexicalQueries: buildLexical(
      queries.map(({ from, to }) => texts.slice(from, to).flatMap(({ shape: { tokens } }) => tokens)),
      'bm25',
    ),
    vectors,
  }
}

export function textKey(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function centroids(matrix: Matrix, queries: IndexedQuery[]): Matrix {
  const rows = queries.map(({ from, to }) => {
    const sum = new Float32Array(matrix.columns)
    for (let row = from; row < to; row += 1) {
      for (let at = 0; at < matrix.columns; at += 1)
        sum[at] = (sum[at] ?? 0) + (matrix.data[row * matrix.columns + at] ?? 0)
    }
    return normalise(sum)
  })
  return matrixOf(rows, matrix.columns)
}

function makeLinker(encoder: Encoder, project: RoutableProject): Linker {
  const types = new Map<string, SlotType>()
  const byKind: Linker['byKind'] = new Map()
  for (const query of project.queries) {
    for (const { type } of slotsOf(query)) {
      if (types.has(type.key)) continue
      types.set(type.key, type)
      byKind.set(type.kind, [...(byKind.get(type.kind) ?? []), type])
    }
  }
  const spokenIn = ordinaryWords(project)
  const isOrdinary = (stem: string, listSize: number): boolean =>
    isFunctionWord(stem) || (listSize > shortList && (spokenIn.get(stem) ?? 0) >= 2)
  const trie = buildTrie(project, isOrdinary)
  const mayBeTypo = (word: string): boolean => !encoder.tokenizer.knows(word) && !spokenIn.has(word)
  return { trie, types, byKind, mayBeTypo }
}

/** In how many queries a word is said outside placeholders and parameter values. */
function ordinaryWords(project: RoutableProject): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { description, examples } of project.queries) {
    const said = new Set<string>()
    for (const { stem } of words(description.replaceAll(placeholder, ' '))) said.add(stem)
    for (const { question, parameters } of examples) {
      const bound = new Set(Object.values(parameters).flatMap((value) => words(String(value)).map(({ stem }) => stem)))
      for (const { stem } of words(question)) if (!bound.has(stem)) said.add(stem)
    }
    for (const stem of said) counts.set(stem, (counts.get(stem) ?? 0) + 1)
  }
  return counts
}

type Source = { kind: IndexedText['kind']; text: string; parameters: Record<string, unknown> }

function indexText(linker: Linker, slots: Slot[], query: number, { kind, text, parameters }: Source): IndexedText {
  const linked = link(linker, text, anyDay)
  const decided = new Map<Span, SlotType>()
  const filled: { slot: string; span: Span }[] = []
  const claim = (slot: Slot, span: Span): void => {
    decided.set(span, slot.type)
    filled.push({ slot: slot.name, span })
  }
  const own = placeholders(linked, slots)
  for (const { slot, span } of own) claim(slot, span)
  for (const slot of slots) {
    const value = parameters[slot.name]
    if (value === undefined || value === null) continue
    const span = spanOfValue(linked, slot, value, decided) ?? literalSpan(linked, slot, value)
    if (span !== undefined) claim(slot, span)
  }
  const taken = filled.map(({ span }) => span)
  const spans = [...taken, ...linked.spans.filter((span) => !taken.some((other) => overlaps(span, other)))]
  const shaped = shape({ ...linked, spans }, newContexts(), decided)
  const roles = filled.map(({ slot, span }) => ({ slot, mark: shaped.marks.findIndex((mark) => mark.span === span) }))
  return { query, kind, text, linked: { ...linked, spans }, shape: shaped, roles }
}

function reread(text: IndexedText, contexts: Contexts): void {
  const decided = new Map(
    text.roles.flatMap(({ mark }) => {
      const at = text.shape.marks[mark]
      return at === undefined ? [] : [[at.span, at.type] as const]
    }),
  )
  const spans = text.roles.map(({ mark }) => text.shape.marks[mark]?.span)
  text.shape = shape(text.linked, contexts, decided)
  text.roles = text.roles.map(({ slot }, at) => ({
    slot,
    mark: text.shape.marks.findIndex(({ span }) => span === spans[at]),
  }))
}

/** `<customer>`, `{customer}` and `$customer` in a description stand for the slot of that name or label. */
function placeholders(linked: Linked, slots: Slot[]): { slot: Slot; span: Span }[] {
  const free = [...slots].sort(
    (a, b) => stemmed(a.name).localeCompare(stemmed(b.name)) || a.name.localeCompare(b.name, 'en', { numeric: true }),
  )
  const found: { slot: Slot; span: Span }[] = []
  for (const match of linked.text.matchAll(placeholder)) {
    const name = spoken(match[1] ?? match[2] ?? match[3] ?? '')
    const fits = (slot: Slot): boolean => spoken(slot.name) === name || slot.type.label === name
    const slot = free.find(fits) ?? slots.find(fits)
    const [start, end] = [match.index, match.index + match[0].length]
    const from = linked.words.findIndex((word) => word.end > start)
    const to = linked.words.findLastIndex((word) => word.start < end) + 1
    if (slot === undefined || from < 0 || to <= from) continue
    if (free.includes(slot)) free.splice(free.indexOf(slot), 1)
    found.push({
      slot,
      span: { from, to, start, end, readings: [{ type: slot.type, value: null, quality: 1, days: null }], weak: false },
    })
  }
  return found
}

function stemmed(name: string): string {
  return name.replace(/_?\d+$/, '')
}

function spanOfValue(linked: Linked, slot: Slot, value: unknown, taken: Map<Span, SlotType>): Span | undefined {
  return [...linked.spans, ...linked.weak].find(
    (span) =>
      !taken.has(span) &&
      span.readings.some((reading) => reading.type.key === slot.type.key && sameValue(reading.value, value)),
  )
}

function literalSpan(linked: Linked, slot: Slot, value: unknown): Span | undefined {
  const wanted = words(String(value)).map(({ text }) => text)
  if (wanted.length === 0) return undefined
  const from = linked.words.findIndex((_, at) =>
    wanted.every((word, offset) => linked.words[at + offset]?.text === word),
  )
  const [first, last] = [linked.words[from], linked.words[from + wanted.length - 1]]
  if (from < 0 || first === undefined || last === undefined) return undefined
  const readings = [{ type: slot.type, value, quality: 1, days: null }]
  return { from, to: from + wanted.length, start: first.start, end: last.end, readings, weak: false }
}

function describeQuery(query: IndexedQuery, texts: IndexedText[]): void {
  const named = new Map<string, number>()
  for (const {
    shape: { tokens, marks },
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
    for (const token of tokens) query.vocabulary.add(token)
  }
  for (const [value, count] of named) if (count * 2 >= texts.length) query.fixed.add(value)
}
