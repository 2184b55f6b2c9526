import { z } from 'zod'
import { ownKey } from '../../../../api/keys.ts'
import { resolveScope } from '../../../access/index.ts'
import { refusals } from '../../answer/answers.ts'
import type { Http } from '../../request/http.ts'
import { addressOf, keyCallerOf } from '../../request/query-call.ts'
import { setRateHeaders } from '../../answer/rate-headers.ts'
import { wirePermissions } from './key-wire.ts'

/** The first call a client makes: is the key good, what does it reach, and where would a call go. */
export function serveOwnKey(http: Http): void {
  http.get(
    '/v1/key',
    {
      config: { door: 'query' },
      schema: {
        tags: ['calls'],
        summary: "What the caller's own API key is and reaches",
        description:
          'Counts as a call. X-Sluice-Project and X-Sluice-Environment, or the same in the URL, are resolved as for any call.',
        security: [{ api_key: [] }],
        querystring: z.object({ project_id: z.string().optional(), environment: z.string().optional() }),
        response: { 200: ownKey, ...refusals },
      },
    },
    async (request, reply) => {
      const { key, standings } = keyCallerOf(request)
      setRateHeaders(reply, standings)
      const { projectId, environment } = resolveScope(key, addressOf(request))
      return {
        id: key.id,
        name: key.name,
        plan: key.plan,
        permissions: wirePermissions(key.permissions),
        fixed_parameters: Object.keys(key.fixedParameters),
        expires_at: Number.isFinite(key.expiresAtMs) ? new Date(key.expiresAtMs).toISOString() : null,
        limits: key.policies.map((policy) => ({
          name: policy.name,
          quota: policy.quota,
          window_seconds: policy.windowSeconds,
          burst: policy.kind === 'rate' ? policy.burst : policy.quota,
        })),
        target: { project_id: projectId ?? null, environment },
      }
    },
  )
}
