export { dataChanged, openCatalogs, type Catalogs, type ProjectCatalog } from './catalogs.ts'
export {
  openEngine,
  type Engine,
  type EngineOptions,
  type FileOptions,
  type ReadAnswer,
  type ReadInput,
} from './engine.ts'
export { openFiles, type FileFormat, type Files, type KeptFile } from './files.ts'
export type { ReadStream, StreamChunk } from './read-stream.ts'
export type {
  Catalog,
  CatalogTable,
  Column,
  ColumnProfile,
  Converted,
  ConvertedColumn,
  DistinctValues,
  Drift,
  Inspection,
  LooksLike,
  Profile,
  ReadFormat,
  Slot,
  SlotType,
} from './executor/protocol.ts'
