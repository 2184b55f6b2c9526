import { z } from 'zod'
import {
  continueRelease,
  newRelease,
  promoteEnvironment,
  release,
  releaseEntry,
  releaseFilter,
  rollBackRules,
  rollbackRelease,
} from '../../../../api/releases.ts'
import type { App } from '../../../app.ts'
import * as queries from '../../../queries/index.ts'
import { refusals } from '../../answer/answers.ts'
import { callerOf } from '../../request/caller.ts'
import { checkedItems } from '../../request/check-items.ts'
import type { Http } from '../../request/http.ts'
import { fromWire, toWire } from '../../../../api/wire-codec.ts'
import { one, operations, page } from '../operations.ts'

const ofProject = z.object({ project_id: z.string() })
const path = '/v1/projects/:project_id/releases'

export function serveReleases(http: Http, app: App): void {
  const { get, post } = operations(http, app, 'releases')
  serveNewRelease(http, app)
  get(
    path,
    {
      summary: 'What was released, by whom and why; newest first',
      query: releaseFilter,
      answer: page(releaseEntry),
    },
    queries.listReleases,
  )
  get(`${path}/:release_id`, { summary: 'One release', answer: one(release) }, queries.findRelease)
  post(
    `${path}/:release_id/rollback`,
    {
      summary: 'Make answer again what did before a release, as a release',
      body: rollbackRelease,
      answer: one(release),
    },
    queries.rollbackRelease,
  )
  post(
    `${path}/:release_id/continue`,
    {
      summary: 'Give a release that is tried out a larger share of the calls, or all of them',
      body: continueRelease,
      answer: one(release),
    },
    async (app, caller, input) => {
      await queries.continueRelease(app, caller, input)
      return queries.findRelease(app, caller, input)
    },
  )
  post(
    '/v1/projects/:project_id/promote',
    {
      summary: 'Make one environment answer with every version of another, as a release',
      body: promoteEnvironment,
      answer: one(release),
    },
    queries.promoteEnvironment,
  )
}

/** A release may name thousands of queries, which are checked one by one. */
function serveNewRelease(http: Http, app: App): void {
  http.post(
    path,
    {
      config: { body: 'defined' },
      ...checkedItems,
      schema: {
        tags: ['releases'],
        summary: 'Make any number of queries answer in an environment as one act, or none of them',
        params: ofProject,
        body: newRelease,
        response: { 200: release, ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.body, trial: trialOf(request.body, app) }
      return toWire(release, await queries.releaseQueries(app, callerOf(request), input))
    },
  )
}

/** How it is to be tried out; undefined where everyone gets it at once. */
function trialOf({ canary, shadow }: z.output<typeof newRelease>, { now }: App): queries.NewTrial | undefined {
  const at = new Date(now())
  if (shadow) return { kind: 'shadow', percent: 0, rules: { step: null, rollBackOn: null }, at }
  if (canary === undefined) return undefined
  const { percent, step = null, roll_back_on: on } = canary
  const rollBackOn = on === undefined ? null : fromWire(rollBackRules, on)
  return { kind: 'canary', percent, rules: { step, rollBackOn }, at }
}
