import { yieldToEventLoop } from '../../flow/index.ts'
import type { ProjectIndex } from '../project/project-index.ts'
import type { Without } from '../ranking/compare.ts'
import { ambiguousMargin, rank } from '../ranking/confidence.ts'
import type { IndexedText } from '../project/index-text.ts'
import { gather, type Evidence } from '../ranking/evidence.ts'
import { rowOf, scan } from '../vectors/vectors.ts'

/** Only a text near a changed query can be taken by it; beyond so many the rest is too far away to look at. */
const nearOfEach = 200
const maxExamples = 1_000
/** With more changed texts than these nearly every text is near to one: all are looked at, up to as many. */
const maxCompared = 200
const maxOfMany = 5_000
/** With fewer examples left the one left out is half of what the query is known by. */
const minLeft = 2
/** An example that another query would take, or that would be refused (`takenBy` null). */
export type TakenExample = { question: string; query: string | null; takenBy: string | null }

/** Re-asks the examples of every query against the index as it would be, those nearest to the changed queries first. */
export async function reaskExamples({
  before,
  after,
  changed,
  maxShown,
}: {
  before: ProjectIndex | null
  after: ProjectIndex
  /** Names of the queries that are changed. */
  changed: ReadonlySet<string>
  maxShown: number
}): Promise<{ checked: number; taken: TakenExample[] }> {
  const taken: TakenExample[] = []
  const texts = await nearestOf(after, changed)
  const claimOn = claims(before, after, changed)
  const placeBefore = before === null ? () => undefined : placesIn(before)
  const rivals = isPatchOf(before, after) ? numbersOf(after, changed) : null
  for (const text of texts) {
    const own = after.texts[text]
    const query = after.queries[own?.query ?? -1]?.query.name
    if (own === undefined || query === undefined) continue
    // The same question in two queries is a theft whoever would win it today.
    const claim = claimOn(text, query)
    const takenBy = claim === undefined ? takerOf({ before, after, placeBefore, rivals }, text) : claim.by
    if (takenBy !== undefined && taken.length < maxShown) taken.push({ question: own.text, query, takenBy })
    await yieldToEventLoop()
  }
  return { checked: texts.length, taken }
}

type Claim = { by: string | undefined }

/**
 * Questions that word for word become examples of two queries, looked at as the project would be: two queries that swap
 * a question do not claim it of each other.
 */
function claims(
  before: ProjectIndex | null,
  after: ProjectIndex,
  changed: ReadonlySet<string>,
): (text: number, query: string) => Claim | undefined {
  const said = after.texts.map(wordingOf)
  const had = new Set<string>()
  const keyOf = (query: string, wording: string): string => `${query}\n${wording}`
  for (const { query, from, to } of before?.queries ?? []) {
    if (!changed.has(query.name)) continue
    for (const text of before?.texts.slice(from + 1, to) ?? []) had.add(keyOf(query.name, wordingOf(text)))
  }
  const holders = new Map<string, Set<string>>()
  for (const [text, { kind, query }] of after.texts.entries()) {
    const wording = said[text] ?? ''
    const name = after.queries[query]?.query.name
    if (kind !== 'example' || wording === '' || name === undefined) continue
    holders.set(wording, (holders.get(wording) ?? new Set()).add(name))
  }
  return (text, query) => {
    const wording = said[text] ?? ''
    const all = holders.get(wording)
    if (all === undefined || all.size < 2) return undefined
    const isClaimant = (name: string): boolean => changed.has(name) && !had.has(keyOf(name, wording))
    const claimants = [...all].filter(isClaimant).toSorted()
    if (claimants.length === 0) return undefined
    // Where two claim it, one is reported.
    if (isClaimant(query)) return { by: claimants.find((name) => name > query) }
    return { by: claimants[0] }
  }
}

/** A text that is kept from index to index is read once. */
const wordings = new WeakMap<IndexedText['linked'], string>()

function wordingOf({ linked }: IndexedText): string {
  const wording = wordings.get(linked) ?? linked.words.map(({ stem }) => stem).join(' ')
  wordings.set(linked, wording)
  return wording
}

/** The examples of the index, those nearest to the changed query first; its own are the nearest. */
export function nearestTo(index: ProjectIndex, name: string): Promise<number[]> {
  return nearestOf(index, new Set([name]))
}

async function nearestOf(index: ProjectIndex, changed: ReadonlySet<string>): Promise<number[]> {
  const own = index.queries.map(({ query }) => changed.has(query.name))
  const cosines = new Float32Array(index.texts.length).fill(-1)
  const rows = index.texts.flatMap(({ query }, text) => (own[query] === true ? [text] : []))
  if (rows.length === 0) return []
  const isMany = rows.length > maxCompared
  for (const row of isMany ? [] : rows) {
    const near = scan(index.masked, rowOf(index.masked, row))
    for (let text = 0; text < near.length; text += 1) {
      if ((near[text] as number) > (cosines[text] as number)) cosines[text] = near[text] as number
    }
    await yieldToEventLoop()
  }
  const near = index.texts.flatMap(({ kind, query }, text) => {
    if (kind !== 'example') return []
    return [{ text, cosine: own[query] === true ? 2 : (cosines[text] as number) }]
  })
  near.sort((a, b) => b.cosine - a.cosine || a.text - b.text)
  const owned = near.filter(({ cosine }) => cosine === 2).length
  const most = isMany ? maxOfMany : owned + Math.min(maxExamples, nearOfEach * changed.size)
  return near.slice(0, most).map(({ text }) => text)
}

/** Whether what all texts taught is the same in both, so that queries which stayed score what they scored. */
function isPatchOf(before: ProjectIndex | null, after: ProjectIndex): boolean {
  return before !== null && before.whiteMasked.factor === after.whiteMasked.factor
}

function numbersOf({ queries }: ProjectIndex, names: ReadonlySet<string>): number[] {
  return queries.flatMap(({ query }, at) => (names.has(query.name) ? [at] : []))
}

type Indexes = {
  before: ProjectIndex | null
  after: ProjectIndex
  placeBefore: PlaceBefore
  /** The only queries that can take anything; null where every one can. */
  rivals: number[] | null
}
type PlaceBefore = (name: string, question: string) => number | undefined

/** The query that would answer an example instead of its own; undefined while it stays. */
function takerOf({ before, after, placeBefore, rivals }: Indexes, text: number): string | null | undefined {
  const own = after.texts[text]
  const query = after.queries[own?.query ?? -1]
  if (own === undefined || query === undefined) return undefined
  const { name } = query.query
  const earlier = placeBefore(name, own.text)
  const asked = evidenceOf(after, own, text)
  if (rivals !== null && !rivals.includes(own.query) && !comesNear(after, asked, { rivals, text })) return undefined
  const now = bestOf(after, asked)
  if (now.name !== name || now.tied !== null) {
    const was = before === null || earlier === undefined ? null : leader(before, earlier)
    const wasGood = was === null || (was.name === name && was.tied === null)
    return wasGood ? (now.name === name ? now.tied : now.name) : undefined
  }
  if (before === null || earlier === undefined || query.to - query.from - 2 < minLeft) return undefined
  const left = bestOf(after, asked, { text })
  if (left.name === name || left.tied !== null) return undefined
  return leader(before, earlier, { text: earlier }).name === name ? left.name : undefined
}

function placesIn(index: ProjectIndex): PlaceBefore {
  const queries = new Map(index.queries.map((each) => [each.query.name, each]))
  return (name, question) => {
    const query = queries.get(name)
    if (query === undefined) return undefined
    for (let text = query.from; text < query.to; text += 1) {
      if (index.texts[text]?.text === question && index.texts[text]?.kind === 'example') return text
    }
    return undefined
  }
}

/**
 * Among few, what a score is relative to can be another query than among all: a difference that leaves this out still
 * counts as near.
 */
const slack = 0.5

/** Whether one of the changed queries comes near the query that a text belongs to: by its side, or when it is left out. */
function comesNear(
  index: ProjectIndex,
  asked: Evidence,
  { rivals, text }: { rivals: number[]; text: number },
): boolean {
  const own = index.texts[text]?.query ?? -1
  const among = [...rivals, own].sort((a, b) => a - b)
  return [{}, { text }].some((without) => {
    const ranked = rank(index, asked, without, among)
    const score = ranked.find(({ candidate }) => candidate.query === own)?.score ?? -Infinity
    return ranked.some((each) => each.candidate.query !== own && each.score > score - ambiguousMargin - slack)
  })
}

/** The best query for a text of the index itself, and the second where the two are too close to tell. */
export function leader(
  index: ProjectIndex,
  text: number,
  without: Without = {},
  margin: number = ambiguousMargin,
): { name: string | null; tied: string | null } {
  const own = index.texts[text]
  return own === undefined ? { name: null, tied: null } : bestOf(index, evidenceOf(index, own, text), without, margin)
}

/** Evidence of a text of the index, gathered once however often it is ranked. */
function evidenceOf(index: ProjectIndex, { linked, shape }: IndexedText, text: number): Evidence {
  return gather(index, { linked, shape, raw: rowOf(index.raw, text), masked: rowOf(index.masked, text) })
}

function bestOf(
  index: ProjectIndex,
  asked: Evidence,
  without: Without = {},
  margin: number = ambiguousMargin,
): { name: string | null; tied: string | null } {
  const [best, second] = rank(index, asked, without)
  const nameOf = (query: number | undefined): string | null => index.queries[query ?? -1]?.query.name ?? null
  const close = best !== undefined && second !== undefined && best.score - second.score < margin
  return { name: nameOf(best?.candidate.query), tied: close ? nameOf(second.candidate.query) : null }
}
