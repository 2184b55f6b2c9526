export { openMcp, type Mcp } from './open-mcp.ts'
