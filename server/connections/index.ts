export { importCurl } from './curl.ts'
export {
  createDatasource,
  deleteDatasource,
  findDatasource,
  listDatasources,
  refreshDatasource,
  updateDatasource,
  type Datasource,
  type DatasourceChanges,
} from './datasources.ts'
export { executeRequest, runRefresh } from './execute.ts'
export { forgetOldCalls } from './idempotency.ts'
export { createTokenSource, type TokenSource } from './oauth.ts'
export { memorySink } from './outbound/receive.ts'
export { openOutbound, type Outbound } from './outbound/send.ts'
export { testConnection } from './test-connection.ts'
