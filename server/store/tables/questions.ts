import type { Value } from '../../../api/wire-codec.ts'
import type { evaluationRun } from '../../../api/questions.ts'
import type { Generated } from 'kysely'
import type { CreatedAt, Json, OptionalJson } from './columns.ts'

export type QuestionsTables = {
  questions: QuestionsTable
  questionSettings: QuestionSettingsTable
  evaluationCases: EvaluationCasesTable
  evaluationRuns: EvaluationRunsTable
  questionVectors: QuestionVectorsTable
  counterExamples: CounterExamplesTable
}

export type QuestionOutcome =
  | 'answered'
  | 'no_match'
  | 'ambiguous'
  | 'missing_slots'
  | 'unexpressed'
  | 'period_end'
  | 'unsure'

export type QuestionResolution = 'example' | 'evaluation' | 'draft' | 'dismissed'

type QuestionsTable = {
  id: string
  projectId: string
  environment: string
  at: Date
  text: string | null
  outcome: QuestionOutcome
  query: string | null
  parameters: OptionalJson<Record<string, unknown>>
  confidence: number | null
  keyId: string | null
  browserTokenId: string | null
  requestId: string | null
  resolved: QuestionResolution | null
}

export type QuestionLogging = 'full' | 'redacted' | 'off'

type QuestionSettingsTable = {
  projectId: string
  log: QuestionLogging
  retentionDays: number
  minConfidence: Generated<number>
}

type EvaluationCasesTable = {
  id: string
  projectId: string
  question: string
  expectedQuery: string | null
  expectedParameters: OptionalJson<Record<string, unknown>>
  source: 'written' | 'confirmed' | 'missed' | 'reported'
  createdAt: CreatedAt
  createdBy: string
}

type EvaluationRunsTable = {
  id: string
  projectId: string
  environment: string
  at: CreatedAt
  by: string
  query: string | null
  version: number | null
  total: number
  passed: number
  results: Json<EvaluationResult[]>
}

/** Kept with its question: the case may be gone or changed since. */
export type EvaluationResult = Value<typeof evaluationRun>['results'][number]

type QuestionVectorsTable = {
  modelHash: string
  textHash: string
  vector: Buffer
  usedAt: Date
}

type CounterExamplesTable = {
  id: string
  projectId: string
  question: string
  notQuery: string | null
  meantQuery: string | null
  status: Generated<'reported' | 'confirmed'>
  note: string | null
  requestId: string
  evaluationId: string | null
  createdAt: CreatedAt
  createdBy: string
  confirmedAt: Date | null
  confirmedBy: string | null
}
