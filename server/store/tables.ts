import type { ColumnType, Generated } from 'kysely'

/**
 * The tables as Kysely sees them, in the database's own names. `test/api/tables.test.ts` compares this file with the
 * migrated database, column by column.
 */
export type Tables = {
  installation: InstallationTable
  users: UsersTable
  sessions: SessionsTable
  projects: ProjectsTable
  members: MembersTable
  environments: EnvironmentsTable
  links: LinksTable
  management_tokens: ManagementTokensTable
  audit_log: AuditLogTable
  api_keys: ApiKeysTable
  api_key_permissions: ApiKeyPermissionsTable
  api_key_uses: ApiKeyUsesTable
  datasources: DatasourcesTable
  data_objects: DataObjectsTable
  lineage: LineageTable
  column_values: ColumnValuesTable
  jobs: JobsTable
  idempotent_calls: IdempotentCallsTable
  datasource_turns: DatasourceTurnsTable
  vault_check: VaultCheckTable
  queries: QueriesTable
  query_versions: QueryVersionsTable
  deployments: DeploymentsTable
  deployment_acts: DeploymentActsTable
  query_callers: QueryCallersTable
  requests: RequestsTable
  usage_rollups: UsageRollupsTable
  usage_progress: UsageProgressTable
  usage_questions: UsageQuestionsTable
  alerts: AlertsTable
  alert_channels: AlertChannelsTable
  alert_events: AlertEventsTable
  alert_deliveries: AlertDeliveriesTable
  alert_rounds: AlertRoundsTable
  questions: QuestionsTable
  question_settings: QuestionSettingsTable
  evaluation_cases: EvaluationCasesTable
  evaluation_runs: EvaluationRunsTable
  question_vectors: QuestionVectorsTable
}

export type Role = 'owner' | 'editor' | 'viewer'

/** Set by the database when it is not given. */
type CreatedAt = ColumnType<Date, Date | undefined, never>

/** Written as JSON text, read as a value. */
type Json<Value> = ColumnType<Value, string, string>
type OptionalJson<Value> = ColumnType<Value | null, string | null | undefined, string | null>

type InstallationTable = {
  only_row: Generated<boolean>
  created_at: CreatedAt
  example: 'wanted' | 'done' | 'off'
  example_project_id: string | null
  example_key_id: string | null
}

type UsersTable = {
  id: string
  email: string | null
  name: string
  password_hash: string | null
  administrator: Generated<boolean>
  created_at: CreatedAt
}

type SessionsTable = {
  id_hash: Buffer
  user_id: string
  created_at: CreatedAt
  expires_at: Date
}

type ProjectsTable = {
  id: string
  name: string
  created_at: CreatedAt
}

type MembersTable = {
  project_id: string
  user_id: string
  role: Role
  created_at: CreatedAt
}

type EnvironmentsTable = {
  project_id: string
  name: string
  position: number
  created_at: CreatedAt
}

type LinksTable = {
  id: string
  secret_hash: Buffer
  user_id: string | null
  project_id: string | null
  role: Role | null
  email: string | null
  created_by: string | null
  created_at: CreatedAt
  expires_at: Date
  used_at: Date | null
}

type ManagementTokensTable = {
  id: string
  name: string
  secret_hash: Buffer
  start: string
  last4: string
  project_id: string | null
  role: Role
  created_by: string | null
  created_at: CreatedAt
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

type AuditLogTable = {
  id: string
  at: CreatedAt
  actor_kind: 'user' | 'token' | 'operator' | 'system'
  actor_id: string | null
  actor_label: string
  project_id: string | null
  action: string
  target: string
  details: ColumnType<Record<string, unknown>, string | undefined, never>
  request_id: string | null
}

type ApiKeysTable = {
  id: string
  name: string
  secret_hash: Buffer
  previous_hash: Buffer | null
  previous_until: Date | null
  start: string
  last4: string
  plan: string
  per_minute: number | null
  burst: number | null
  per_day: number | null
  fixed_parameters: Json<Record<string, unknown>>
  created_by: string | null
  created_at: CreatedAt
  expires_at: Date | null
  disabled_at: Date | null
  revoked_at: Date | null
  changed_at: Generated<Date>
}

type ApiKeyPermissionsTable = {
  key_id: string
  position: number
  project_id: string | null
  environments: string[] | null
  queries: string[] | null
}

type ApiKeyUsesTable = {
  key_id: string
  last_used_at: Date
  daily_state: number | null
}

type DatasourcesTable = {
  id: string
  project_id: string
  name: string
  kind: 'http_api'
  table_name: string
  config: OptionalJson<Record<string, unknown>>
  sealed_secrets: Buffer | null
  pagination: OptionalJson<Record<string, unknown>>
  schedule: string | null
  schedule_time_zone: Generated<string>
  next_refresh_at: Date | null
  keep_versions: Generated<number>
  refreshed_at: Date | null
  last_error: OptionalJson<{ code: string; message: string }>
  created_at: CreatedAt
}

export type ColumnRecord = { name: string; type: string; sourceKey?: string }
export type Drift = {
  added: string[]
  removed: string[]
  changed: Array<{ name: string; from: string; to: string }>
}

type DataObjectsTable = {
  id: string
  project_id: string
  datasource_id: string
  kind: 'request_config' | 'response_data' | 'prepared'
  format: 'json' | 'parquet' | 'duckdb'
  version: number
  file_hash: string
  size_bytes: number
  row_count: number | null
  columns: OptionalJson<ColumnRecord[]>
  drift: OptionalJson<Drift>
  truncated: Generated<boolean>
  profile: OptionalJson<object>
  created_at: CreatedAt
}

type LineageTable = {
  project_id: string
  from_id: string
  to_id: string
}

type ColumnValuesTable = {
  datasource_id: string
  column_name: string
  value: string
  occurrences: number
}

export type JobStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'

/** In words for the user: no secret, no row, no detail of our own failures. */
export type JobError = { code: string; reason?: string; message: string }

type JobsTable = {
  id: string
  project_id: string
  job_type: string
  status: JobStatus
  source: string
  source_id: string
  source_event_type: string
  input: Json<Record<string, unknown>>
  attempt: Generated<number>
  max_attempts: Generated<number>
  progress: Generated<number>
  error: OptionalJson<JobError>
  retried_from: string | null
  cancel_requested_at: Date | null
  worker: string | null
  created_at: CreatedAt
  started_at: Date | null
  finished_at: Date | null
}

type DatasourceTurnsTable = {
  project_id: string
  datasource_id: string
  holder: string
  until: Date
}

type IdempotentCallsTable = {
  project_id: string
  key: string
  body_hash: Buffer
  answer: OptionalJson<unknown>
  created_at: CreatedAt
}

type VaultCheckTable = {
  only_row: Generated<boolean>
  sealed: Buffer
}

type QueriesTable = {
  id: string
  project_id: string
  name: string
  description: string
  sql: string
  slots: Json<unknown>
  examples: Json<QueryExample[]>
  cache_seconds: number | null
  timeout_ms: number | null
  max_rows: number | null
  max_bytes: number | null
  rate_per_minute: number | null
  rate_burst: number | null
  revision: Generated<number>
  content_hash: string
  created_at: CreatedAt
  updated_at: Generated<Date>
  updated_by: string
}

/** A question that the query answers, with the slot values it then has. */
export type QueryExample = { question: string; parameters: Record<string, unknown> }

type QueryVersionsTable = {
  id: string
  query_id: string
  version: number
  description: string
  sql: string
  slots: Json<unknown>
  examples: Json<QueryExample[]>
  cache_seconds: number | null
  timeout_ms: number | null
  max_rows: number | null
  max_bytes: number | null
  rate_per_minute: number | null
  rate_burst: number | null
  columns: Json<Array<{ name: string; type: string }>>
  tables: Json<Record<string, string[]>>
  content_hash: string
  created_at: CreatedAt
  created_by: string
}

type DeploymentsTable = {
  project_id: string
  environment: string
  name: string
  query_id: string
  version_id: string
  deployed_at: Generated<Date>
  deployed_by: string
}

export type DeploymentAct = 'deploy' | 'promote' | 'rollback' | 'undeploy'

type DeploymentActsTable = {
  id: string
  query_id: string
  environment: string
  act: DeploymentAct
  version: number | null
  previous_version: number | null
  at: CreatedAt
  by: string
}

type QueryCallersTable = {
  query_id: string
  environment: string
  key_id: string
  last_called_at: Date
}

type RequestsTable = {
  at: Date
  id: string
  project_id: string
  environment: string | null
  query: string | null
  version: number | null
  entry: string
  key_id: string | null
  status: number
  error: string | null
  reason: string | null
  total_ms: number
  route_ms: number | null
  queue_ms: number
  sql_ms: number
  rows: number
  bytes: number
  cache: string | null
  question: string | null
  confidence: number | null
}

type UsageRollupsTable = {
  project_id: string
  grain: string
  start: Date
  writer: number
  environment: string
  query: string
  version: number
  key_id: string
  entry: string
  status: number
  error: string
  reason: string
  cache: string
  calls: number
  total_ms: number
  sql_ms: number
  rows: number
  bytes: number
  buckets: number[]
  counts: number[]
}

type UsageQuestionsTable = {
  project_id: string
  start: Date
  environment: string
  query: string
  key_id: string
  reason: string
  refused: boolean
  question: string
  same: string
  calls: number
  last_at: Date
}

type UsageProgressTable = {
  grain: string
  until: Date
}

export type AlertType =
  | 'error_rate_above'
  | 'p95_latency_above'
  | 'requests_above'
  | 'requests_below'
  | 'unanswered_rate_above'
  | 'job_failed'
  | 'data_stale'
  | 'schema_drift'

type AlertsTable = {
  id: string
  project_id: string
  name: string
  type: AlertType
  threshold: number | null
  resolve_threshold: number | null
  window_minutes: number
  for_minutes: number
  min_requests: number
  remind_minutes: number | null
  environment: string | null
  query: string | null
  enabled: Generated<boolean>
  state: Generated<'ok' | 'firing'>
  value: number | null
  pending_since: Date | null
  started_at: Date | null
  notified_at: Date | null
  evaluated_at: Date | null
  created_at: CreatedAt
  created_by: string | null
}

export type ChannelType = 'webhook' | 'email' | 'slack'

type AlertChannelsTable = {
  id: string
  alert_id: string
  position: number
  type: ChannelType
  target: string
  sealed_secrets: Buffer | null
}

type AlertEventsTable = {
  id: string
  alert_id: string
  at: Date
  kind: 'firing' | 'resolved' | 'reminder' | 'test'
  value: number | null
  threshold: number | null
  message: Json<Record<string, unknown>>
}

type AlertDeliveriesTable = {
  id: string
  event_id: string
  alert_id: string
  channel_id: string
  channel_type: ChannelType
  target: string
  status: 'pending' | 'delivered' | 'failed'
  attempt: Generated<number>
  created_at: Date
  next_attempt_at: Date | null
  finished_at: Date | null
  response_status: number | null
  error: string | null
}

type AlertRoundsTable = {
  only_row: Generated<boolean>
  evaluated_at: Date
}

export type QuestionOutcome = 'answered' | 'no_match' | 'ambiguous' | 'missing_slots'
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
