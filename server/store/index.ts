export { beginDatabase, type OpeningStore } from './begin.ts'
export { openDatabaseSnapshot, restoreTables, type DatabaseSnapshot } from './copies.ts'
export { settleInBucket } from './postgres/data-folder.ts'
export { claimLeases, forgetLapsedLeases, releaseLeases, takeLease, unleased, type Lease } from './lease.ts'
export { underLock, underNamedLock, unlessLocked } from './locks.ts'
export { onBehalfOf } from './postgres/fair-pool.ts'
export { inOneTransaction } from './transactions.ts'
export { openDatabase, type Database, type DatabaseOptions } from './open-database.ts'
export { pageAfter, type Page } from './page.ts'
export { lockProjectForQuota, lockQuota, refuseFull, requireRoomInProject } from './quota.ts'
export { openReplicas, soleReplica, type Replicas } from './replicas.ts'
export { rewriteColumn } from './rewrite-column.ts'
export { asStoreFailure, isConnectionError, isRowRefused } from './postgres/store-failure.ts'
export type {
  ChannelType,
  ColumnRecord,
  ColumnRule,
  DataCheck,
  DeploymentAct,
  Dialect,
  CursorValue,
  Deletions,
  Drift,
  EvaluationResult,
  HeldBecause,
  LoadRule,
  Validators,
  JobDetails,
  JobError,
  JobStatus,
  QueryExample,
  QuestionLogging,
  QuestionOutcome,
  QuestionResolution,
  ReleaseAct,
  ReleasedQuery,
  ReleaseFacts,
  ReleaseRouting,
  ReleaseStatus,
  ReplayCounts,
  ReplayOutcome,
  ReplayReport,
  Role,
  Tables,
  TrialRules,
  TrialState,
} from './tables.ts'
export { openTables } from './tables.ts'
export { inTransaction, type Connection } from './transaction.ts'
export { isUniqueViolation } from './violations.ts'
