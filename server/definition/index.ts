export { definitionTurns, findDefinition, putDefinition } from './put.ts'
