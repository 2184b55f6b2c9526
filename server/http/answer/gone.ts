import type { FastifyReply } from 'fastify'

const gone = new DOMException('The client is gone.', 'AbortError')

/** Aborts when the client hangs up before its answer is complete: nobody waits for it any more. */
export function untilGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort(gone)
  })
  return controller.signal
}

/** Whether something ended only because its client hung up, which is no failure of anyone. */
export function isGone(error: unknown): boolean {
  return error === gone
}
