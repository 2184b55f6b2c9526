/** Calling someone else's API safely, and turning its answer into rows. */
export { buildRequest, executeConfiguration, type OutboundRequest } from './build-request.ts'
export { importCurl, type CurlImport } from './curl.ts'
export { fetchRows, type FetchedRows, type FetchLimits, type FetchOptions } from './fetch-rows.ts'
export { createTokenSource, type TokenSource } from './oauth.ts'
export { toFailure, type OutboundError } from './outbound/error.ts'
export { testConnection, type ProbeLimits, type ProbeOptions } from './probe.ts'
export { fileSink, memorySink, type Sink } from './outbound/receive.ts'
export { hidden, isSecretName, redact, redactUrl } from './secrets.ts'
export {
  openOutbound,
  type NotSent,
  type Outbound,
  type OutboundOptions,
  type SendOptions,
  type Sent,
} from './outbound/send.ts'
