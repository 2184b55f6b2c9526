import { routable, type AskedQuery, type QuestionPlace } from './snapshot.ts'
import { evaluate, readFirmCases, type EvaluationCase } from './evaluation-cases.ts'
import { reaskExamples, type ProjectIndex } from '../../router/index.ts'
import { newId } from '../../ids.ts'
import type { Deployments, EvaluatedPlace, GatedChange, Regression, RoutingReport } from '../../queries/index.ts'
import type { Database, EvaluationResult } from '../../store/index.ts'

type Parts = {
  store: Pick<Database, 'db'>
  deployments: Pick<Deployments, 'list'>
  now: () => number
  index(place: QuestionPlace, fresh?: 'fresh' | 'judging'): Promise<ProjectIndex>
  trial(place: QuestionPlace, changed: AskedQuery[], removed: string[]): Promise<ProjectIndex>
}

const maxShown = 50

/** Re-asks the stored questions of a place as if the changed queries were deployed there, and the removed were not. */
export async function findRegressions(
  parts: Parts,
  { changed, removed, ...where }: GatedChange,
): Promise<RoutingReport> {
  const place: QuestionPlace = { ...where, only: null }
  const live = parts.deployments.list(place.projectId, place.environment)
  const cases = await readFirmCases(parts.store, place.projectId)
  const hasExamples = [...changed, ...live.map(({ version }) => version)].some(({ examples }) => examples.length > 0)
  if (!hasExamples && cases.length === 0) return { checked: 0, regressions: [], results: [] }
  // First what is there: what comes is built from it where little changes.
  const before = live.length === 0 ? null : await parts.index(place, 'judging')
  const after = await parts.trial(place, changed.map(routable), removed)
  const names = new Set(changed.map(({ name }) => name))
  const reasked = await reaskExamples({ before, after, changed: names, maxShown })
  const reviewed = await reaskCases({ before, after, cases, now: parts.now() }, names)
  return {
    checked: reasked.checked + reviewed.results.length,
    regressions: [
      ...reasked.taken.map((each): Regression => ({ ...each, source: 'example' })),
      ...reviewed.regressions,
    ],
    results: reviewed.results,
  }
}

type Review = { before: ProjectIndex | null; after: ProjectIndex; cases: EvaluationCase[]; now: number }

async function reaskCases(
  { before, after, cases, now }: Review,
  changed: ReadonlySet<string>,
): Promise<{ regressions: Regression[]; results: EvaluationResult[] }> {
  // A case about a query that is not deployed here says nothing about this place.
  const known = new Set(after.queries.map(({ query }) => query.name))
  const about = cases.filter(({ expectedQuery }) => expectedQuery === null || known.has(expectedQuery))
  const results = await evaluate(after, about, now)
  const failed = about.filter((_, at) => results[at]?.passed === false)
  const earlier = await evaluate(before, failed, now)
  const regressions = failed.flatMap(({ question, expectedQuery, source }, at): Regression[] => {
    const isNew = earlier[at]?.passed === true || (expectedQuery !== null && changed.has(expectedQuery))
    const got = results.find((each) => each.question === question)?.got
    const takenBy = got?.outcome === 'answered' ? got.query : null
    if (!isNew) return []
    return [{ question, query: expectedQuery, takenBy, source: source === 'confirmed' ? 'confirmed' : 'evaluation' }]
  })
  return { regressions: regressions.slice(0, maxShown), results }
}

/** Keeps what an evaluation found, for the version that it was about. */
export async function keepResults(
  store: Pick<Database, 'db'>,
  place: EvaluatedPlace,
  results: EvaluationResult[],
): Promise<string> {
  const id = newId('evaluationRun')
  await store.db
    .insertInto('evaluationRuns')
    .values({
      id,
      projectId: place.projectId,
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
