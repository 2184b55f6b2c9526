export { openDatabase, type Database, type DatabaseOptions } from './open.ts'
export { asStoreFailure } from './store-failure.ts'
export type { Tables } from './tables.ts'
