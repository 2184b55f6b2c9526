export { buildHttp, type Http } from './server.ts'
