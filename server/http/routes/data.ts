import { z } from 'zod'
import { dataObject, describedObject, lineageGraph, objectRows, rowFilter, rowsQuery } from '../../../api/data.ts'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import type { App } from '../../app.ts'
import * as data from '../../data/index.ts'
import { noContent, refusals, runRefusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import { contentTypes } from '../answer/formats.ts'
import { untilGone } from '../answer/gone.ts'
import type { Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'

const tags = ['data']
const ofProject = z.object({ project_id: z.string() })
const ofObject = ofProject.extend({ data_object_id: z.string() })
const mediaTypes: Record<data.FileFormat, string> = {
  json: 'application/json',
  parquet: 'application/vnd.apache.parquet',
  duckdb: 'application/octet-stream',
}

const binary = z.string().meta({ format: 'binary' })
const files = {
  ...Object.fromEntries(
    Object.entries(mediaTypes).map(([format, type]) => [type, { schema: format === 'json' ? z.unknown() : binary }]),
  ),
  'text/csv': { schema: z.string() },
  'application/x-ndjson': { schema: z.string() },
  'application/vnd.apache.arrow.stream': { schema: binary },
}

export function serveDataObjects(http: Http, app: App): void {
  http.get(
    '/v1/projects/:project_id/data-objects',
    {
      schema: {
        tags,
        summary: 'Data objects, newest first',
        params: ofProject,
        querystring: z.strictObject({ ...pageQuery, datasource_id: z.string().optional() }),
        response: { 200: pageOf(dataObject), ...refusals },
      },
    },
    async (request) => {
      const { datasource_id: datasourceId, ...page } = request.query
      const input = { projectId: request.params.project_id, datasourceId, ...page }
      const found = await data.listObjects(app, callerOf(request), input)
      return { data: found.items.map((object) => wireObject(object)), next_cursor: found.nextCursor }
    },
  )

  http.get(
    '/v1/projects/:project_id/data-objects/:data_object_id',
    {
      schema: {
        tags,
        summary: 'One data object with the profile of its columns',
        params: ofObject,
        response: { 200: describedObject, ...refusals },
      },
    },
    async (request) => {
      const { profile, driftTouches, ...object } = await data.findObject(app, callerOf(request), ids(request.params))
      return { ...wireObject(object, driftTouches), profile: toWire(describedObject.shape.profile, profile) }
    },
  )

  http.get(
    '/v1/projects/:project_id/data-objects/:data_object_id/lineage',
    {
      schema: {
        tags,
        summary: 'Where it comes from and what reads it',
        params: ofObject,
        response: { 200: lineageGraph, ...refusals },
      },
    },
    async (request) => data.lineageOf(app, callerOf(request), ids(request.params)),
  )

  http.delete(
    '/v1/projects/:project_id/data-objects/:data_object_id',
    {
      schema: {
        tags,
        summary: 'Delete one version of the data',
        params: ofObject,
        response: { 204: noContent, ...refusals },
      },
    },
    async (request, reply) => {
      await data.deleteObject(app, callerOf(request), ids(request.params))
      return reply.code(204).send()
    },
  )
}

/** Bytes that are ready as they come: they are not read again to be written again. */
export function serveObjectContent(http: Http, app: App): void {
  http.get(
    '/v1/projects/:project_id/data-objects/:data_object_id/rows',
    {
      schema: {
        tags,
        summary: 'A page of its rows',
        params: ofObject,
        querystring: rowsQuery,
        response: { 200: objectRows, ...runRefusals },
      },
    },
    async (request, reply) => {
      const { limit, cursor = '0', sort, order, search = '', filter = [] } = request.query
      const offset = Number(cursor)
      const wish = {
        sort: sort === undefined ? null : { column: sort, descending: order === 'desc' },
        search,
        filters: [filter].flat().map(readFilter),
      }
      const input = { ...ids(request.params), limit, offset, wish, signal: untilGone(reply) }
      const answer = await data.readObjectRows(app, callerOf(request), input)
      const rest = {
        columns: answer.columns,
        ...(answer.rowCount !== null && { row_count: answer.rowCount }),
        truncated: answer.more,
        next_cursor: answer.more ? String(offset + limit) : null,
      }
      const body = Buffer.concat([
        Buffer.from('{"data":'),
        answer.rows,
        Buffer.from(`,${JSON.stringify(rest).slice(1)}`),
      ])
      // A buffer is sent as it is; the schema only describes it.
      return reply.type('application/json; charset=utf-8').send(body as never)
    },
  )

  http.get(
    '/v1/projects/:project_id/data-objects/:data_object_id/download',
    {
      schema: {
        tags,
        summary: 'The stored file itself, or its rows in another form',
        params: ofObject,
        querystring: z.strictObject({
          format: z.enum(['json', 'csv', 'ndjson', 'parquet', 'arrow']).optional().meta({
            description: 'Rows in this form. Left out: the file as it is stored.',
          }),
        }),
        response: { 200: { description: 'The file, in the format of the object.', content: files }, ...refusals },
      },
    },
    async (request, reply) => {
      const { format: asked } = request.query
      const input = { ...ids(request.params), format: asked, signal: untilGone(reply) }
      const { object, stream, sizeBytes } = await data.openObject(app, callerOf(request), input)
      const name = `${object.tableName}-${object.version}.${asked ?? object.format}`
      if (sizeBytes !== null) reply.header('content-length', sizeBytes)
      return (
        reply
          .type(asked === undefined ? mediaTypes[object.format] : contentTypes[asked])
          .header('content-disposition', `attachment; filename="${name}"`)
          // Bytes as they come; the schema only describes them.
          .send(stream as never)
      )
    },
  )
}

/** `at_least:amount:30`; the schema has seen that it is one. */
function readFilter(text: string): data.RowFilter {
  const [, test, column, value = ''] = /^([a-z_]+):([^:]+):?([\s\S]*)$/.exec(text) ?? []
  return rowFilter.parse({ test, column, value })
}

function ids(params: { project_id: string; data_object_id: string }): { projectId: string; objectId: string } {
  return { projectId: params.project_id, objectId: params.data_object_id }
}

function wireObject(object: data.DataObject, queries?: string[]): z.output<typeof dataObject> {
  const columns =
    object.columns?.map(({ name, type, sourceKey }) => ({
      name,
      type,
      ...(sourceKey !== undefined && sourceKey !== name && { sourceKey }),
    })) ?? null
  const drift = object.drift === null ? null : { ...object.drift, ...(queries !== undefined && { queries }) }
  return toWire(dataObject, { ...object, columns, drift })
}
