import type { SlotsSchema } from '../../../api/slots.ts'
import { newId } from '../../ids.ts'
import type { Deployments } from '../../queries/index.ts'
import type { Database, EvaluationResult, QueryExample } from '../../store/index.ts'
import { breathe } from '../indexing/breathe.ts'
import type { ProjectIndex } from '../indexing/index-project.ts'
import type { RoutableQuery } from '../project.ts'
import { gather, type Asked } from '../ranking/evidence.ts'
import type { Without } from '../ranking/compare.ts'
import { ambiguousMargin, rank } from '../ranking/confidence.ts'
import { words } from '../reading/text.ts'
import { dotRow, rowOf } from '../ranking/vectors.ts'
import { evaluate, readCases, type EvaluationCase } from '../verbs/evaluation-cases.ts'
import { routable, type Place } from './snapshot.ts'

/** A stored question that a change would route elsewhere. */
export type Regression = {
  question: string
  /** What answers it today, or must; null: it must be refused. */
  query: string | null
  /** What would take it; null: it would be refused. */
  takenBy: string | null
  source: 'example' | 'evaluation' | 'confirmed'
}

/** What a deployment would do to the questions of its place. */
export type RoutingReport = {
  /** How many stored questions were asked again. */
  checked: number
  regressions: Regression[]
  results: EvaluationResult[]
}

export type ChangedQuery = { name: string; description: string; slots: SlotsSchema; examples: QueryExample[] }

type Parts = {
  store: Pick<Database, 'db'>
  deployments: Pick<Deployments, 'list'>
  now: () => number
  index(place: Place, fresh?: 'fresh'): Promise<ProjectIndex>
  trial(place: Place, changed: RoutableQuery): Promise<ProjectIndex>
}

/** Only a text near the changed query can be taken by it; beyond so many the rest is too far away to look at. */
const mostExamples = 1_000
/** With fewer examples left the one left out is half of what the query is known by. */
const leastLeft = 2
const mostShown = 50

/** Re-asks every stored question of a place as if the changed query were deployed there. */
export async function findRegressions(
  parts: Parts,
  { changed, ...where }: { projectId: string; environment: string; changed: ChangedQuery },
): Promise<RoutingReport> {
  const place: Place = { ...where, only: null }
  const live = parts.deployments.list(place.projectId, place.environment)
  const cases = await readCases(parts.store, place.projectId)
  const examples = [changed, ...live.map(({ version }) => version)].reduce((sum, each) => sum + each.examples.length, 0)
  if (examples + cases.length === 0) return { checked: 0, regressions: [], results: [] }
  const query = routable(changed)
  const after = await parts.trial(place, query)
  const before = live.length === 0 ? null : await parts.index(place, 'fresh')
  const reasked = await reaskExamples(before, after, query)
  const reviewed = await reaskCases({ before, after, cases, now: parts.now() }, changed.name)
  return {
    checked: reasked.checked + reviewed.results.length,
    regressions: [...reasked.regressions, ...reviewed.regressions],
    results: reviewed.results,
  }
}

type Review = { before: ProjectIndex | null; after: ProjectIndex; cases: EvaluationCase[]; now: number }

async function reaskCases(
  { before, after, cases, now }: Review,
  changed: string,
): Promise<{ regressions: Regression[]; results: EvaluationResult[] }> {
  // A case about a query that is not deployed here says nothing about this place.
  const known = new Set(after.queries.map(({ query }) => query.name))
  const about = cases.filter(({ expectedQuery }) => expectedQuery === null || known.has(expectedQuery))
  const results = await evaluate(after, about, now)
  const failed = about.filter((_, at) => results[at]?.passed === false)
  const earlier = await evaluate(before, failed, now)
  const regressions = failed.flatMap(({ question, expectedQuery, source }, at): Regression[] => {
    const isNew = earlier[at]?.passed === true || expectedQuery === changed
    const got = results.find((each) => each.question === question)?.got
    const takenBy = got?.outcome === 'answered' ? got.query : null
    if (!isNew) return []
    return [{ question, query: expectedQuery, takenBy, source: source === 'confirmed' ? 'confirmed' : 'evaluation' }]
  })
  return { regressions: regressions.slice(0, mostShown), results }
}

export type EvaluatedPlace = {
  projectId: string
  environment: string
  by: string
  query?: string
  version?: number
}

/** Keeps what an evaluation found, for the version that it was about. */
export async function keepResults(
  store: Pick<Database, 'db'>,
  place: EvaluatedPlace,
  results: EvaluationResult[],
): Promise<string> {
  const id = newId('evaluationRun')
  await store.db
    .insertInto('evaluation_runs')
    .values({
      id,
      project_id: place.projectId,
      environment: place.environment,
      by: place.by,
      query: place.query ?? null,
      version: place.version ?? null,
      total: results.length,
      passed: results.filter(({ passed }) => passed).length,
      results: JSON.stringify(results),
    })
    .execute()
  return id
}

/** Re-asks the examples of every query against the index as it would be. */
async function reaskExamples(
  before: ProjectIndex | null,
  after: ProjectIndex,
  changed: RoutableQuery,
): Promise<{ checked: number; regressions: Regression[] }> {
  const regressions: Regression[] = []
  const texts = nearestTo(after, changed.name)
  const isClaimed = claimedBy(before, changed)
  for (const text of texts) {
    const own = after.texts[text]
    const isOwn = after.queries[own?.query ?? -1]?.query.name === changed.name
    // The same question in two queries is a theft whoever would win it today.
    const claimed = own !== undefined && isClaimed(own.text)
    const takenBy = claimed ? (isOwn ? undefined : changed.name) : takerOf(before, after, text)
    if (takenBy !== undefined && own !== undefined && regressions.length < mostShown) {
      const query = after.queries[own.query]?.query.name ?? null
      regressions.push({ question: own.text, query, takenBy, source: 'example' })
    }
    await breathe()
  }
  return { checked: texts.length, regressions }
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
function nearestTo(index: ProjectIndex, name: string): number[] {
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
  return near.slice(0, mostExamples).map(({ text }) => text)
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
  if (before === null || earlier === undefined || query.to - query.from - 2 < leastLeft) return undefined
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
function leader(
  index: ProjectIndex,
  text: number,
  without: Without = {},
): { name: string | null; tied: string | null } {
  const own = index.texts[text]
  if (own === undefined) return { name: null, tied: null }
  const { linked, shape } = own
  const asked: Asked = { linked, shape, raw: rowOf(index.raw, text), masked: rowOf(index.masked, text) }
  const [best, second] = rank(index, gather(index, asked), without)
  const nameOf = (query: number | undefined): string | null => index.queries[query ?? -1]?.query.name ?? null
  const close = best !== undefined && second !== undefined && best.score - second.score < ambiguousMargin
  return { name: nameOf(best?.candidate.query), tied: close ? nameOf(second.candidate.query) : null }
}
