import { fixedLimits } from '../../../../api/limits.ts'
import { z } from 'zod'
import { definition, definitionPlan, planEntry, putDefinition, readDefinition } from '../../../../api/definition.ts'
import type { App } from '../../../app.ts'
import * as definitions from '../../../definition/index.ts'
import { mapInPieces } from '../../../flow/index.ts'
import { refusals } from '../../answer/answers.ts'
import { callerOf } from '../../request/caller.ts'
import { sendLarge } from '../../answer/large-answer.ts'
import { checkedItems } from '../../request/check-items.ts'
import type { Http } from '../../request/http.ts'
import { operations, sent } from '../operations.ts'
import { toWire } from '../../../../api/wire-codec.ts'

const tags = ['releases']
const ofProject = z.object({ project_id: z.string() })
const path = '/v1/projects/:project_id/definition'

const planRest = definitionPlan.omit({ plan: true })

export function serveDefinition(http: Http, app: App): void {
  operations(http, app, 'releases').get(
    path,
    { summary: 'The project as one document, without its secrets', answer: sent(readDefinition) },
    async (app, caller, { projectId }, { reply }) =>
      sendLarge(reply, readDefinition, await definitions.findDefinition(app, caller, projectId)),
  )
  http.put(
    path,
    {
      // A project of many queries is one body.
      bodyLimit: fixedLimits.definitionBytes.value,
      config: { body: 'defined' },
      ...checkedItems,
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
    async (request, reply) => {
      const input = { projectId: request.params.project_id, definition: request.body, ...request.query }
      const { plan, ...rest } = await definitions.putDefinition(app, callerOf(request), input)
      const entries = await mapInPieces(plan, (entry) => toWire(planEntry, entry))
      return sendLarge(reply, definitionPlan, { ...toWire(planRest, rest), plan: entries })
    },
  )
}
