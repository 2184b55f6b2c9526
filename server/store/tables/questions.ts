import type { Generated } from 'kysely'
import type { CreatedAt, Json, OptionalJson } from './columns.ts'

export type QuestionsTables = {
  questions: QuestionsTable
  question_settings: QuestionSettingsTable
  evaluation_cases: EvaluationCasesTable
  evaluation_runs: EvaluationRunsTable
  question_vectors: QuestionVectorsTable
}

export type QuestionOutcome = 'answered' | 'no_match' | 'ambiguous' | 'missing_slots' | 'unexpressed'

export type QuestionResolution = 'example' | 'evaluation' | 'draft' | 'dismissed'

type QuestionsTable = {
  id: string
  project_id: string
  environment: string
  at: Date
  text: string | null
  outcome: QuestionOutcome
  query: string | null
  parameters: OptionalJson<Record<string, unknown>>
  confidence: number | null
  key_id: string | null
  request_id: string | null
  resolved: QuestionResolution | null
}

export type QuestionLogging = 'full' | 'redacted' | 'off'

type QuestionSettingsTable = {
  project_id: string
  log: QuestionLogging
  retention_days: number
  min_confidence: Generated<number>
}

type EvaluationCasesTable = {
  id: string
  project_id: string
  question: string
  expected_query: string | null
  expected_parameters: OptionalJson<Record<string, unknown>>
  source: 'written' | 'confirmed' | 'missed'
  created_at: CreatedAt
  created_by: string
}

type EvaluationRunsTable = {
  id: string
  project_id: string
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
export type EvaluationResult = {
  question: string
  expected: { query: string | null; parameters: Record<string, unknown> | null }
  got: { outcome: QuestionOutcome; query: string | null; parameters: Record<string, unknown> }
  passed: boolean
}

type QuestionVectorsTable = {
  model_hash: string
  text_hash: string
  vector: Buffer
  used_at: Date
}
