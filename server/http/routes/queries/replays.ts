import type { z } from 'zod'
import {
  newReplay,
  replay,
  replayCall,
  replayCallEntry,
  replayCallsFilter,
  replaySettings,
} from '../../../../api/replays.ts'
import type { App } from '../../../app.ts'
import * as rollout from '../../../rollout/index.ts'
import type { Http } from '../../request/http.ts'
import { toWire } from '../../../../api/wire-codec.ts'
import { one, operations, page, pageOnly } from '../operations.ts'

const path = '/v1/projects/:project_id/replays'
const settings = '/v1/projects/:project_id/replay-settings'

function serveSettings(http: Http, app: App): void {
  const { get, put } = operations(http, app, 'releases')
  get(
    settings,
    { summary: 'What a project records of its calls', answer: one(replaySettings) },
    (app, caller, { projectId }) => rollout.findReplaySettings(app, caller, projectId),
  )
  put(
    settings,
    {
      summary: 'Choose what a project records of its calls',
      description: 'Calls that are recorded can be run again before a release, on what is new beside what is there.',
      body: replaySettings,
      answer: one(replaySettings),
    },
    rollout.changeReplaySettings,
  )
}

export function serveReplays(http: Http, app: App): void {
  const { get, post } = operations(http, app, 'releases')
  serveSettings(http, app)
  post(
    path,
    {
      summary: 'Run recorded calls on drafts or versions beside what answers',
      description:
        'Read-only, behind all callers, as a job. Answers with what there is when it is done, or after a while: `status` says which.',
      body: newReplay,
      answer: one(replay, wireReplay),
    },
    rollout.startReplay,
  )
  get(
    path,
    {
      summary: 'Replays of a project, newest first',
      query: pageOnly,
      answer: page(replay, wireReplay),
    },
    rollout.listReplays,
  )
  get(`${path}/:replay_id`, { summary: 'One replay', answer: one(replay, wireReplay) }, rollout.findReplay)
  get(
    `${path}/:replay_id/calls`,
    {
      summary: 'The calls of a replay that were not equal',
      query: replayCallsFilter,
      answer: page(replayCallEntry),
    },
    rollout.listReplayCalls,
  )
  get(
    `${path}/:replay_id/calls/:call_id`,
    {
      summary: 'One call of a replay, with its values and rows that differ',
      answer: one(replayCall, wireCall),
    },
    rollout.findReplayCall,
  )
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
