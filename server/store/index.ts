export { beginDatabase, type OpeningStore } from './begin.ts'
export { openDatabaseSnapshot, restoreTables, type DatabaseSnapshot } from './copies.ts'
export { settleInBucket } from './postgres/data-folder.ts'
export { awaitLease, claimLeases, forgetLapsedLeases, releaseLeases, takeLease, unleased, type Lease } from './lease.ts'
export { underLock } from './locks.ts'
export { onBehalfOf } from './postgres/fair-pool.ts'
export { openDatabase, type Database, type DatabaseOptions } from './open-database.ts'
export { openMemoryCopy } from './memory-copy.ts'
export { newestFirst, pageAfter, pageOf, type Page } from './page.ts'
export { countOf, lockProjectForQuota, lockQuota, refuseFull, requireRoomInProject, withinBytes } from './quota.ts'
export { openReplicas, soleReplica, type Replicas } from './replicas.ts'
export { openRowWriter, type RowWriterParts } from './row-writer.ts'
export { rewriteColumn } from './rewrite-column.ts'
export { asStoreFailure, isConnectionError, isRowRefused } from './postgres/store-failure.ts'
export type { Role } from './tables/people.ts'
export type {
  BuiltFrom,
  ColumnRecord,
  ColumnRule,
  DataCheck,
  CursorValue,
  Deletions,
  Drift,
  HeldBecause,
  LoadRule,
  SourceKind,
  LoadWarning,
  Validators,
  JobDetails,
  JobError,
  JobStatus,
} from './tables/data.ts'
export type {
  DeploymentAct,
  Dialect,
  QueryColumns,
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
export type { EvaluationResult, QuestionLogging, QuestionOutcome } from './tables/questions.ts'
export type { ReplayCounts, ReplayOutcome, ReplayReport } from './tables/rollout.ts'
export { openTables, type Tables } from './tables.ts'
export { inOneTransaction, inTransaction, type Connection } from './transactions.ts'
export { refuseTaken } from './violations.ts'
