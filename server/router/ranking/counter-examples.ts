import { isFunctionWord, link, shape, type CallerTime } from '../../language/index.ts'
import type { Embed, IndexedCounterExample, IndexedQuery, ProjectIndex } from '../project/project-index.ts'
import type { CounterExample } from '../project/project.ts'
import type { Asked } from './evidence.ts'
import { dotRow } from '../vectors/vectors.ts'

// Read once, when they are indexed; relative days in them need some day to stand on.
const anyDay: CallerTime = { now: new Date(0), timeZone: 'UTC' }

export async function indexCounterExamples(
  given: CounterExample[],
  { linker, contexts, queries }: Pick<ProjectIndex, 'linker' | 'contexts' | 'queries'>,
  embed: Embed,
): Promise<IndexedCounterExample[]> {
  if (given.length === 0) return []
  const read = given.map((each) => {
    const linked = link(linker, each.question, anyDay)
    return { each, linked, shaped: shape(linked, contexts) }
  })
  const vectors = await embed(read.map(({ shaped }) => shaped.masked))
  return read.map(({ each, linked, shaped }, row) => {
    const refused = queries.find(({ query }) => query.name === each.notQuery)
    return {
      ...each,
      wording: bareWording(shaped.masked),
      strange: strangeStems({ linked, shape: shaped }, refused),
      vectors,
      row,
    }
  })
}

/** Words of a question that the query does not say: they tell it from questions that look alike. */
function strangeStems(
  { linked, shape: { marks } }: Pick<Asked, 'linked' | 'shape'>,
  query: IndexedQuery | undefined,
): Set<string> {
  const isMasked = (at: number): boolean => marks.some(({ span }) => span.from <= at && at < span.to)
  return new Set(
    linked.words
      .filter(({ text }, at) => !isFunctionWord(text) && !isMasked(at))
      .map(({ stem }) => stem)
      .filter((stem) => query?.said.has(stem) !== true),
  )
}

/** Reports by people about questions like this one. */
export type Told = { notQueries: Set<string>; meantQuery: string | null }

/** Why a query must not answer. Without the words of who reported it: they may be another caller's. */
export function reportedWrong({ query: { name } }: IndexedQuery, { notQueries }: Told): string | null {
  return notQueries.has(name) ? `${name} comes nearest, and was reported as the wrong answer to such a question.` : null
}

/** So near a text says the same but for a word or two; nearer where no word of its own tells it apart. */
const minCosine = { marked: 0.8, plain: 0.93 }
const minShared = 0.5

/**
 * The counter-examples that a question repeats: word for word but for its values, or as a near paraphrase. That is one
 * that says most of what the query does not, and comes nearer to the counter-example than to any text of that query.
 */
export function heedCounterExamples(index: ProjectIndex, asked: Asked): Told {
  const told: Told = { notQueries: new Set(), meantQuery: null }
  if (index.counterExamples.length === 0) return told
  const wording = bareWording(asked.shape.masked)
  let nearest = -Infinity
  for (const counter of index.counterExamples) {
    const cosine = counter.wording === wording ? Infinity : nearness(index, asked, counter)
    if (cosine === null) continue
    if (counter.notQuery !== null) told.notQueries.add(counter.notQuery)
    if (counter.meantQuery === null || cosine <= nearest) continue
    told.meantQuery = counter.meantQuery
    nearest = cosine
  }
  return told
}

/** How near a question is to a counter-example; null where it is another question. */
function nearness(index: ProjectIndex, asked: Asked, counter: IndexedCounterExample): number | null {
  const { strange, notQuery, vectors, row } = counter
  const cosine = dotRow(vectors, row, asked.masked)
  if (cosine < (strange.size === 0 ? minCosine.plain : minCosine.marked)) return null
  const said = new Set(asked.linked.words.map(({ stem }) => stem))
  const shared = [...strange].filter((stem) => said.has(stem)).length
  if (shared < minShared * strange.size) return null
  const query = index.queries.find((each) => each.query.name === notQuery)
  if (query === undefined) return cosine
  for (let text = query.from; text < query.to; text += 1) {
    if (dotRow(index.masked, text, asked.masked) >= cosine) return null
  }
  return cosine
}

/** A text without what nobody means by it: capitals, spaces, the mark at its end. */
export function bareWording(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replace(/[\s?.!]+$/, '')
}
