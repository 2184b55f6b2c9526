import type { ServerContext } from '@modelcontextprotocol/server'

const everyMs = 1_000

/** Tells a client that asked for it how long its call has been running; the answer is how to stop. */
export function tellProgress({ context: { mcpReq } }: { context: ServerContext }): () => void {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => undefined
  let seconds = 0
  const report = (message: string): void => {
    const params = { progressToken, progress: seconds, message }
    // Nobody is left to hear it: the call itself is stopped by whoever noticed.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
  report('The call has begun.')
  const timer = setInterval(() => {
    seconds += 1
    report(`Running for ${seconds} s.`)
  }, everyMs)
  return () => clearInterval(timer)
}
