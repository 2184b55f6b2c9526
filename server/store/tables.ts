import type { PeopleTables } from './tables/people.ts'
import type { KeysTables } from './tables/keys.ts'
import type { DataTables } from './tables/data.ts'
import type { QueriesTables } from './tables/queries.ts'
import type { UsageTables } from './tables/usage.ts'
import type { QuestionsTables } from './tables/questions.ts'

/**
 * The tables as Kysely sees them, in the database's own names. `test/api/tables.test.ts` compares `server/store/tables`
 * with the migrated database, column by column.
 */
export type Tables = PeopleTables & KeysTables & DataTables & QueriesTables & UsageTables & QuestionsTables

export type { Role } from './tables/people.ts'
export type {
  ColumnRecord,
  ColumnRule,
  DataCheck,
  Drift,
  HeldBecause,
  JobDetails,
  JobError,
  JobStatus,
} from './tables/data.ts'
export type { DeploymentAct, QueryExample } from './tables/queries.ts'
export type { ChannelType } from './tables/usage.ts'
export type { EvaluationResult, QuestionLogging, QuestionOutcome, QuestionResolution } from './tables/questions.ts'
