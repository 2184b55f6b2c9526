import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../app.ts'
import { tellRefusal, type Run } from '../../queries/index.ts'
import { asFailure } from './errors.ts'
import { addressOf } from '../request/query-call.ts'

/**
 * The `onError` hook of a query endpoint. A call that is refused before its verb has it, over a limit or for a malformed
 * body, is a call all the same; what a verb has told already is not told again.
 */
export function tellEarlyRefusals(app: Pick<App, 'observe'>, entry: Run['entry']) {
  return async (request: FastifyRequest, _reply: FastifyReply, error: FastifyError): Promise<void> => {
    // A request without a known key belongs to no caller.
    if (request.keyCaller === null) return
    const { query_name: name = null } = request.params as { query_name?: string }
    tellRefusal(app, request.keyCaller, { entry, name, ...addressIfAny(request), error: asFailure(error, request) })
  }
}

function addressIfAny(request: FastifyRequest): Partial<ReturnType<typeof addressOf>> {
  try {
    return addressOf(request)
  } catch {
    return {}
  }
}
