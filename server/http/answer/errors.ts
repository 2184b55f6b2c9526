import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { failures, type FailureCode } from '../../../api/failures.ts'
import type { App } from '../../app.ts'
import { asDiskFailure } from '../../process/index.ts'
import { envelopeOf, Failure, listProblems, maxProblems, type FailureDetail } from '../../failure.ts'
import { asStoreFailure } from '../../store/index.ts'
import { isGone } from './gone.ts'
import { setRateHeaders } from './rate-headers.ts'

/** The refusals of Fastify itself, in our words. */
const fastifyFailures: Record<string, () => Failure> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new Failure('payload_too_large'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new Failure('unsupported_media_type', { message: 'Send JSON with Content-Type: application/json.' }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new Failure('invalid_request', { message: 'The body does not have the length that Content-Length says.' }),
  FST_ERR_BAD_URL: () => new Failure('not_found', { message: 'The path is malformed.' }),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    new Failure('not_found', { message: 'A part of the path is longer than any name or id here.' }),
}

/** Other refusals of the framework and its plugins keep their class: a caller's mistake is never our own failure. */
function frameworkFailure(error: FastifyError, code: 'invalid_query' | 'invalid_request'): Failure | undefined {
  const known = fastifyFailures[error.code]
  if (known !== undefined) return known()
  // Whatever was thrown comes here: it may have no code, or a number for one, as a DOMException has.
  const { code: name = '' } = error as { code?: unknown }
  const isTheirs = String(name).startsWith('FST_') || ('expose' in error && error.expose === true)
  if (!isTheirs || error.statusCode === undefined || error.statusCode < 400 || error.statusCode >= 500) return undefined
  const byStatus = Object.entries(failures).find(([, { status }]) => status === error.statusCode)?.[0]
  const found = error.statusCode === 400 ? code : ((byStatus ?? code) as FailureCode)
  return new Failure(found, { message: 'The request is not as this server takes it.', cause: error })
}

/** Answers every error with the one envelope. */
export function answerError(
  app: Pick<App, 'observe'>,
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  return sendFailure(callerFailure(app, error, request), request, reply)
}

/** The failure that a caller gets for an error. An unexpected one is logged whole and answered as `internal_error`. */
export function callerFailure(app: Pick<App, 'observe'>, error: FastifyError, request: FastifyRequest): Failure {
  const failure = asFailure(error, request)
  if (failure.code === 'internal_error') {
    app.observe({
      kind: 'request-failed',
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      error,
    })
  }
  return failure
}

/** How a failure is written, where another protocol has its own form around the envelope. */
type Write = (failure: Failure, requestId: string) => unknown

export function sendFailure(
  failure: Failure,
  request: FastifyRequest,
  reply: FastifyReply,
  write: Write = envelopeOf,
): FastifyReply {
  // Set here too: what Fastify refuses before routing has passed no hook.
  void reply.header('x-request-id', request.id)
  if (failure.code === 'authentication_failed' && !reply.hasHeader('www-authenticate')) {
    void reply.header('www-authenticate', 'Bearer realm="sluice"')
  }
  setRateHeaders(reply, request.keyCaller?.standings ?? [])
  if (failure.retryAfterSeconds !== undefined) void reply.header('retry-after', failure.retryAfterSeconds)
  return reply
    .code(failures[failure.code].status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(write(failure, request.id))
}

/** The failure that the caller of this route gets. */
export function asFailure(error: FastifyError, request: FastifyRequest): Failure {
  if (error instanceof Failure) return (error.code === 'internal_error' ? asDiskFailure(error) : undefined) ?? error
  // Before all else: a body that breaks off carries the code that a lost database connection has, too.
  if (isGone(error) || error === request.raw.errored) return new Failure('cancelled', { cause: error })
  const code = request.routeOptions.config.door === 'query' ? 'invalid_query' : 'invalid_request'
  if (hasZodFastifySchemaValidationErrors(error)) {
    const { details, more } = describeIssues(error.validation)
    return new Failure(code, {
      reason: 'invalid_field',
      message: `The ${error.validationContext ?? 'request'} is not as expected: ${listProblems(details, more)}.`,
      details,
      more,
    })
  }
  if (error.code === 'FST_ERR_CTP_INVALID_JSON_BODY' || error instanceof SyntaxError) {
    return new Failure(code, { reason: 'malformed_json', message: 'The body is not valid JSON.' })
  }
  const known = frameworkFailure(error, code) ?? asDiskFailure(error) ?? asStoreFailure(error)
  return known ?? new Failure('internal_error', { cause: error })
}

/** Validation issues in words that say what to do, the first ones; the rest is counted. */
function describeIssues(issues: readonly FastifySchemaValidationError[]): { details: FailureDetail[]; more: number } {
  const details: FailureDetail[] = []
  let more = 0
  for (const issue of issues) {
    const isUnknown = issue.keyword === 'unrecognized_keys'
    const keys = isUnknown ? asArray(issue.params['keys']) : [undefined]
    const shown = keys.slice(0, maxProblems - details.length)
    details.push(...shown.map((key) => describeIssue(issue, key)))
    more += keys.length - shown.length
  }
  return { details, more }
}

/** Unknown keys are refused by name, each on its own line. */
function describeIssue({ instancePath, keyword, params, message }: FastifySchemaValidationError, key: unknown) {
  const field = instancePath.split('/').filter(Boolean).join('.')
  if (keyword === 'unrecognized_keys') {
    return { field: field === '' ? String(key) : `${field}.${String(key)}`, message: 'is not a known field' }
  }
  return { field: field === '' ? 'body' : field, message: sentenceOf(keyword, params, message ?? 'is not valid') }
}

function sentenceOf(keyword: string, params: Record<string, unknown>, message: string): string {
  if (keyword === 'invalid_type') {
    const expected = params['expected'] === 'record' ? 'object' : String(params['expected'])
    return message.endsWith('received undefined') ? 'is required' : `must be ${withArticle(expected)}`
  }
  if (keyword === 'invalid_value') return `must be one of ${asArray(params['values']).map(String).join(', ')}`
  return message.charAt(0).toLowerCase() + message.slice(1)
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function withArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}
