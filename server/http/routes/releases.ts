import { z } from 'zod'
import { pageOf } from '../../../api/envelope.ts'
import {
  continueRelease,
  newRelease,
  promoteEnvironment,
  release,
  releaseEntry,
  releaseFilter,
  rollBackRules,
  rollbackRelease,
} from '../../../api/releases.ts'
import type { App } from '../../app.ts'
import * as queries from '../../queries/index.ts'
import { refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { fromWire, toWire } from '../../../api/wire-codec.ts'

const tags = ['releases']
const ofProject = z.object({ project_id: z.string() })
const ofRelease = ofProject.extend({ release_id: z.string() })
const path = '/v1/projects/:project_id/releases'

// Over 70 lines: a list of routes.
export function serveReleases(http: Http, app: App): void {
  http.post(
    path,
    {
      schema: {
        tags,
        summary: 'Make any number of queries answer in an environment as one act, or none of them',
        params: ofProject,
        body: newRelease,
        response: { 200: release, ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.body, trial: trialOf(request.body, app) }
      return wireRelease(await queries.releaseQueries(app, callerOf(request), input))
    },
  )

  http.get(
    path,
    {
      schema: {
        tags,
        summary: 'What was released, by whom and why; newest first',
        params: ofProject,
        querystring: releaseFilter,
        response: { 200: pageOf(releaseEntry), ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.query }
      const page = await queries.listReleases(app, callerOf(request), input)
      return { data: page.items.map((item) => toWire(releaseEntry, item)), next_cursor: page.nextCursor }
    },
  )

  http.get(
    `${path}/:release_id`,
    {
      schema: { tags, summary: 'One release', params: ofRelease, response: { 200: release, ...refusals } },
    },
    async (request) => wireRelease(await queries.findRelease(app, callerOf(request), idsOf(request.params))),
  )

  http.post(
    `${path}/:release_id/rollback`,
    {
      schema: {
        tags,
        summary: 'Make answer again what did before a release, as a release',
        params: ofRelease,
        body: rollbackRelease,
        response: { 200: release, ...refusals },
      },
    },
    async (request) => {
      const input = { ...idsOf(request.params), ...request.body }
      return wireRelease(await queries.rollbackRelease(app, callerOf(request), input))
    },
  )

  http.post(
    `${path}/:release_id/continue`,
    {
      schema: {
        tags,
        summary: 'Give a release that is tried out a larger share of the calls, or all of them',
        params: ofRelease,
        body: continueRelease,
        response: { 200: release, ...refusals },
      },
    },
    async (request) => {
      const input = { ...idsOf(request.params), ...request.body }
      await queries.continueRelease(app, callerOf(request), input)
      return wireRelease(await queries.findRelease(app, callerOf(request), input))
    },
  )

  http.post(
    '/v1/projects/:project_id/promote',
    {
      schema: {
        tags,
        summary: 'Make one environment answer with every version of another, as a release',
        params: ofProject,
        body: promoteEnvironment,
        response: { 200: release, ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.body }
      return wireRelease(await queries.promoteEnvironment(app, callerOf(request), input))
    },
  )
}

function idsOf({ project_id: projectId, release_id: releaseId }: z.output<typeof ofRelease>) {
  return { projectId, releaseId }
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

function wireRelease(report: queries.ReleaseReport): z.output<typeof release> {
  return toWire(release, report)
}
