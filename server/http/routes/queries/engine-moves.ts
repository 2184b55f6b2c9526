import { z } from 'zod'
import { engineMove, moveEngine, moveEngineFilter } from '../../../../api/engine-moves.ts'
import type { App } from '../../../app.ts'
import { moveProject } from '../../../engine-move/index.ts'
import { refusals } from '../../answer/answers.ts'
import { callerOf } from '../../request/caller.ts'
import { checkedItems } from '../../request/check-items.ts'
import { untilGone } from '../../answer/gone.ts'
import type { Http } from '../../request/http.ts'
import { toWire } from '../../../../api/wire-codec.ts'

export function serveEngineMoves(http: Http, app: App): void {
  http.post(
    '/v1/projects/:project_id/engine',
    {
      config: { body: 'defined' },
      ...checkedItems,
      schema: {
        tags: ['projects'],
        summary: 'Compare the queries of a project on another engine, and put it there',
        description:
          'Every text of the project is run on both engines over the same values. Nothing is switched while one differs, cannot run or has nothing to be compared on, unless it is rewritten, accepted or left out. What is switched is switched as one act.',
        params: z.object({ project_id: z.string() }),
        querystring: moveEngineFilter,
        body: moveEngine,
        response: { 200: engineMove, ...refusals },
      },
    },
    async (request, reply) => {
      const { engine, queries } = request.body
      const projectId = request.params.project_id
      const check = request.query.check === 'true'
      const input = { projectId, engine, queries, check, signal: untilGone(reply) }
      return toWire(engineMove, await moveProject(app, callerOf(request), input))
    },
  )
}
