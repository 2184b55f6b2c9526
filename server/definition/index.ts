export { findDefinition, putDefinition } from './put.ts'
