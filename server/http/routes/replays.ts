import { z } from 'zod'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import {
  newReplay,
  replay,
  replayCall,
  replayCallEntry,
  replayCallsFilter,
  replaySettings,
} from '../../../api/replays.ts'
import type { App } from '../../app.ts'
import * as rollout from '../../rollout/index.ts'
import { refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { fromWire, toWire } from '../../../api/wire-codec.ts'

const tags = ['releases']
const ofProject = z.object({ project_id: z.string() })
const ofReplay = z.object({ project_id: z.string(), replay_id: z.string() })
const path = '/v1/projects/:project_id/replays'

function serveSettings(http: Http, app: App): void {
  http.get(
    '/v1/projects/:project_id/replay-settings',
    {
      schema: {
        tags,
        summary: 'What a project records of its calls',
        params: ofProject,
        response: { 200: replaySettings, ...refusals },
      },
    },
    async (request) =>
      toWire(replaySettings, await rollout.findReplaySettings(app, callerOf(request), request.params.project_id)),
  )

  http.put(
    '/v1/projects/:project_id/replay-settings',
    {
      schema: {
        tags,
        summary: 'Choose what a project records of its calls',
        description: 'Calls that are recorded can be run again before a release, on what is new beside what is there.',
        params: ofProject,
        body: replaySettings,
        response: { 200: replaySettings, ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...fromWire(replaySettings, request.body) }
      return toWire(replaySettings, await rollout.changeReplaySettings(app, callerOf(request), input))
    },
  )
}

// Over 70 lines: a list of routes.
export function serveReplays(http: Http, app: App): void {
  serveSettings(http, app)
  http.post(
    path,
    {
      schema: {
        tags,
        summary: 'Run recorded calls on drafts or versions beside what answers',
        description:
          'Read-only, behind all callers, as a job. Answers with what there is when it is done, or after a while: `status` says which.',
        params: ofProject,
        body: newReplay,
        response: { 200: replay, ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.body }
      return wireReplay(await rollout.startReplay(app, callerOf(request), input))
    },
  )

  http.get(
    path,
    {
      schema: {
        tags,
        summary: 'Replays of a project, newest first',
        params: ofProject,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(replay), ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.query }
      const page = await rollout.listReplays(app, callerOf(request), input)
      return { data: page.items.map(wireReplay), next_cursor: page.nextCursor }
    },
  )

  http.get(
    `${path}/:replay_id`,
    { schema: { tags, summary: 'One replay', params: ofReplay, response: { 200: replay, ...refusals } } },
    async (request) => wireReplay(await rollout.findReplay(app, callerOf(request), named(request.params))),
  )

  http.get(
    `${path}/:replay_id/calls`,
    {
      schema: {
        tags,
        summary: 'The calls of a replay that were not equal',
        params: ofReplay,
        querystring: replayCallsFilter,
        response: { 200: pageOf(replayCallEntry), ...refusals },
      },
    },
    async (request) => {
      const input = { ...named(request.params), ...request.query }
      const page = await rollout.listReplayCalls(app, callerOf(request), input)
      return { data: page.items.map((entry) => toWire(replayCallEntry, entry)), next_cursor: page.nextCursor }
    },
  )

  http.get(
    `${path}/:replay_id/calls/:call_id`,
    {
      schema: {
        tags,
        summary: 'One call of a replay, with its values and rows that differ',
        params: ofReplay.extend({ call_id: z.string() }),
        response: { 200: replayCall, ...refusals },
      },
    },
    async (request) => {
      const input = { ...named(request.params), callId: request.params.call_id }
      return wireCall(await rollout.findReplayCall(app, callerOf(request), input))
    },
  )
}

function named({ project_id: projectId, replay_id: replayId }: z.output<typeof ofReplay>) {
  return { projectId, replayId }
}

function wireReplay(record: rollout.ReplayRecord): z.output<typeof replay> {
  return toWire(replay, rollout.reportOf(record))
}

function wireCall({ before, after, ...call }: rollout.ReplayCall): z.output<typeof replayCall> {
  return {
    ...toWire(replayCall.omit({ before: true, after: true }), call),
    before: wireRan(before),
    after: wireRan(after),
  }
}

/** Which of the two it is, the codec cannot tell. */
function wireRan(ran: rollout.ReplayCall['before']): z.output<typeof replayCall>['before'] {
  if (ran === null || 'error' in ran) return ran
  const { rowCount, bytes, elapsedMs, truncated } = ran
  return { row_count: rowCount, bytes, elapsed_ms: elapsedMs, truncated }
}
