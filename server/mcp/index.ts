export { openMcp, type Mcp } from './open.ts'
