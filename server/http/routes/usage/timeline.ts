import { queryFigures, queryFiguresQuery, timeline, timelineQuery } from '../../../../api/usage.ts'
import type { App } from '../../../app.ts'
import { heldBetween } from '../../../data/index.ts'
import * as queries from '../../../queries/index.ts'
import * as usage from '../../../usage/index.ts'
import type { Http } from '../../request/http.ts'
import { one, operations } from '../operations.ts'

const maxMarks = 200
const dayMs = 86_400_000

/** The events beside the calls, and the figures of every query at once. */
export function serveTimeline(http: Http, app: App): void {
  const { get } = operations(http, app, 'usage')
  get(
    '/v1/projects/:project_id/timeline',
    {
      summary: 'What happened in a span of time: releases, alerts, data that was held back; newest first',
      query: timelineQuery,
      answer: one(timeline),
    },
    async (app, caller, { projectId, environment, ...input }) => {
      const to = input.to ?? new Date(app.now())
      const from = input.from ?? new Date(to.getTime() - dayMs)
      const asked = { projectId, environment, from, to, limit: maxMarks + 1 }
      // Asked first of who says whether the caller may look at all.
      const alerts = await usage.alertMarks(app, caller, asked)
      const released = await queries.listReleases(app, caller, asked)
      const held = await heldBetween(app, projectId, asked)
      const marks = [
        ...alerts,
        ...released.items.map((each) => ({
          at: each.createdAt,
          kind: 'release' as const,
          id: each.id,
          title: each.message ?? each.queryNames.join(', '),
          environment: each.environment,
        })),
        ...held.map(({ at, datasourceId: id, tableName: title }) => {
          return { at, kind: 'data_held' as const, id, title, environment: null }
        }),
      ].toSorted((left, right) => right.at.getTime() - left.at.getTime())
      return {
        data: marks.slice(0, maxMarks),
        truncated: marks.length > maxMarks,
      }
    },
  )

  get(
    '/v1/projects/:project_id/metrics/queries',
    {
      summary: 'The figures of every query at once, and of the same time before',
      query: queryFiguresQuery,
      answer: one(queryFigures),
    },
    usage.reportQueries,
  )
}
