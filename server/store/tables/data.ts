import type { ApiRate } from '../../../api/apis.ts'
import type { heldBecause, loadWarnings } from '../../../api/data.ts'
import type { RowTest } from '../../../api/row-tests.ts'
import type { Value } from '../../../api/wire-codec.ts'
import type { datasource } from '../../../api/datasources.ts'
import type { ColumnType, Generated } from 'kysely'
import type { Dialect } from './queries.ts'
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
  apis: ApisTable
  apiCalls: ApiCallsTable
  models: ModelsTable
  rowTests: RowTestsTable
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
  kind: SourceKind
  tableName: string
  config: OptionalJson<Record<string, unknown>>
  sealedSecrets: Buffer | null
  api: ColumnType<string | null, never, never>
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

type ModelsTable = {
  datasourceId: string
  projectId: string
  name: string
  description: Generated<string>
  sql: string
  dialect: Generated<Dialect>
  reads: Json<Record<string, string[]>>
  columns: Json<Array<{ name: string; type: string }>>
  updatedAt: Generated<Date>
}

type RowTestsTable = {
  projectId: string
  name: string
  content: Json<RowTest>
  updatedAt: Generated<Date>
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

type ApisTable = {
  id: string
  projectId: string
  name: string
  config: Json<Record<string, unknown>>
  sealedSecrets: Buffer
  rate: OptionalJson<ApiRate>
  tries: number | null
  pausedUntil: Date | null
  createdAt: CreatedAt
  updatedAt: Generated<Date>
}

type ApiCallsTable = {
  id: Generated<number>
  apiId: string
  countedAt: Date
  until: Date
}

type UpstreamGrantsTable = {
  id: string
  projectId: string
  datasourceId: string | null
  apiId: string | null
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
/** Where data comes from: an API that is called, files that people send, or a statement over other tables. */
export type SourceKind = 'http_api' | 'file' | 'model'

export type LoadRule = NonNullable<Value<typeof datasource>['load']>

/** The largest value of a cursor field, as text, and the type of its column; `raw` is a time as the API wrote it. */
export type CursorValue = { type: string; value: string; raw?: string }

/** The version of a table that a version of a model was built from. `asOf`: when its data was fetched. */
export type BuiltFrom = { datasourceId: string; table: string; version: number; asOf: string; isModel: boolean }

/** Which rows of a version's parts are past: a file of places and positions. */
export type Deletions = { hash: string; sizeBytes: number; rows: number; inPlaces: number[] }

/** By which an API can tell whether its answer to a request has changed. */
export type Validators = { requestHash: string; etag?: string; lastModified?: string }

/** The author's decision about one column, found by its key in the answer. */
export type ColumnRule = {
  sourceKey: string
  name?: string
  type?: string
  hidden?: true
  onLoad?: 'drop' | 'hash'
  description?: string
}

/** A condition on data before it serves. */
export type DataCheck =
  | { type: 'not_null'; column: string }
  | { type: 'unique'; columns: string[] }
  | { type: 'accepted_values'; column: string; values: Array<string | number | boolean> }
  | { type: 'row_count_share'; min?: number | undefined; max?: number | undefined }
  | { type: 'freshness'; column: string; max_age_minutes: number }

/** Why a version waits, in words and as values. */
export type HeldBecause = Value<typeof heldBecause>

/** Why a load cannot be shown to be whole. `expected` and `received` are numbers of rows. */
export type LoadWarning = Value<typeof loadWarnings>[number]

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
  kind: 'request_config' | 'response_data' | 'rejected_values'
  format: 'json' | 'parquet'
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
  warnings: OptionalJson<LoadWarning[]>
  rejected: OptionalJson<Record<string, number>>
  newRows: number | null
  load: OptionalJson<LoadRule>
  lastValue: OptionalJson<CursorValue>
  deletions: OptionalJson<Deletions>
  validators: OptionalJson<Validators>
  builtFrom: OptionalJson<BuiltFrom[]>
  /** The version from which on each joined the one before it. */
  joinedSince: number | null
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

/** Details of a running job beyond its progress. */
export type JobDetails = {
  pages: number
  rows: number
  bytes: number
  /** How many rows there will be, where the API says so or the last load tells. */
  estimate?: { rows: number; from: 'total' | 'last_load' | 'requests' } | undefined
  warnings?: LoadWarning[]
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
