export {
  type Catalog,
  type CatalogTable,
  type PartedTable,
  catalogVersion,
  filesOfTable,
  nameOfRows,
} from './catalog.ts'
export { type ColumnType, columnTypeName, parseColumnType, scalarType } from './column-type.ts'
export {
  type CallLimits,
  type Engine,
  type EngineOptions,
  type ReadAnswer,
  type ReadInput,
  openEngine,
} from './executor-engine.ts'
export type {
  AnswerBody,
  CalendarUnit,
  Column,
  ResultColumn,
  ComparedColumn,
  Contract,
  ConvertCall,
  Converted,
  ConvertedColumn,
  DistinctValues,
  Inspection,
  LookupWritten,
  Merged,
  PageRows,
  PageValues,
  PageValuesCall,
  EnginePlan,
  PlanStep,
  Profile,
  ReadFormat,
  Reshape,
  RowsLook,
  RowsPageCall,
  SlotComparison,
  SlotType,
  SlotValue,
  SqlFacets,
  TextEdit,
  WrittenTable,
} from './executor/socket/protocol.ts'
export { createLocalReads } from './local-reads.ts'
export { type DialectEngine, type QueryEngine, type QueryInput, createQueryEngine, noTrino } from './query-engine.ts'
export type { ReadStream } from './read-stream.ts'
export { type TableBuilder, createTableBuilder } from './table-builder.ts'
