export { openDatabase, type Database } from './open.ts'
export { pageAfter, type Page } from './page.ts'
export { asStoreFailure } from './store-failure.ts'
export type {
  AlertType,
  ChannelType,
  ColumnRecord,
  DeploymentAct,
  Drift,
  EvaluationResult,
  JobError,
  JobStatus,
  QueryExample,
  QuestionLogging,
  QuestionOutcome,
  QuestionResolution,
  Role,
  Tables,
} from './tables.ts'
export { inTransaction, type Connection } from './transaction.ts'
export { isUniqueViolation } from './violations.ts'
