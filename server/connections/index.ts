export { runCompaction } from './load/compact.ts'
export { importCurl } from './import/curl.ts'
export {
  createDatasource,
  deleteDatasource,
  findDatasource,
  listDatasources,
  refreshDatasource,
  resealDatasources,
  updateDatasource,
  type Datasource,
  type DatasourceChanges,
} from './sources/datasources.ts'
export {
  checkServedData,
  readAuthoredSources,
  readAuthoredVariables,
  ruleChanges,
  type AuthoredSource,
  type AuthoredVariable,
} from './sources/defined.ts'
export { importDocument } from './import/import.ts'
export { openDatasourceDirectory, readFreshness } from './sources/directory.ts'
export { executeRequest, runRefresh, type ExecuteAnswer } from './execute.ts'
export { forgetOldCalls } from './idempotency.ts'
export {
  createVariable,
  deleteVariable,
  listVariables,
  resealVariables,
  updateVariable,
  type Variable,
} from './sources/named-values.ts'
export {
  beginAuthorization,
  endAuthorization,
  findAuthorization,
  finishAuthorization,
  resealAttempts,
} from './oauth/authorize.ts'
export { forgetOldGrants, openGrants, resealGrants } from './oauth/upstream-grants.ts'
export { createTokenSource, type TokenSource } from './oauth/token-source.ts'
export { memorySink } from './outbound/receive.ts'
export { createClientDocuments } from './outbound/client-documents.ts'
export { createPost } from './outbound/post.ts'
export { openOutbound, type Outbound } from './outbound/send.ts'
export { hidden, maskConfiguration, restoreConfiguration } from './secrets/mask.ts'
export { runDueSchedules } from './sources/schedules.ts'
export { maskStoredConfigurations } from './sources/stored-configuration.ts'
export { readSourceHealth, type SourceHealth } from './sources/source-health.ts'
export { readTablesPast } from './sources/table-past.ts'
export { uploadFile } from './upload-file.ts'
export { openUploads, type Uploads } from './uploads.ts'
export { testConnection } from './test-connection.ts'
export { changeSchema, findSchema, type TableSchema } from './sources/table-schema.ts'
export { serveVersion } from './sources/serve-version.ts'
