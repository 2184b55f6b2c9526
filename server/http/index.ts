export type { Http } from './http.ts'
export { buildHttp } from './server.ts'
