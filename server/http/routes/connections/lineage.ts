import { projectMap } from '../../../../api/lineage.ts'
import type { App } from '../../../app.ts'
import * as lineage from '../../../lineage/index.ts'
import type { Http } from '../../request/http.ts'
import { one, operations } from '../operations.ts'

export function serveLineage(http: Http, app: App): void {
  operations(http, app, 'data').get(
    '/v1/projects/:project_id/map',
    {
      summary: 'The whole project: sources, tables, queries, environments and callers, and how each does',
      answer: one(projectMap),
    },
    lineage.readProjectMap,
  )
}
