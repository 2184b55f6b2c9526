import { z } from 'zod'
import { numberedPageQuery, pageQuery, slug } from '../../../../api/envelope.ts'
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
} from '../../../../api/queries.ts'
import { toWire } from '../../../../api/wire-codec.ts'
import type { App } from '../../../app.ts'
import * as queries from '../../../queries/index.ts'
import type { Http } from '../../request/http.ts'
import { asItIs, one, operations, page, pageOnly } from '../operations.ts'
import { named, wireContent } from './queries.ts'

const path = '/v1/projects/:project_id/queries/:query_name'
const report = one(deployment)

export function serveDeploying(http: Http, app: App): void {
  const { post } = operations(http, app, 'queries')
  post(
    `${path}/deploy`,
    {
      summary: 'Make the draft answer in an environment, as a version that never changes',
      body: deployQuery,
      answer: report,
    },
    (app, caller, input) => queries.deployQuery(app, caller, named(input)),
  )
  post(
    `${path}/promote`,
    {
      summary: 'Make the version of one environment answer in another',
      body: promoteQuery,
      answer: report,
    },
    (app, caller, input) => queries.promoteQuery(app, caller, named(input)),
  )
  post(
    `${path}/rollback`,
    { summary: 'Go back to a version', body: rollbackQuery, answer: report },
    (app, caller, input) => queries.rollbackQuery(app, caller, named(input)),
  )
  post(
    `${path}/undeploy`,
    { summary: 'Stop answering in an environment', body: undeployQuery, answer: report },
    (app, caller, input) => queries.undeployQuery(app, caller, named(input)),
  )
}

export function serveVersions(http: Http, app: App): void {
  const { get } = operations(http, app, 'queries')
  get(
    `${path}/versions`,
    {
      summary: 'The versions of a query, newest first',
      query: z.strictObject(numberedPageQuery),
      answer: page(versionEntry, wireEntry),
    },
    (app, caller, input) => queries.listVersions(app, caller, named(input)),
  )
  get(
    `${path}/versions/:version`,
    {
      summary: 'One version',
      params: z.object({ version: z.coerce.number().int().min(1).max(2_147_483_647) }),
      answer: one(version, wireVersion),
    },
    (app, caller, { version: number, ...input }) => queries.findVersion(app, caller, { ...named(input), number }),
  )
  get(
    `${path}/diff`,
    {
      summary: 'What differs between a version and another, or the draft',
      query: diffQuery,
      answer: asItIs(versionsDiff),
    },
    async (app, caller, input) => {
      const { from, to } = input
      return { from, to, ...(await queries.diffVersions(app, caller, named(input))) }
    },
  )
  get(
    `${path}/history`,
    {
      summary: 'Who deployed, promoted, rolled back and undeployed what, and when; newest first',
      query: pageOnly,
      answer: page(historyEntry),
    },
    (app, caller, input) => queries.listHistory(app, caller, named(input)),
  )
  get(
    '/v1/projects/:project_id/deployments',
    {
      summary: 'What is deployed in a project',
      query: z.strictObject({ environment: slug.optional(), ...pageQuery }),
      answer: page(liveDeployment),
    },
    queries.listDeployments,
  )
}

function wireEntry({ number, ...entry }: queries.VersionEntry) {
  return toWire(versionEntry, { ...entry, version: number })
}

function wireVersion(found: Awaited<ReturnType<typeof queries.findVersion>>): z.output<typeof version> {
  const { dialect, columns, tables } = found
  return { ...wireEntry(found), ...wireContent(found), dialect, columns, tables }
}
