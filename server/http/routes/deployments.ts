import { z } from 'zod'
import { pageOf, pageQuery, slug } from '../../../api/envelope.ts'
import {
  deployment,
  deployQuery,
  diffQuery,
  historyEntry,
  liveDeployment,
  promoteQuery,
  rollbackQuery,
  undeployQuery,
  version,
  versionEntry,
  versionsDiff,
} from '../../../api/queries.ts'
import type { App } from '../../app.ts'
import * as queries from '../../queries/index.ts'
import { refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { named, ofQuery, wireContent } from './queries.ts'
import { toWire } from '../../../api/wire-codec.ts'

const tags = ['queries']
const path = '/v1/projects/:project_id/queries/:query_name'
const done = { 200: deployment, ...refusals }

export function serveDeploying(http: Http, app: App): void {
  http.post(
    `${path}/deploy`,
    {
      schema: {
        tags,
        summary: 'Make the draft answer in an environment, as a version that never changes',
        params: ofQuery,
        body: deployQuery,
        response: done,
      },
    },
    async (request) =>
      wireReport(await queries.deployQuery(app, callerOf(request), { ...named(request.params), ...request.body })),
  )

  http.post(
    `${path}/promote`,
    {
      schema: {
        tags,
        summary: 'Make the version of one environment answer in another',
        params: ofQuery,
        body: promoteQuery,
        response: done,
      },
    },
    async (request) =>
      wireReport(await queries.promoteQuery(app, callerOf(request), { ...named(request.params), ...request.body })),
  )

  http.post(
    `${path}/rollback`,
    {
      schema: { tags, summary: 'Go back to a version', params: ofQuery, body: rollbackQuery, response: done },
    },
    async (request) =>
      wireReport(await queries.rollbackQuery(app, callerOf(request), { ...named(request.params), ...request.body })),
  )

  http.post(
    `${path}/undeploy`,
    {
      schema: {
        tags,
        summary: 'Stop answering in an environment',
        params: ofQuery,
        body: undeployQuery,
        response: done,
      },
    },
    async (request) =>
      wireReport(await queries.undeployQuery(app, callerOf(request), { ...named(request.params), ...request.body })),
  )
}

// Over 70 lines: a list of routes.
export function serveVersions(http: Http, app: App): void {
  http.get(
    `${path}/versions`,
    {
      schema: {
        tags,
        summary: 'The versions of a query, newest first',
        params: ofQuery,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(versionEntry), ...refusals },
      },
    },
    async (request) => {
      const input = { ...named(request.params), ...request.query }
      const page = await queries.listVersions(app, callerOf(request), input)
      return { data: page.items.map(wireEntry), next_cursor: page.nextCursor }
    },
  )

  http.get(
    `${path}/versions/:version`,
    {
      schema: {
        tags,
        summary: 'One version',
        params: ofQuery.extend({ version: z.coerce.number().int().min(1).max(2_147_483_647) }),
        response: { 200: version, ...refusals },
      },
    },
    async (request) => {
      const input = { ...named(request.params), number: request.params.version }
      const found = await queries.findVersion(app, callerOf(request), input)
      const { dialect, columns, tables } = found
      return { ...wireEntry(found), ...wireContent(found), dialect, columns, tables }
    },
  )

  http.get(
    `${path}/diff`,
    {
      schema: {
        tags,
        summary: 'What differs between a version and another, or the draft',
        params: ofQuery,
        querystring: diffQuery,
        response: { 200: versionsDiff, ...refusals },
      },
    },
    async (request) => {
      const diff = await queries.diffVersions(app, callerOf(request), { ...named(request.params), ...request.query })
      return { ...request.query, diff }
    },
  )

  http.get(
    `${path}/history`,
    {
      schema: {
        tags,
        summary: 'Who deployed, promoted, rolled back and undeployed what, and when; newest first',
        params: ofQuery,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(historyEntry), ...refusals },
      },
    },
    async (request) => {
      const input = { ...named(request.params), ...request.query }
      const page = await queries.listHistory(app, callerOf(request), input)
      return { data: page.items.map((entry) => toWire(historyEntry, entry)), next_cursor: page.nextCursor }
    },
  )

  http.get(
    '/v1/projects/:project_id/deployments',
    {
      schema: {
        tags,
        summary: 'What is deployed in a project',
        params: z.object({ project_id: z.string() }),
        querystring: z.strictObject({ environment: slug.optional(), ...pageQuery }),
        response: { 200: pageOf(liveDeployment), ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.query }
      const page = await queries.listDeployments(app, callerOf(request), input)
      return { data: page.items.map((entry) => toWire(liveDeployment, entry)), next_cursor: page.nextCursor }
    },
  )
}

function wireEntry({ number, createdAt, createdBy, environments }: queries.VersionEntry) {
  return { version: number, created_at: createdAt.toISOString(), created_by: createdBy, environments }
}

function wireReport(report: queries.DeployReport): z.output<typeof deployment> {
  const { previousVersion, callers, routing, ...rest } = report
  return {
    ...rest,
    previous_version: previousVersion,
    callers: callers.map(({ keyId, name, lastCalledAt }) => {
      return { key_id: keyId, name, last_called_at: lastCalledAt.toISOString() }
    }),
    routing: queries.wireRegressions(routing),
  }
}
