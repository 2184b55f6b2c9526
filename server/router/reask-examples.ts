import { words } from '../language/index.ts'
import { yieldToEventLoop } from './yield-to-event-loop.ts'
import type { ProjectIndex } from './project-index.ts'
import type { RoutableQuery } from './project.ts'
import type { Without } from './ranking/compare.ts'
import { ambiguousMargin, rank } from './ranking/confidence.ts'
import { gather, type Asked } from './ranking/evidence.ts'
import { dotRow, rowOf } from './ranking/vectors.ts'

/** Only a text near the changed query can be taken by it; beyond so many the rest is too far away to look at. */
const maxExamples = 1_000
/** With fewer examples left the one left out is half of what the query is known by. */
const minLeft = 2
/** An example that another query would take, or that would be refused (`takenBy` null). */
export type TakenExample = { question: string; query: string | null; takenBy: string | null }

/** Re-asks the examples of every query against the index as it would be, those nearest to the changed query first. */
export async function reaskExamples({
  before,
  after,
  changed,
  maxShown,
}: {
  before: ProjectIndex | null
  after: ProjectIndex
  changed: RoutableQuery
  maxShown: number
}): Promise<{ checked: number; taken: TakenExample[] }> {
  const taken: TakenExample[] = []
  const texts = nearestTo(after, changed.name)
  const isClaimed = claimedBy(before, changed)
  for (const text of texts) {
    const own = after.texts[text]
    const isOwn = after.queries[own?.query ?? -1]?.query.name === changed.name
    // The same question in two queries is a theft whoever would win it today.
    const claimed = own !== undefined && isClaimed(own.text)
    const takenBy = claimed ? (isOwn ? undefined : changed.name) : takerOf(before, after, text)
    if (takenBy !== undefined && own !== undefined && taken.length < maxShown) {
      const query = after.queries[own.query]?.query.name ?? null
      taken.push({ question: own.text, query, takenBy })
    }
    await yieldToEventLoop()
  }
  return { checked: texts.length, taken }
}

/** Whether a question of another query is newly an example of the changed one, word for word. */
function claimedBy(before: ProjectIndex | null, changed: RoutableQuery): (question: string) => boolean {
  const wordsOf = (question: string): string =>
    words(question)
      .map(({ stem }) => stem)
      .join(' ')
  const live = before?.queries.map(({ query }) => query) ?? []
  const known = live.find(({ name }) => name === changed.name)?.examples ?? []
  const others = live.filter(({ name }) => name !== changed.name).flatMap(({ examples }) => examples)
  const taken = new Set(others.map(({ question }) => wordsOf(question)))
  const old = new Set(known.map(({ question }) => wordsOf(question)))
  const claimed = new Set(changed.examples.map(({ question }) => wordsOf(question)))
  return (question) => {
    const said = wordsOf(question)
    return said !== '' && claimed.has(said) && taken.has(said) && !old.has(said)
  }
}

/** The examples of the index, those nearest to the changed query first; its own are the nearest. */
export function nearestTo(index: ProjectIndex, name: string): number[] {
  const changed = index.queries.find(({ query }) => query.name === name)
  if (changed === undefined) return []
  const near = index.texts.flatMap(({ kind, query }, text) => {
    if (kind !== 'example') return []
    if (index.queries[query] === changed) return [{ text, cosine: 2 }]
    const row = rowOf(index.masked, text)
    let cosine = -1
    for (let other = changed.from; other < changed.to; other += 1) {
      cosine = Math.max(cosine, dotRow(index.masked, other, row))
    }
    return [{ text, cosine }]
  })
  near.sort((a, b) => b.cosine - a.cosine || a.text - b.text)
  return near.slice(0, maxExamples).map(({ text }) => text)
}

/** Who would answer an example instead of its query; undefined while it stays where it was. */
function takerOf(before: ProjectIndex | null, after: ProjectIndex, text: number): string | null | undefined {
  const own = after.texts[text]
  const query = after.queries[own?.query ?? -1]
  if (own === undefined || query === undefined) return undefined
  const { name } = query.query
  const earlier = before === null ? undefined : placeOf(before, name, own.text)
  const now = leader(after, text)
  if (now.name !== name || now.tied !== null) {
    const was = before === null || earlier === undefined ? null : leader(before, earlier)
    const wasGood = was === null || (was.name === name && was.tied === null)
    return wasGood ? (now.name === name ? now.tied : now.name) : undefined
  }
  if (before === null || earlier === undefined || query.to - query.from - 2 < minLeft) return undefined
  const left = leader(after, text, { text })
  if (left.name === name || left.tied !== null) return undefined
  return leader(before, earlier, { text: earlier }).name === name ? left.name : undefined
}

function placeOf(index: ProjectIndex, name: string, question: string): number | undefined {
  const query = index.queries.find((each) => each.query.name === name)
  if (query === undefined) return undefined
  for (let text = query.from; text < query.to; text += 1) {
    if (index.texts[text]?.text === question && index.texts[text]?.kind === 'example') return text
  }
  return undefined
}

/** The best query for a text of the index itself, and the second where the two are too close to tell. */
export function leader(
  index: ProjectIndex,
  text: number,
  without: Without = {},
  margin: number = ambiguousMargin,
): { name: string | null; tied: string | null } {
  const own = index.texts[text]
  if (own === undefined) return { name: null, tied: null }
  const { linked, shape } = own
  const asked: Asked = { linked, shape, raw: rowOf(index.raw, text), masked: rowOf(index.masked, text) }
  const [best, second] = rank(index, gather(index, asked), without)
  const nameOf = (query: number | undefined): string | null => index.queries[query ?? -1]?.query.name ?? null
  const close = best !== undefined && second !== undefined && best.score - second.score < margin
  return { name: nameOf(best?.candidate.query), tied: close ? nameOf(second.candidate.query) : null }
}
