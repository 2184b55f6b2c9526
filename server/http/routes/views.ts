import { z } from 'zod'
import { changeView, newView, savedView, viewsQuery } from '../../../api/usage.ts'
import type { App } from '../../app.ts'
import * as usage from '../../usage/index.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'

const tags = ['usage']
const ofProject = z.object({ project_id: z.string() })
const ofView = ofProject.extend({ view_id: z.string() })
const path = '/v1/projects/:project_id/views'

/** What is looked at on pages of the app, under names. */
export function serveViews(http: Http, app: App): void {
  http.get(
    path,
    {
      schema: {
        tags,
        summary: "Saved views of pages: the project's and one's own",
        params: ofProject,
        querystring: viewsQuery,
        response: { 200: z.object({ data: z.array(savedView), next_cursor: z.null() }), ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, page: request.query.page }
      const views = await usage.listViews(app, callerOf(request), input)
      return { data: views.map(wireView), next_cursor: null }
    },
  )

  http.post(
    path,
    {
      schema: {
        tags,
        summary: 'Save what a page shows under a name',
        description: "One's own for everyone who may look at the project; shared ones for its editors.",
        params: ofProject,
        body: newView,
        response: { 201: savedView, ...refusals },
      },
    },
    async (request, reply) => {
      const input = { projectId: request.params.project_id, ...request.body }
      return reply.code(201).send(wireView(await usage.createView(app, callerOf(request), input)))
    },
  )

  http.patch(
    `${path}/:view_id`,
    {
      schema: {
        tags,
        summary: 'Rename a saved view, or save something else under its name',
        params: ofView,
        body: changeView,
        response: { 200: savedView, ...refusals },
      },
    },
    async (request) =>
      wireView(await usage.changeView(app, callerOf(request), { ...placeOf(request.params), ...request.body })),
  )

  http.delete(
    `${path}/:view_id`,
    { schema: { tags, summary: 'Delete a saved view', params: ofView, response: { 204: noContent, ...refusals } } },
    async (request, reply) => {
      await usage.deleteView(app, callerOf(request), placeOf(request.params))
      return reply.code(204).send()
    },
  )
}

function placeOf(params: z.output<typeof ofView>): { projectId: string; viewId: string } {
  return { projectId: params.project_id, viewId: params.view_id }
}

function wireView(view: usage.SavedView): z.output<typeof savedView> {
  return toWire(savedView, { ...view, page: view.page as z.output<typeof savedView>['page'] })
}
