export { runCompaction } from './load/compact.ts'
export { importCurl } from './import/curl.ts'
export type { IngestApp } from './load/loading.ts'
export type { DatasourceChanges } from './sources/check-request.ts'
export { queueRefresh, refreshDatasource } from './sources/refresh.ts'
export {
  changeDatasource,
  createDatasource,
  deleteDatasource,
  findDatasource,
  insertDatasource,
  readDatasources,
  listDatasources,
  resealDatasources,
  updateDatasource,
  type Datasource,
  type SourceApp,
} from './sources/datasources.ts'
export {
  checkServedData,
  readAuthoredSources,
  readAuthoredVariables,
  ruleChanges,
  type AuthoredSource,
  type AuthoredVariable,
} from './sources/defined.ts'
export { createApi, deleteApi, findApi, listApis, resealApis, updateApi } from './apis/apis.ts'
export { readSharedApis, type SharedApi } from './apis/shared-apis.ts'
export { requestAddress } from './request/with-api.ts'
export { importDocument } from './import/import.ts'
export { openDatasourceDirectory } from './sources/directory.ts'
export { buildTable, executeRequest, runRefresh, type ExecuteAnswer } from './execute.ts'
export { forgetOldCalls } from './idempotency.ts'
export { createVariable, deleteVariable, listVariables, resealVariables, updateVariable } from './apis/named-values.ts'
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
export { openPaces, type Paces } from './outbound/pace.ts'
export { createPost } from './outbound/post.ts'
export { openOutbound, type Outbound } from './outbound/send.ts'
export { hidden, maskConfiguration, restoreConfiguration } from './secrets/mask.ts'
export { runDueSchedules } from './sources/schedules.ts'
export { maskStoredConfigurations } from './apis/stored-configuration.ts'
export { readFreshness, readSourceHealth, type SourceHealth } from './sources/source-health.ts'
export { readTablesPast } from './sources/table-past.ts'
export { uploadFile } from './upload-file.ts'
export { openUploads, type Uploads } from './uploads.ts'
export { testConnection } from './test-connection.ts'
export { changeSchema, findSchema, type TableSchema } from './sources/table-schema.ts'
export { serveVersion } from './sources/serve-version.ts'
export { readLoadKey, readRules } from './sources/table-rules.ts'
export { catalogEntries } from './import/catalog.ts'
