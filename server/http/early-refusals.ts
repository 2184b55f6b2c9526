import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../app.ts'
import { tellRefusal, type Run } from '../queries/index.ts'
import { asFailure } from './errors.ts'
import { addressOf } from './query-call.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A verb has taken the call over. */
    isBegun: boolean
  }
}

export type EarlyRefusals = {
  /** From here on a verb tells how the call went, also when it refuses it. */
  begin(request: FastifyRequest): void
  /** The route's hook: a call that is refused earlier, over a limit or a malformed body, is a call all the same. */
  onError: (request: FastifyRequest, reply: FastifyReply, error: FastifyError) => Promise<void>
}

export function openEarlyRefusals(app: Pick<App, 'observe'>, entry: Run['entry']): EarlyRefusals {
  return {
    begin: (request) => {
      request.isBegun = true
    },
    onError: async (request, _reply, error) => {
      // Whoever is not known to have a key is nobody's caller.
      if (request.keyCaller === null || request.isBegun) return
      const { query_name: name = null } = request.params as { query_name?: string }
      const failure = asFailure(error, request)
      tellRefusal(app, request.keyCaller, { entry, name, ...addressIfAny(request), failure })
    },
  }
}

function addressIfAny(request: FastifyRequest): Partial<ReturnType<typeof addressOf>> {
  try {
    return addressOf(request)
  } catch {
    return {}
  }
}
