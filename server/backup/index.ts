export { makeBackup } from './make.ts'
export { restoreBackup } from './restore.ts'
