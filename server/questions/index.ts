export { openEncoder, type Encoder } from './encoder.ts'
export { buildIndex, type ProjectIndex } from './index-project.ts'
export type { RoutableProject, RoutableQuery, SlotProperty } from './project.ts'
