export { engineMoveTurns, moveProject } from './move.ts'
