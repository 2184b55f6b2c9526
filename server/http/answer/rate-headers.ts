import type { FastifyReply } from 'fastify'
import type { Standing } from '../../access/index.ts'

/** The standing of a key in the two ways that clients read it. What is not limited says nothing. */
export function setRateHeaders(reply: FastifyReply, standings: Standing[]): void {
  const tightest = standings.reduce<Standing | undefined>(
    (least, standing) => (least === undefined || standing.remaining < least.remaining ? standing : least),
    undefined,
  )
  if (tightest === undefined) return
  const policies = standings.map(({ policy }) => `"${policy.name}";q=${policy.quota};w=${policy.windowSeconds}`)
  const states = standings.map(
    ({ policy, remaining, resetSeconds }) => `"${policy.name}";r=${remaining};t=${resetSeconds}`,
  )
  void reply.headers({
    'ratelimit-policy': policies.join(', '),
    ratelimit: states.join(', '),
    'x-ratelimit-limit': tightest.policy.quota,
    'x-ratelimit-remaining': tightest.remaining,
    'x-ratelimit-reset': tightest.resetSeconds,
  })
}
