import { z } from 'zod'
import { projectMap } from '../../../api/lineage.ts'
import type { App } from '../../app.ts'
import * as lineage from '../../lineage/index.ts'
import { refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'

export function serveLineage(http: Http, app: App): void {
  http.get(
    '/v1/projects/:project_id/map',
    {
      schema: {
        tags: ['data'],
        summary: 'The whole project: sources, tables, queries, environments and callers, and how each does',
        params: z.object({ project_id: z.string() }),
        response: { 200: projectMap, ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id }
      return toWire(projectMap, await lineage.readProjectMap(app, callerOf(request), input))
    },
  )
}
