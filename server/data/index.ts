export { openEngine, type Engine, type EngineOptions, type ReadAnswer, type ReadInput } from './engine.ts'
