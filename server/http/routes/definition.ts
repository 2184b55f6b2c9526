import { z } from 'zod'
import { definition, definitionPlan, putDefinition, readDefinition } from '../../../api/definition.ts'
import type { App } from '../../app.ts'
import * as definitions from '../../definition/index.ts'
import { refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'

const tags = ['releases']
const ofProject = z.object({ project_id: z.string() })
const path = '/v1/projects/:project_id/definition'

export function serveDefinition(http: Http, app: App): void {
  http.get(
    path,
    {
      schema: {
        tags,
        summary: 'The project as one document, without its secrets',
        params: ofProject,
        response: { 200: readDefinition, ...refusals },
      },
    },
    async (request) => definitions.findDefinition(app, callerOf(request), request.params.project_id),
  )

  http.put(
    path,
    {
      // A project of many queries is one body.
      bodyLimit: app.config.limits.definitionBytes,
      schema: {
        tags,
        summary: 'Make the project what a document says, or see what that would change',
        description:
          'All of it or nothing. Queries become drafts; what answers changes by a release. Put back as it was read, it changes nothing.',
        params: ofProject,
        querystring: putDefinition,
        body: definition,
        response: { 200: definitionPlan, ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, definition: request.body, ...request.query }
      return toWire(definitionPlan, await definitions.putDefinition(app, callerOf(request), input))
    },
  )
}
