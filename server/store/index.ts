export { openDatabase, type Database } from './open.ts'
export { asStoreFailure } from './store-failure.ts'
export type { Tables } from './tables.ts'
