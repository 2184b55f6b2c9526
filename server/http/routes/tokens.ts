import { z } from 'zod'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import { createdManagementToken, managementToken, newManagementToken } from '../../../api/people.ts'
import * as access from '../../access/index.ts'
import type { App } from '../../app.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'

const tags = ['access']

export function serveManagementTokens(http: Http, app: App): void {
  http.post(
    '/v1/management-tokens',
    {
      schema: {
        tags,
        summary: 'Create a management token',
        description: 'It does what its role allows, and never more than its maker may at that moment.',
        body: newManagementToken,
        response: { 201: createdManagementToken, ...refusals },
      },
    },
    async (request, reply) => {
      const { project_id: projectId, expires_at: expiresAt, ...rest } = request.body
      const { secret, ...made } = await access.createManagementToken(app, callerOf(request), {
        ...rest,
        projectId,
        ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }),
      })
      return reply.code(201).send({ ...wireToken(made), secret })
    },
  )

  http.get(
    '/v1/management-tokens',
    {
      schema: {
        tags,
        summary: "One's own management tokens; all of them for administrators",
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(managementToken), ...refusals },
      },
    },
    async (request) => {
      const page = await access.listManagementTokens(app, callerOf(request), request.query)
      return { data: page.items.map(wireToken), next_cursor: page.nextCursor }
    },
  )

  http.delete(
    '/v1/management-tokens/:token_id',
    {
      schema: {
        tags,
        summary: 'Revoke a management token',
        params: z.object({ token_id: z.string() }),
        response: { 204: noContent, ...refusals },
      },
    },
    async (request, reply) => {
      await access.revokeManagementToken(app, callerOf(request), request.params.token_id)
      return reply.code(204).send()
    },
  )
}

function wireToken(token: access.ManagementToken): z.output<typeof managementToken> {
  return toWire(managementToken, token)
}
