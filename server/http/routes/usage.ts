import { z } from 'zod'
import { pageOf } from '../../../api/envelope.ts'
import {
  keyUsageQuery,
  metrics,
  metricsQuery,
  requestDetail,
  requestEntry,
  requestsQuery,
  requestsTailQuery,
} from '../../../api/usage.ts'
import type { App } from '../../app.ts'
import * as questions from '../../questions/index.ts'
import * as rollout from '../../rollout/index.ts'
import * as usage from '../../usage/index.ts'
import { refusals } from '../answer/answers.ts'
import { callerOf, requireStill } from '../request/caller.ts'
import type { EventStreams } from '../answer/event-streams.ts'
import type { Http } from '../request/http.ts'
import { wireReport, wireRequest } from './usage-wire.ts'

const tags = ['usage']
const ofProject = z.object({ project_id: z.string() })

export function serveUsage(http: Http, app: App): void {
  http.get(
    '/v1/projects/:project_id/metrics',
    {
      schema: {
        tags,
        summary: 'Usage over time: calls, errors, times, popular queries, questions',
        description: 'Percentiles are within 1 %. Questions are listed for the days that requests are kept.',
        params: ofProject,
        querystring: metricsQuery,
        response: { 200: metrics, ...refusals },
      },
    },
    async (request) => {
      const { key_id: keyId, time_zone: timeZone, ...query } = request.query
      const input = { projectId: request.params.project_id, keyId, timeZone, ...query }
      return wireReport(await usage.reportUsage(app, callerOf(request), input))
    },
  )

  http.get(
    '/v1/api-keys/:key_id/usage',
    {
      schema: {
        tags,
        summary: 'Usage of an API key in all projects that it reaches',
        params: z.object({ key_id: z.string() }),
        querystring: keyUsageQuery,
        response: { 200: metrics, ...refusals },
      },
    },
    async (request) => {
      const { time_zone: timeZone, ...query } = request.query
      const input = { keyId: request.params.key_id, timeZone, ...query }
      return wireReport(await usage.reportKeyUsage(app, callerOf(request), input))
    },
  )

  http.get(
    '/v1/projects/:project_id/requests',
    {
      schema: {
        tags,
        summary: 'The calls of query endpoints and previews, newest first',
        params: ofProject,
        querystring: requestsQuery,
        response: { 200: pageOf(requestEntry), ...refusals },
      },
    },
    async (request) => {
      const { key_id: keyId, ...query } = request.query
      const input = { projectId: request.params.project_id, keyId, ...query }
      const page = await usage.listRequests(app, callerOf(request), input)
      return { data: page.items.map(wireRequest), next_cursor: page.nextCursor }
    },
  )
}

/** One call with all that is known of it: the log of calls, and what the log of questions has beside it. */
export function serveRequest(http: Http, app: App): void {
  http.get(
    '/v1/projects/:project_id/requests/:request_id',
    {
      schema: {
        tags,
        summary: 'One call, by the request id of its answer',
        params: z.object({ project_id: z.string(), request_id: z.string() }),
        response: { 200: requestDetail, ...refusals },
      },
    },
    async (request) => {
      const { project_id: projectId, request_id: requestId } = request.params
      const input = { projectId, requestId }
      const found = await usage.findRequest(app, callerOf(request), input)
      const asked = found.entry === 'direct' ? null : await questions.findAsked(app, callerOf(request), input)
      const values = await rollout.findCallValues(app, callerOf(request), input)
      return {
        ...wireRequest(found),
        key_name: found.keyName,
        ...values,
        asked: asked && {
          outcome: asked.outcome,
          query: asked.query,
          parameters: asked.parameters,
          confidence: asked.confidence,
        },
      }
    },
  )
}

export function serveRequestEvents(http: Http, app: App, streams: EventStreams): void {
  http.get(
    '/v1/projects/:project_id/requests/events',
    {
      schema: {
        tags,
        summary: 'Every call as it is recorded',
        description:
          'Server-sent events: `event: request` with the call as data, a second or two after it; `event: gap` where more than 200 came within a second or so and some are left out (they are in the log); `: ping` every 15 s. The stream ends now and then: connect again.',
        params: ofProject,
        querystring: requestsTailQuery,
        response: {
          200: { description: 'The stream.', content: { 'text/event-stream': { schema: z.string() } } },
          ...refusals,
        },
      },
    },
    async (request, reply) => {
      const { key_id: keyId, ...query } = request.query
      const input = { projectId: request.params.project_id, keyId, ...query }
      const caller = callerOf(request)
      return streams.answer(reply, {
        caller,
        subscribe: ({ send, end }) =>
          usage.tailRequests(app, caller, {
            ...input,
            onRequest: (each) => send('request', wireRequest(each)),
            onGap: () => send('gap', {}),
            onEnd: end,
          }),
        stillMay: () => requireStill(app, request, input.projectId),
      })
    },
  )
}
