export { dataChanged, openCatalogs, type Catalogs, type ProjectCatalog } from './catalogs.ts'
export { buildDataline } from './dataline.ts'
export { driftBetween } from './drift.ts'
export { openEngine, type Engine, type EngineOptions, type ReadInput } from './engine.ts'
export type {
  AnswerBody,
  Catalog,
  CatalogTable,
  Column,
  ConvertCall,
  Converted,
  ConvertedColumn,
  Inspection,
  PageCall,
  PageRows,
  Profile,
  ReadFormat,
  Slot,
  SlotType,
} from './executor/protocol.ts'
export { openFiles, type FileFormat, type Files, type KeptFile } from './files.ts'
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
export type { ReadStream } from './read-stream.ts'
export { sweepFiles } from './sweep.ts'
