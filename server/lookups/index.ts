export type { LookedUp } from './lookup-answer.ts'
export { type LookupStatement, type Lookups, type MissingLookups, openLookups } from './lookups.ts'
