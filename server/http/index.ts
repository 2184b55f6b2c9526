export type { Http } from './request/http.ts'
export { buildHttp } from './server.ts'
