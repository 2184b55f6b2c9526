import type { Generated } from 'kysely'
import type { CreatedAt, GeneratedJson, Json, OptionalJson } from './columns.ts'

export type DataTables = {
  datasources: DatasourcesTable
  dataObjects: DataObjectsTable
  lineage: LineageTable
  dataParts: DataPartsTable
  versionParts: VersionPartsTable
  columnValues: ColumnValuesTable
  jobs: JobsTable
  loadCheckpoints: LoadCheckpointsTable
  idempotentCalls: IdempotentCallsTable
  variables: VariablesTable
  upstreamGrants: UpstreamGrantsTable
  upstreamAttempts: UpstreamAttemptsTable
  leases: LeasesTable
  dataFolder: DataFolderTable
  storedFiles: StoredFilesTable
  replicas: ReplicasTable
}

type DatasourcesTable = {
  id: string
  projectId: string
  name: string
  kind: 'http_api' | 'file'
  tableName: string
  config: OptionalJson<Record<string, unknown>>
  sealedSecrets: Buffer | null
  pagination: OptionalJson<Record<string, unknown>>
  forEach: OptionalJson<Record<string, unknown>>
  schedule: string | null
  scheduleTimeZone: Generated<string>
  nextRefreshAt: Date | null
  keepVersions: Generated<number>
  refreshedAt: Date | null
  lastError: OptionalJson<{ code: string; message: string }>
  columnRules: GeneratedJson<ColumnRule[]>
  onMismatch: Generated<'widen' | 'hold' | 'null' | 'refuse'>
  onBreaking: Generated<'hold' | 'serve'>
  checks: GeneratedJson<DataCheck[]>
  load: GeneratedJson<LoadRule>
  tags: Generated<string[]>
  createdAt: CreatedAt
}

type VariablesTable = {
  id: string
  projectId: string
  environment: string | null
  name: string
  value: string | null
  sealedValue: Buffer | null
  origins: Generated<string[]>
  createdAt: CreatedAt
  updatedAt: Generated<Date>
}

type UpstreamGrantsTable = {
  id: string
  projectId: string
  datasourceId: string | null
  purpose: string
  sealedTokens: Buffer
  generation: Generated<number>
  connectedBy: string | null
  refusal: string | null
  connectedAt: Date
  usedAt: Date
}

type UpstreamAttemptsTable = {
  id: string
  projectId: string
  datasourceId: string
  userId: string
  sessionHash: string
  redirectUri: string
  sealedAttempt: Buffer
  expiresAt: Date
}

/** How new data comes to a table. Fields are keys of the answer. */
export type LoadRule = {
  mode: 'replace' | 'append' | 'merge'
  primaryKey?: string[]
  cursor?: { field: string; parameter?: string; initialValue?: string | number; lookBack?: string | number }
  deleteMarker?: { field: string; value: string | number | boolean }
}

/** The largest value of a cursor field, as text, and the type of its column. */
export type CursorValue = { type: string; value: string }

/** Which rows of a version's parts are past: a file of places and positions. */
export type Deletions = { hash: string; sizeBytes: number; rows: number; inPlaces: number[] }

/** By which an API can tell whether its answer to a request has changed. */
export type Validators = { requestHash: string; etag?: string; lastModified?: string }

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
  projectId: string
  datasourceId: string
  kind: 'request_config' | 'response_data' | 'prepared' | 'rejected_values'
  format: 'json' | 'parquet' | 'duckdb'
  version: number
  fileHash: string
  sizeBytes: number
  rowCount: number | null
  columns: OptionalJson<ColumnRecord[]>
  drift: OptionalJson<Drift>
  truncated: Generated<boolean>
  profile: OptionalJson<object>
  isLive: Generated<boolean>
  activatedAt: Date | null
  heldBecause: OptionalJson<HeldBecause>
  rejected: OptionalJson<Record<string, number>>
  newRows: number | null
  load: OptionalJson<LoadRule>
  lastValue: OptionalJson<CursorValue>
  deletions: OptionalJson<Deletions>
  validators: OptionalJson<Validators>
  checkedAt: Date | null
  createdAt: CreatedAt
}

type DataPartsTable = {
  id: string
  projectId: string
  datasourceId: string
  fileHash: string
  sizeBytes: number
  rowCount: number
  columns: Json<ColumnRecord[]>
  loads: number[]
  nativeHash: string | null
  nativeBytes: number | null
  createdAt: CreatedAt
}

type VersionPartsTable = {
  dataObjectId: string
  place: number
  partId: string
}

type LineageTable = {
  projectId: string
  fromId: string
  toId: string
}

type ColumnValuesTable = {
  datasourceId: string
  columnName: string
  value: string
  occurrences: number
}

export type JobStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'

/** In words for the user: no secret, no row, no detail of our own failures. */
export type JobError = { code: string; reason?: string; message: string }

/** What a running job says about itself beyond its progress. */
export type JobDetails = {
  pages: number
  rows: number
  bytes: number
  /** How many rows there will be, where the API says so or the last load tells. */
  estimate?: { rows: number; from: 'total' | 'last_load' } | undefined
}

type LoadCheckpointsTable = {
  datasourceId: string
  jobId: string
  requestHash: string
  rowsPath: string
  state: Json<object>
  updatedAt: Generated<Date>
}

type JobsTable = {
  id: string
  projectId: string
  jobType: string
  status: JobStatus
  source: string
  sourceId: string
  sourceEventType: string
  input: Json<Record<string, unknown>>
  attempt: Generated<number>
  maxAttempts: Generated<number>
  progress: Generated<number>
  details: OptionalJson<JobDetails>
  error: OptionalJson<JobError>
  retriedFrom: string | null
  cancelRequestedAt: Date | null
  worker: string | null
  createdAt: CreatedAt
  startedAt: Date | null
  finishedAt: Date | null
}

type DataFolderTable = {
  onlyRow: Generated<boolean>
  id: string
  directory: string
  machine: string
  openedAt: Generated<Date>
  objectsUrl: string | null
}

type ReplicasTable = {
  id: string
  role: 'all' | 'api' | 'worker'
  machine: string
  seenAt: Generated<Date>
}

type StoredFilesTable = {
  hash: string
  format: 'json' | 'parquet' | 'duckdb'
  keptAt: Generated<Date>
}

type LeasesTable = {
  name: string
  holder: string
  until: Date
}

type IdempotentCallsTable = {
  projectId: string
  key: string
  bodyHash: Buffer
  answer: OptionalJson<unknown>
  createdAt: CreatedAt
}
