import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import type { PeopleTables } from './tables/people.ts'
import type { KeysTables } from './tables/keys.ts'
import type { DataTables } from './tables/data.ts'
import type { QueriesTables } from './tables/queries.ts'
import type { UsageTables } from './tables/usage.ts'
import type { QuestionsTables } from './tables/questions.ts'
import type { RolloutTables } from './tables/rollout.ts'

/**
 * The tables as the code names them; `openTables` turns the names into the database's own. `test/api/tables.test.ts`
 * compares `server/store/tables` with the migrated database, column by column.
 */
export type Tables = PeopleTables &
  KeysTables &
  DataTables &
  QueriesTables &
  UsageTables &
  QuestionsTables &
  RolloutTables

/** What is inside a JSON column keeps its names: it was written by users, or is told to them as it is. */
export function openTables(pool: Pool): Kysely<Tables> {
  const names = new CamelCasePlugin({ maintainNestedObjectKeys: true })
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins: [names] })
}

export type { Role } from './tables/people.ts'
export type {
  ColumnRecord,
  ColumnRule,
  DataCheck,
  CursorValue,
  Deletions,
  Drift,
  HeldBecause,
  LoadRule,
  Validators,
  JobDetails,
  JobError,
  JobStatus,
} from './tables/data.ts'
export type {
  DeploymentAct,
  Dialect,
  QueryExample,
  ReleaseAct,
  ReleasedQuery,
  ReleaseFacts,
  ReleaseRouting,
  ReleaseStatus,
  TrialRules,
  TrialState,
} from './tables/queries.ts'
export type { ChannelType } from './tables/usage.ts'
export type { EvaluationResult, QuestionLogging, QuestionOutcome, QuestionResolution } from './tables/questions.ts'
export type { ReplayCounts, ReplayOutcome, ReplayReport } from './tables/rollout.ts'
