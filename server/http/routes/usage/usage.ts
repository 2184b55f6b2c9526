import {
  keyUsageQuery,
  metrics,
  metricsQuery,
  requestDetail,
  requestEntry,
  requestsQuery,
  requestsTailQuery,
} from '../../../../api/usage.ts'
import { toWire } from '../../../../api/wire-codec.ts'
import type { App } from '../../../app.ts'
import * as questions from '../../../questions/index.ts'
import * as rollout from '../../../rollout/index.ts'
import * as usage from '../../../usage/index.ts'
import { requireStill } from '../../request/caller.ts'
import type { EventStreams } from '../../answer/event-streams.ts'
import type { Http } from '../../request/http.ts'
import { eventStream, one, operations, page } from '../operations.ts'

export function serveUsage(http: Http, app: App): void {
  const { get } = operations(http, app, 'usage')
  get(
    '/v1/projects/:project_id/metrics',
    {
      summary: 'Usage over time: calls, errors, times, popular queries, questions',
      description: 'Percentiles are within 1 %. Questions are listed for the days that requests are kept.',
      query: metricsQuery,
      answer: one(metrics),
    },
    usage.reportUsage,
  )
  get(
    '/v1/api-keys/:key_id/usage',
    {
      summary: 'Usage of an API key in all projects that it reaches',
      query: keyUsageQuery,
      answer: one(metrics),
    },
    usage.reportKeyUsage,
  )
  get(
    '/v1/projects/:project_id/requests',
    {
      summary: 'The calls of query endpoints and previews, newest first',
      query: requestsQuery,
      answer: page(requestEntry),
    },
    usage.listRequests,
  )
}

/** One call with all that is known of it: the log of calls, and what the log of questions has beside it. */
export function serveRequest(http: Http, app: App): void {
  operations(http, app, 'usage').get(
    '/v1/projects/:project_id/requests/:request_id',
    {
      summary: 'One call, by the request id of its answer',
      answer: one(requestDetail),
    },
    async (app, caller, input) => {
      const found = await usage.findRequest(app, caller, input)
      const asked = found.entry === 'direct' ? null : await questions.findAsked(app, caller, input)
      return { ...found, ...(await rollout.findCallValues(app, caller, input)), asked }
    },
  )
}

export function serveRequestEvents(http: Http, app: App, streams: EventStreams): void {
  operations(http, app, 'usage').get(
    '/v1/projects/:project_id/requests/events',
    {
      summary: 'Every call as it is recorded',
      description:
        'Server-sent events: `event: request` with the call as data, a second or two after it; `event: gap` where more than 200 came within a second or so and some are left out (they are in the log); `: ping` every 15 s. The stream ends now and then: connect again.',
      query: requestsTailQuery,
      answer: eventStream,
    },
    (app, caller, input, { request, reply }) => {
      return streams.answer(reply, {
        caller,
        subscribe: ({ send, end }) =>
          usage.tailRequests(app, caller, {
            ...input,
            onRequest: (each) => send('request', toWire(requestEntry, each)),
            onGap: () => send('gap', {}),
            onEnd: end,
          }),
        stillMay: () => requireStill(app, request, input.projectId),
      })
    },
  )
}
