import { z } from 'zod'
import { dataVersion } from '../../../api/data.ts'
import { changeTableSchema, tableSchema } from '../../../api/datasources.ts'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import type { App } from '../../app.ts'
import * as connections from '../../connections/index.ts'
import { listDataVersions } from '../../data/index.ts'
import { refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { fromWire, toWire } from '../../../api/wire-codec.ts'

const tags = ['connections']
const ofDatasource = z.object({ project_id: z.string(), datasource_id: z.string() })
const ofVersion = ofDatasource.extend({ version: z.coerce.number().int().min(1).max(2_147_483_647) })
const path = '/v1/projects/:project_id/datasources/:datasource_id'

/** What the columns of a table are to be. */
export function serveTableSchemas(http: Http, app: App): void {
  http.get(
    `${path}/schema`,
    {
      schema: {
        tags,
        summary: 'The columns of its table, and what its data must be',
        params: ofDatasource,
        response: { 200: tableSchema, ...refusals },
      },
    },
    async (request) => wireSchema(await connections.findSchema(app, callerOf(request), ids(request.params))),
  )

  http.patch(
    `${path}/schema`,
    {
      schema: {
        tags,
        summary: 'Set, rename, hide or describe columns; say what data must be',
        params: ofDatasource,
        body: changeTableSchema,
        response: { 200: tableSchema, ...refusals },
      },
    },
    async (request) => {
      const { checks, ...changes } = request.body
      const given = fromWire(changeTableSchema.omit({ checks: true }), changes)
      const input = { ...ids(request.params), ...given, ...(checks !== undefined && { checks }) }
      return wireSchema(await connections.changeSchema(app, callerOf(request), input))
    },
  )
}

/** The loads of a table, and which of them serves. */
export function serveDataVersions(http: Http, app: App): void {
  http.get(
    `${path}/versions`,
    {
      schema: {
        tags,
        summary: 'The versions of its data, newest first',
        params: ofDatasource,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(dataVersion), ...refusals },
      },
    },
    async (request) => {
      await connections.findDatasource(app, callerOf(request), ids(request.params))
      const page = await listDataVersions(app, callerOf(request), { ...ids(request.params), ...request.query })
      return { data: page.items.map((version) => toWire(dataVersion, version)), next_cursor: page.nextCursor }
    },
  )

  for (const [act, summary, served] of [
    ['activate', 'Serve this version from now on, forward or back, whatever held it', false],
    ['restore', 'Go back to a version that served before', true],
  ] as const) {
    http.post(
      `${path}/versions/:version/${act}`,
      { schema: { tags, summary, params: ofVersion, response: { 200: dataVersion, ...refusals } } },
      async (request) => {
        const input = { ...ids(request.params), version: request.params.version, served }
        return toWire(dataVersion, await connections.serveVersion(app, callerOf(request), input))
      },
    )
  }
}

function ids(params: { project_id: string; datasource_id: string }): { projectId: string; datasourceId: string } {
  return { projectId: params.project_id, datasourceId: params.datasource_id }
}

function wireSchema({ checks, ...schema }: connections.TableSchema): z.output<typeof tableSchema> {
  return { ...toWire(tableSchema.omit({ checks: true }), schema), checks }
}
