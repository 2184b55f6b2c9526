export { dataChanged, openCatalogs, type Catalogs } from './catalogs.ts'
export { readColumnValues } from './column-values.ts'
export { compactedFrom, compactTable } from './compaction.ts'
export { buildDataline } from './dataline.ts'
export type { DatasourceDirectory } from './datasource-directory.ts'
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
export { builtFromOf, isBuiltFromSame, type ProjectCatalog, type TableMoment } from './moments.ts'
export { namedFiles, sweepFiles } from './named-files.ts'
export { joinedColumns, partedTable, type PartedVersion, type PartFiles } from './parts.ts'
export type { BrokenQuery, QueryGate, TableChange } from './query-gate.ts'
export type { DeployedQueries, TableModels } from './readers.ts'
export { rowsSince } from './rows-since.ts'
export {
  activateVersion,
  heldBetween,
  heldVersions,
  listDataVersions,
  readHeldTables,
  type DataVersion,
} from './version-acts.ts'
export {
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
