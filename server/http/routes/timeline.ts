import { z } from 'zod'
import { queryFigures, queryFiguresQuery, timeline, timelineQuery } from '../../../api/usage.ts'
import type { App } from '../../app.ts'
import { heldBetween } from '../../data/index.ts'
import * as queries from '../../queries/index.ts'
import * as usage from '../../usage/index.ts'
import { refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { wireFigures } from './usage-wire.ts'

const tags = ['usage']
const ofProject = z.object({ project_id: z.string() })
const maxMarks = 200
const dayMs = 86_400_000

/** What happened beside the calls, and the figures of every query at once. */
export function serveTimeline(http: Http, app: App): void {
  http.get(
    '/v1/projects/:project_id/timeline',
    {
      schema: {
        tags,
        summary: 'What happened in a span of time: releases, alerts, data that was held back; newest first',
        params: ofProject,
        querystring: timelineQuery,
        response: { 200: timeline, ...refusals },
      },
    },
    async (request) => {
      const { project_id: projectId } = request.params
      const { environment } = request.query
      const to = request.query.to ?? new Date(app.now())
      const from = request.query.from ?? new Date(to.getTime() - dayMs)
      const asked = { projectId, environment, from, to, limit: maxMarks + 1 }
      // Asked first of who says whether the caller may look at all.
      const alerts = await usage.alertMarks(app, callerOf(request), asked)
      const released = await queries.listReleases(app, callerOf(request), asked)
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
        data: marks.slice(0, maxMarks).map((mark) => ({ ...mark, at: mark.at.toISOString() })),
        truncated: marks.length > maxMarks,
      }
    },
  )

  http.get(
    '/v1/projects/:project_id/metrics/queries',
    {
      schema: {
        tags,
        summary: 'The figures of every query at once, and of the same time before',
        params: ofProject,
        querystring: queryFiguresQuery,
        response: { 200: queryFigures, ...refusals },
      },
    },
    async (request) => {
      const { time_zone: timeZone, ...asked } = request.query
      const input = { projectId: request.params.project_id, timeZone, ...asked }
      const { range, beforeFrom, queries: found } = await usage.reportQueries(app, callerOf(request), input)
      return {
        from: range.from.toISOString(),
        to: range.to.toISOString(),
        before_from: beforeFrom.toISOString(),
        data: found.map(({ query, before, days, ...now }) => {
          return { query, ...wireFigures(now), before: wireFigures(before), days }
        }),
      }
    },
  )
}
