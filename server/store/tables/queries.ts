import type { Generated } from 'kysely'
import type { CreatedAt, Json, OptionalJson } from './columns.ts'
import type { ReplayReport } from './rollout.ts'

export type QueriesTables = {
  queries: QueriesTable
  queryVersions: QueryVersionsTable
  deployments: DeploymentsTable
  deploymentActs: DeploymentActsTable
  releases: ReleasesTable
  trials: TrialsTable
  trialVersions: TrialVersionsTable
  queryCallers: QueryCallersTable
}

/** The content of a query, which a draft and its versions have alike. */
export type QueryColumns = {
  description: string
  sql: string
  slots: Json<unknown>
  examples: Json<QueryExample[]>
  cacheSeconds: number | null
  timeoutMs: number | null
  maxRows: number | null
  maxBytes: number | null
  ratePerMinute: number | null
  rateBurst: number | null
  chart: OptionalJson<unknown>
  asTool: boolean | null
  dialect: Generated<Dialect>
}

type QueriesTable = QueryColumns & {
  id: string
  projectId: string
  name: string
  tags: Generated<string[]>
  reads: OptionalJson<Record<string, string[]>>
  revision: Generated<number>
  contentHash: string
  createdAt: CreatedAt
  updatedAt: Generated<Date>
  updatedBy: string
}

/** Language of SQL: the engine that understands it. */
export type Dialect = 'duckdb' | 'trino'

/** A question that the query answers, with the slot values it then has. */
export type QueryExample = { question: string; parameters: Record<string, unknown> }

type QueryVersionsTable = QueryColumns & {
  id: string
  queryId: string
  version: number
  columns: Json<Array<{ name: string; type: string; isCount?: true }>>
  tables: Json<Record<string, string[]>>
  contentHash: string
  createdAt: CreatedAt
  createdBy: string
}

type DeploymentsTable = {
  projectId: string
  environment: string
  name: string
  queryId: string
  versionId: string
  deployedAt: Generated<Date>
  deployedBy: string
}

export type DeploymentAct = 'deploy' | 'promote' | 'rollback' | 'undeploy'

type DeploymentActsTable = {
  id: string
  queryId: string
  environment: string
  act: DeploymentAct
  version: number | null
  previousVersion: number | null
  at: CreatedAt
  by: string
  releaseId: string | null
}

/** How a release came about. What was done by itself is a release of one query. */
export type ReleaseAct = 'release' | DeploymentAct

export type ReleaseStatus = 'released' | 'checked' | 'canary' | 'shadow' | 'rolled_back'

/** Effect of a release on one query; null where it was not there. */
export type ReleasedQuery = {
  queryId: string
  name: string
  version: number | null
  previousVersion: number | null
  compatibility: 'first' | 'compatible' | 'additive' | 'breaking'
  changes: Array<{ level: 'compatible' | 'additive' | 'breaking'; message: string }>
  callers: Array<{ keyId: string; name: string | null; lastCalledAt: string }>
}

/** Effect on the stored questions of its environment. */
export type ReleaseRouting = {
  checked: number
  regressions: Array<{
    question: string
    query: string | null
    takenBy: string | null
    source: 'example' | 'evaluation' | 'confirmed'
  }>
}

/** Facts of a release that are known from its beginning. */
export type ReleaseFacts = {
  projectId: string
  environment: string
  status: ReleaseStatus
  act: ReleaseAct
  message: string | null
  commit: string | null
  forced: boolean
  promotedFrom: string | null
  rollsBack: string | null
}

type ReleasesTable = ReleaseFacts & {
  id: string
  rolledBackBy: string | null
  queries: Json<ReleasedQuery[]>
  queryNames: string[]
  breakingCount: number
  routing: Json<ReleaseRouting>
  replay: OptionalJson<ReplayReport>
  canary: OptionalJson<TrialState>
  shadow: OptionalJson<TrialState>
  createdAt: CreatedAt
  createdBy: string
}

/** When a trial gets a larger share, and what takes it back. Null: never, and nothing. */
export type TrialRules = {
  step: { percent: number; seconds: number } | null
  rollBackOn: {
    errorRate: number | null
    p95Factor: number | null
    differences: number | null
    minCalls: number
  } | null
}

type SeenVersion = { calls: number; errors: number; p95Ms: number | null }

/** State of a release that is, or was, tried out. Times as text: it is kept as JSON. */
export type TrialState = TrialRules & {
  percent: number
  replayId: string | null
  startedAt: string
  steppedAt: string
  endedAt: string | null
  /** Why it was taken back. */
  because: string | null
  judgedAt: string | null
  /** Since the last step, by query: on the version that is tried out and on the one before. */
  queries: Array<{ query: string; after: SeenVersion; before: SeenVersion }>
  compared: { calls: number; different: number; dropped: number } | null
}

type TrialsTable = {
  releaseId: string
  projectId: string
  environment: string
  kind: 'canary' | 'shadow'
  share: number
  rules: Json<TrialRules>
  replayId: string | null
  startedAt: Date
  steppedAt: Date
}

type TrialVersionsTable = {
  releaseId: string
  name: string
  queryId: string
  versionId: string
}

type QueryCallersTable = {
  queryId: string
  environment: string
  keyId: string
  lastCalledAt: Date
}
