import type { Value } from '../../../api/wire-codec.ts'
import type { evaluation } from '../../../api/questions.ts'
import { fixedLimits } from '../../../api/limits.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Database, EvaluationResult } from '../../store/index.ts'
import { route, type ProjectIndex } from '../../router/index.ts'

/** A question and the query that must answer it. */
export type EvaluationCase = Value<typeof evaluation>

export async function readCases(store: Pick<Database, 'db'>, projectId: string): Promise<EvaluationCase[]> {
  const rows = await store.db
    .selectFrom('evaluationCases')
    .selectAll()
    .where('projectId', '=', projectId)
    .orderBy('id')
    .limit(fixedLimits.evaluationCases.value)
    .execute()
  return rows.map(caseOf)
}

/** Cases that may hold a deployment: what is only reported waits for somebody who may change queries. */
export async function readFirmCases(store: Pick<Database, 'db'>, projectId: string): Promise<EvaluationCase[]> {
  return (await readCases(store, projectId)).filter(({ source }) => source !== 'reported')
}

/** Questions that one of some queries must answer. */
export async function questionsFor(
  store: Pick<Database, 'db'>,
  { projectId, queries }: { projectId: string; queries: string[] },
): Promise<string[]> {
  const cases = await readFirmCases(store, projectId)
  return cases.flatMap(({ question, expectedQuery }) => (queries.includes(expectedQuery ?? '') ? [question] : []))
}

export function caseOf(row: {
  id: string
  question: string
  expectedQuery: string | null
  expectedParameters: Record<string, unknown> | null
  source: EvaluationCase['source']
  createdAt: Date
  createdBy: string
}): EvaluationCase {
  return {
    id: row.id,
    question: row.question,
    expectedQuery: row.expectedQuery,
    expectedParameters: row.expectedParameters,
    source: row.source,
    createdAt: row.createdAt,
    createdBy: row.createdBy,
  }
}

/** Asks each case of an index. Without the optional model: the same index gives the same results. */
export async function evaluate(
  index: ProjectIndex | null,
  cases: EvaluationCase[],
  now: number,
): Promise<EvaluationResult[]> {
  const results: EvaluationResult[] = []
  for (const each of cases) {
    const got = await answerOf(index, each.question, now)
    const { expectedQuery: query, expectedParameters: parameters } = each
    const right =
      query === null
        ? got.outcome !== 'answered'
        : got.outcome === 'answered' && got.query === query && agrees(parameters, got.parameters)
    results.push({ question: each.question, expected: { query, parameters }, got, passed: right })
  }
  return results
}

/** The routing of a question by an index; null answers nothing. */
export async function answerOf(
  index: ProjectIndex | null,
  question: string,
  now: number,
): Promise<EvaluationResult['got']> {
  if (index === null) return { outcome: 'no_match', query: null, parameters: {} }
  const routing = await route(index, question, { timeZone: 'UTC', now: new Date(now) })
  const outcome = routing.outcome === 'answer' ? 'answered' : routing.outcome
  if ('query' in routing) return { outcome, query: routing.query, parameters: routing.parameters }
  return { outcome, query: routing.explanation.candidates[0]?.name ?? null, parameters: {} }
}

/** Slots that a case names must have its values; of others it says nothing. */
function agrees(expected: Record<string, unknown> | null, got: Record<string, unknown>): boolean {
  return Object.entries(expected ?? {}).every(([name, value]) => isDeepStrictEqual(got[name] ?? null, value))
}
