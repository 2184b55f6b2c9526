export { openMcp, type Mcp } from './open-mcp.ts'
export { serveBuild } from './build/open-build.ts'
