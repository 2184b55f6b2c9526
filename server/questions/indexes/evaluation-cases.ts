import { fixedLimits } from '../../../api/limits.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Database, EvaluationResult } from '../../store/index.ts'
import { route, type ProjectIndex } from '../../router/index.ts'

/** What a question must be routed to. */
export type EvaluationCase = {
  id: string
  question: string
  /** Null: it must be refused. */
  expectedQuery: string | null
  /** Null: any values. */
  expectedParameters: Record<string, unknown> | null
  source: 'written' | 'confirmed' | 'missed' | 'reported'
  createdAt: Date
  createdBy: string
}

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

/** What an index makes of a question; null answers nothing. */
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

/** What a case says of slots must be so; of others it says nothing. */
function agrees(expected: Record<string, unknown> | null, got: Record<string, unknown>): boolean {
  return Object.entries(expected ?? {}).every(([name, value]) => isDeepStrictEqual(got[name] ?? null, value))
}
