import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { App } from '../../../app.ts'
import { jsonBody } from '../../../flow/index.ts'
import { describeProject } from '../../../queries/index.ts'
import { refusals } from '../../answer/answers.ts'
import { callerOf } from '../../request/caller.ts'
import { pageLink, type Http } from '../../request/http.ts'
import { setRateHeaders } from '../../answer/rate-headers.ts'

export const projectDocument = z
  .object({ openapi: z.literal('3.1.0'), info: z.looseObject({}), paths: z.looseObject({}) })
  .loose()
  .meta({ description: 'An OpenAPI 3.1 document: an operation by POST and one by GET for each deployed query.' })

/** Many queries make a large document. */
export async function sendDocument(reply: FastifyReply, described: object): Promise<FastifyReply> {
  void reply.type('application/json; charset=utf-8')
  return reply.send(await jsonBody(described))
}

/** The queries of a project for generators of clients. */
export function serveProjectDocument(http: Http, app: App): void {
  http.get(
    '/v1/projects/:project_id/openapi.json',
    {
      config: { door: 'either' },
      schema: {
        tags: ['queries'],
        summary: 'The deployed queries of an environment as an OpenAPI document',
        description:
          'For members of the project, and with an API key that reaches it: the key sees the queries it may call, without the slots that it fixes. Counts as a call of the key.',
        security: [{ api_key: [] }, { management_token: [] }, { session: [] }],
        params: z.object({ project_id: z.string() }),
        querystring: z.object({
          environment: z
            .string()
            .max(63)
            .optional()
            .meta({ description: "The key's only environment if left out, else production." }),
        }),
        response: { 200: projectDocument, ...refusals },
      },
    },
    async (request, reply) => {
      const caller = request.keyCaller ?? callerOf(request)
      if (request.keyCaller !== null) setRateHeaders(reply, request.keyCaller.standings)
      const described = await describeProject(app, caller, {
        projectId: request.params.project_id,
        environment: request.query.environment,
        serverUrl: pageLink(app, request, '/').replace(/\/$/, ''),
      })
      return sendDocument(reply, described)
    },
  )
}
