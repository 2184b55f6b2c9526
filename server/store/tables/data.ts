import type { Generated } from 'kysely'
import type { CreatedAt, GeneratedJson, Json, OptionalJson } from './columns.ts'

export type DataTables = {
  datasources: DatasourcesTable
  data_objects: DataObjectsTable
  lineage: LineageTable
  column_values: ColumnValuesTable
  jobs: JobsTable
  load_checkpoints: LoadCheckpointsTable
  idempotent_calls: IdempotentCallsTable
  leases: LeasesTable
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
  column_rules: GeneratedJson<ColumnRule[]>
  on_mismatch: Generated<'widen' | 'hold' | 'null' | 'refuse'>
  on_breaking: Generated<'hold' | 'serve'>
  checks: GeneratedJson<DataCheck[]>
  created_at: CreatedAt
}

/** What the author of a table decided about one column, told by the key in the answer. */
export type ColumnRule = { sourceKey: string; name?: string; type?: string; hidden?: true; description?: string }

/** What must be true of data before it serves. */
export type DataCheck =
  | { type: 'not_null'; column: string }
  | { type: 'unique'; columns: string[] }
  | { type: 'accepted_values'; column: string; values: Array<string | number | boolean> }
  | { type: 'row_count_share'; min?: number | undefined; max?: number | undefined }
  | { type: 'freshness'; column: string; max_age_minutes: number }

/** Why a version waits, in words and as values. */
export type HeldBecause = {
  reason: 'error_object' | 'type_mismatch' | 'check_failed' | 'breaking'
  message: string
  columns?: Array<{ name: string; expected: string; found: string; count: number; examples: string[] }>
  checks?: Array<{ type: DataCheck['type']; message: string }>
  queries?: Array<{ name: string; environments: string[]; message: string }>
}

/** `untyped`: no value was seen yet; it reads as text. */
export type ColumnRecord = { name: string; type: string; sourceKey?: string; untyped?: true }

export type Drift = {
  added: string[]
  removed: string[]
  changed: Array<{ name: string; from: string; to: string }>
}

type DataObjectsTable = {
  id: string
  project_id: string
  datasource_id: string
  kind: 'request_config' | 'response_data' | 'prepared' | 'rejected_values'
  format: 'json' | 'parquet' | 'duckdb'
  version: number
  file_hash: string
  size_bytes: number
  row_count: number | null
  columns: OptionalJson<ColumnRecord[]>
  drift: OptionalJson<Drift>
  truncated: Generated<boolean>
  profile: OptionalJson<object>
  is_live: Generated<boolean>
  activated_at: Date | null
  held_because: OptionalJson<HeldBecause>
  rejected: OptionalJson<Record<string, number>>
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

/** What a running job says about itself beyond its progress. */
export type JobDetails = { pages: number; rows: number; bytes: number }

type LoadCheckpointsTable = {
  datasource_id: string
  job_id: string
  request_hash: string
  rows_path: string
  state: Json<object>
  updated_at: Generated<Date>
}

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
  details: OptionalJson<JobDetails>
  error: OptionalJson<JobError>
  retried_from: string | null
  cancel_requested_at: Date | null
  worker: string | null
  created_at: CreatedAt
  started_at: Date | null
  finished_at: Date | null
}

type LeasesTable = {
  name: string
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
