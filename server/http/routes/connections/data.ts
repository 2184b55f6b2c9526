import { Readable } from 'node:stream'
import { z } from 'zod'
import { rowFormats } from '../../../../api/queries.ts'
import { dataObject, describedObject, lineageGraph, objectRows, rowFilter, rowsQuery } from '../../../../api/data.ts'
import { pageQuery } from '../../../../api/envelope.ts'
import type { App } from '../../../app.ts'
import * as data from '../../../data/index.ts'
import { runRefusals } from '../../answer/answers.ts'
import { answerPart } from '../../answer/file-part.ts'
import { contentTypes } from '../../answer/formats.ts'
import { untilGone } from '../../answer/gone.ts'
import type { FileFormat } from '../../../files/index.ts'
import type { Http } from '../../request/http.ts'
import { toWire } from '../../../../api/wire-codec.ts'
import { asItIs, nothing, one, operations, page, sent } from '../operations.ts'

const objects = '/v1/projects/:project_id/data-objects'
const path = `${objects}/:data_object_id`
const mediaTypes: Record<FileFormat, string> = {
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
  const { get, del } = operations(http, app, 'data')
  get(
    objects,
    {
      summary: 'Data objects, newest first',
      query: z.strictObject({ ...pageQuery, datasource_id: z.string().optional() }),
      answer: page(dataObject, (object: data.DataObject) => wireObject(object)),
    },
    data.listObjects,
  )
  get(
    path,
    { summary: 'One data object with the profile of its columns', answer: one(describedObject, wireDescribed) },
    (app, caller, input) => data.findObject(app, caller, objectOf(input)),
  )
  get(
    `${path}/lineage`,
    { summary: 'Where it comes from and what reads it', answer: asItIs(lineageGraph) },
    (app, caller, input) => data.lineageOf(app, caller, objectOf(input)),
  )
  del(path, { summary: 'Delete one version of the data', answer: nothing }, (app, caller, input) =>
    data.deleteObject(app, caller, objectOf(input)),
  )
}

/** Bytes that are ready as they come: they are not read again to be written again. */
export function serveObjectContent(http: Http, app: App): void {
  const { get } = operations(http, app, 'data')
  get(
    `${path}/rows`,
    { summary: 'A page of its rows', query: rowsQuery, answer: sent(objectRows), refusals: runRefusals },
    async (app, caller, input, { reply }) => {
      const { limit, cursor = '0', sort, order, search = '', filter = [] } = input
      const offset = Number(cursor)
      const wish = {
        sort: sort === undefined ? null : { column: sort, descending: order === 'desc' },
        search,
        filters: [filter].flat().map(readFilter),
      }
      const asked = { ...objectOf(input), limit, offset, wish, signal: untilGone(reply) }
      const answer = await data.readObjectRows(app, caller, asked)
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
      return reply.type('application/json; charset=utf-8').send(body)
    },
  )
  get(
    `${path}/download`,
    {
      summary: 'The stored file itself, or its rows in another form',
      query: z.strictObject({
        format: z.enum(rowFormats).optional().meta({
          description: 'Rows in this form. Left out: the file as it is stored, also in parts (`Range`) and by HEAD.',
        }),
      }),
      answer: sent({ description: 'The file, in the format of the object.', content: files }),
    },
    async (app, caller, input, { request, reply }) => {
      const { format: asked } = input
      const wanted = { ...objectOf(input), format: asked, signal: untilGone(reply) }
      const opened = await data.openObject(app, caller, wanted)
      const { object, stored } = opened
      const name = `${object.tableName}-${object.version}.${asked ?? object.format}`
      void reply
        .type(asked === undefined ? mediaTypes[object.format] : contentTypes[asked])
        .header('content-disposition', `attachment; filename="${name}"`)
      if (stored === null) return reply.send(opened.stream)
      const part = answerPart(request, reply, { sizeBytes: stored.sizeBytes, etag: `"${stored.hash}"` })
      return reply.send(part === null ? Readable.from([]) : await stored.read(part))
    },
  )
}

/** `at_least:amount:30`; the schema has seen that it is one. */
function readFilter(text: string): data.RowFilter {
  const [, test, column, value = ''] = /^([a-z_]+):([^:]+):?([\s\S]*)$/.exec(text) ?? []
  return rowFilter.parse({ test, column, value })
}

function objectOf({ projectId, dataObjectId: objectId }: { projectId: string; dataObjectId: string }) {
  return { projectId, objectId }
}

function wireDescribed({ profile, driftTouches, ...object }: Awaited<ReturnType<typeof data.findObject>>) {
  return { ...wireObject(object, driftTouches), profile: toWire(describedObject.shape.profile, profile) }
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
