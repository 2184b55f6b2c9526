import { z } from 'zod'
import { dataVersion } from '../../../../api/data.ts'
import { changeTableSchema, tableSchema } from '../../../../api/datasources.ts'
import { numberedPageQuery } from '../../../../api/envelope.ts'
import { toWire } from '../../../../api/wire-codec.ts'
import type { App } from '../../../app.ts'
import * as connections from '../../../connections/index.ts'
import { listDataVersions } from '../../../data/index.ts'
import type { Http } from '../../request/http.ts'
import { one, operations, page } from '../operations.ts'

const path = '/v1/projects/:project_id/datasources/:datasource_id'

/** The columns of a table as declared. */
export function serveTableSchemas(http: Http, app: App): void {
  const { get, patch } = operations(http, app, 'connections')
  get(
    `${path}/schema`,
    { summary: 'The columns of its table, and what its data must be', answer: one(tableSchema, wireSchema) },
    connections.findSchema,
  )
  patch(
    `${path}/schema`,
    {
      summary: 'Set, rename, hide or describe columns; say what data must be',
      body: changeTableSchema,
      answer: one(tableSchema, wireSchema),
    },
    (app, caller, { checks: _checks, ...input }, { request }) => {
      // Checks are kept as they are written.
      const { checks } = request.body as z.output<typeof changeTableSchema>
      return connections.changeSchema(app, caller, { ...input, ...(checks !== undefined && { checks }) })
    },
  )
}

/** The loads of a table, and which of them serves. */
export function serveDataVersions(http: Http, app: App): void {
  const { get, post } = operations(http, app, 'connections')
  get(
    `${path}/versions`,
    {
      summary: 'The versions of its data, newest first',
      query: z.strictObject(numberedPageQuery),
      answer: page(dataVersion),
    },
    async (app, caller, input) => {
      await connections.findDatasource(app, caller, input)
      return listDataVersions(app, caller, input)
    },
  )
  for (const [act, summary, served] of [
    ['activate', 'Serve this version from now on, forward or back, whatever held it', false],
    ['restore', 'Go back to a version that served before', true],
  ] as const) {
    post(
      `${path}/versions/:version/${act}`,
      {
        summary,
        params: z.object({ version: z.coerce.number().int().min(1).max(2_147_483_647) }),
        answer: one(dataVersion),
      },
      (app, caller, input) => connections.serveVersion(app, caller, { ...input, served }),
    )
  }
}

function wireSchema({ checks, ...schema }: connections.TableSchema): z.output<typeof tableSchema> {
  return { ...toWire(tableSchema.omit({ checks: true }), schema), checks }
}
