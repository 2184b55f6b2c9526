export type { Bucket, BucketOptions } from '../files/bucket.ts'
export { openBucket } from '../files/open-bucket.ts'
export { nameOfRows, type Catalog, type CatalogTable, type PartedTable } from '../engine/catalog.ts'
export { columnTypeName, parseColumnType, scalarType, type ColumnType } from '../engine/column-type.ts'
export { dataChanged, openCatalogs, type Catalogs, type ProjectCatalog } from './catalogs.ts'
export { namedFiles } from './named-files.ts'
export { readColumnValues } from './column-values.ts'
export { compactedFrom, compactTable } from './compaction.ts'
export { buildDataline } from './dataline.ts'
export type { DatasourceDirectory } from './datasource-directory.ts'
export {
  openEngine,
  type CallLimits,
  type Engine,
  type EngineOptions,
  type ReadAnswer,
  type ReadInput,
} from '../engine/executor-engine.ts'
export type {
  AnswerBody,
  Column,
  Contract,
  ConvertCall,
  Converted,
  ConvertedColumn,
  Inspection,
  Plan,
  PlanStep,
  Merged,
  RowsPageCall,
  PageRows,
  Peeked,
  ReadFormat,
  SlotValue,
  SlotType,
  SqlFacets,
} from '../engine/executor/socket/protocol.ts'
export { recordNamedFiles } from '../files/file-records.ts'
export type { FileFormat, Files, StoredFile } from '../files/stored-files.ts'
export type { LookedUp } from '../lookups/lookup-answer.ts'
export { openLookups, type Lookups, type LookupStatement, type MissingLookups } from '../lookups/lookups.ts'
export { openFiles } from '../files/open-files.ts'
export {
  deleteObject,
  findObject,
  lineageOf,
  listObjects,
  openObject,
  readObjectRows,
  refuseInUse,
  type DataObject,
} from './objects.ts'
export { joinedColumns, partedTable, type PartedVersion } from './parts.ts'
export {
  createQueryEngine,
  noTrino,
  type DialectEngine,
  type QueryEngine,
  type QueryInput,
} from '../engine/query-engine.ts'
export type { BrokenQuery, QueryGate, TableChange } from './query-gate.ts'
export type { DeployedQueries } from './readers.ts'
export type { ReadStream } from '../engine/read-stream.ts'
export { sweepFiles } from './sweep.ts'
export { createTableBuilder, type TableBuilder } from '../engine/table-builder.ts'
export {
  activateVersion,
  heldBetween,
  heldVersions,
  listDataVersions,
  readHeldTables,
  type DataVersion,
} from './version-acts.ts'
export {
  fetchedAt,
  insertVersion,
  liveDataVersion,
  liveTables,
  noteUnchanged,
  readDrifts,
  storedBytes,
  type FetchedVersion,
  type LiveData,
  type LoadedParts,
} from './versions.ts'
export type { RowFilter } from './wished-rows.ts'
