export { openTableModels } from './table-models.ts'
export { readModelGraph, readModelStatements } from './records.ts'
export {
  changeModel,
  createModel,
  deleteModel,
  findModel,
  listModels,
  type Model,
  type ModelContent,
  type ModelTests,
} from './models.ts'
export { createListModel } from './list-model.ts'
export { compareModel } from './compare.ts'
export { modelsUnder, tablesMovedBy } from './moves.ts'
export { rebuildModel, runRebuild } from './rebuild.ts'
