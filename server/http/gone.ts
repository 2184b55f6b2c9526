import type { FastifyReply } from 'fastify'

/** Aborts when the client hangs up before its answer is complete: nobody waits for it any more. */
export function untilGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort(new Error('the client is gone'))
  })
  return controller.signal
}
