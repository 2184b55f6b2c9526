export { moveProject } from './move.ts'
export { createEngineMoveTurns } from './turns.ts'
