import type { FastifyRequest } from 'fastify'
import type { App } from '../app.ts'
import { sayRefused } from '../queries/index.ts'
import { asFailure } from './errors.ts'
import type { Http } from './http.ts'
import { addressOf } from './query-call.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on routes that call queries: each of their calls is recorded, refused or not. */
    entry?: 'direct' | 'question' | 'tool'
  }
  interface FastifyRequest {
    /** From here on whoever handles the call says how it went. */
    handedOn: boolean
  }
}

/** Calls that are refused before their handler runs, over a limit or a malformed body, are calls all the same. */
export function sayEarlyRefusals(http: Http, app: App): void {
  http.decorateRequest('handedOn', false)
  http.addHook('preHandler', async (request) => {
    request.handedOn = true
  })
  http.addHook('onError', async (request, _reply, error) => {
    const { entry } = request.routeOptions.config
    // Whoever is not known to have a key is nobody's caller.
    if (entry === undefined || request.keyCaller === null || request.handedOn) return
    const name = (request.params as { query_name?: string }).query_name
    sayRefused(app, request.keyCaller, { entry, name, ...addressIfAny(request), failure: asFailure(error, request) })
  })
}

function addressIfAny(request: FastifyRequest): Partial<ReturnType<typeof addressOf>> {
  try {
    return addressOf(request)
  } catch {
    return {}
  }
}
