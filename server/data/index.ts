export { dataChanged, openCatalogs, type Catalogs, type ProjectCatalog } from './catalogs.ts'
export { openEngine, type Engine, type EngineOptions, type ReadAnswer, type ReadInput } from './engine.ts'
export { openFiles, type FileFormat, type Files, type KeptFile } from './files.ts'
export {
  deleteObject,
  findObject,
  lineageOf,
  listObjects,
  openObject,
  readObjectRows,
  type DataObject,
} from './objects.ts'
export type { Profile } from './executor/protocol.ts'
export { buildDataline } from './dataline.ts'
export { driftBetween } from './drift.ts'
export { sweepFiles } from './sweep.ts'
