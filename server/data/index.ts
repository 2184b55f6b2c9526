export { dataChanged, openCatalogs, type Catalogs, type ProjectCatalog } from './catalogs.ts'
export { openEngine, type Engine, type EngineOptions, type ReadAnswer, type ReadInput } from './engine.ts'
export { openFiles, type FileFormat, type Files, type KeptFile } from './files.ts'
