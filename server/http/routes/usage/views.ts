import { changeView, newView, savedView, viewsQuery } from '../../../../api/usage.ts'
import type { App } from '../../../app.ts'
import * as usage from '../../../usage/index.ts'
import type { Http } from '../../request/http.ts'
import { shortList, made, nothing, one, operations } from '../operations.ts'

const path = '/v1/projects/:project_id/views'

/** Saved filters of the app's pages, under names. */
export function serveViews(http: Http, app: App): void {
  const { get, post, patch, del } = operations(http, app, 'usage')
  get(
    path,
    {
      summary: "Saved views of pages: the project's and one's own",
      query: viewsQuery,
      answer: shortList(savedView),
    },
    usage.listViews,
  )
  post(
    path,
    {
      summary: 'Save what a page shows under a name',
      description: "One's own for everyone who may look at the project; shared ones for its editors.",
      body: newView,
      answer: made(savedView),
    },
    usage.createView,
  )
  patch(
    `${path}/:view_id`,
    {
      summary: 'Rename a saved view, or save something else under its name',
      body: changeView,
      answer: one(savedView),
    },
    usage.changeView,
  )
  del(`${path}/:view_id`, { summary: 'Delete a saved view', answer: nothing }, usage.deleteView)
}
