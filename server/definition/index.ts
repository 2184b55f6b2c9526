export { findDefinition, putDefinition } from './put.ts'
export { createDefinitionTurns } from './turns.ts'
