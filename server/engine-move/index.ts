export { moveProject } from './move.ts'
export type { MoveReport } from './report.ts'
export { createEngineMoveTurns } from './turns.ts'
