export { openEncoder, type Encoder } from './encoder.ts'
export { buildIndex, type ProjectIndex, type VectorCache } from './index-project.ts'
export type { ListedValue, RoutableProject, RoutableQuery, SlotProperty } from './project.ts'
export { route, type Routing, type RouteOptions } from './route.ts'
