import type { Readable } from 'node:stream'
import { z } from 'zod'
import { executeAnswer } from '../../../../api/connections.ts'
import { fileQuery } from '../../../../api/datasources.ts'
import { errorEnvelope } from '../../../../api/envelope.ts'
import type { App } from '../../../app.ts'
import * as connections from '../../../connections/index.ts'
import { refusals } from '../../answer/answers.ts'
import { callerOf } from '../../request/caller.ts'
import { untilGone } from '../../answer/gone.ts'
import type { Http } from '../../request/http.ts'
import { wireExecuted } from './connections.ts'

/** For the document: whatever comes is the file. */
const fileBody = z.any().meta({ type: 'string', format: 'binary' })

/** Bodies here are files of any type, read as they come. */
export function serveFiles(http: Http, app: App): void {
  http.removeAllContentTypeParsers()
  http.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  http.post(
    '/v1/projects/:project_id/datasources/:datasource_id/files',
    {
      config: { takesFiles: true },
      schema: {
        tags: ['connections'],
        summary: 'Send a file: its rows become a version of the table',
        description:
          'The body is the file itself: CSV, JSON, NDJSON, Parquet, Excel or XML, also packed as .gz or .zst. Its rows replace, ' +
          'join or merge with the table as its `load` says, and its contract and checks hold. With the header ' +
          'Idempotency-Key, the same key and file within 24 hours give the first answer again.',
        consumes: ['application/octet-stream'],
        params: z.object({ project_id: z.string(), datasource_id: z.string() }),
        body: fileBody,
        querystring: fileQuery,
        headers: z.object({ 'idempotency-key': z.string().min(1).max(255).optional() }),
        response: {
          201: executeAnswer,
          ...refusals,
          504: errorEnvelope.describe('Making a table of it took too long.'),
        },
      },
    },
    async (request, reply) => {
      const { project_id: projectId, datasource_id: datasourceId } = request.params
      const { filename, extractor, full } = request.query
      const length = request.headers['content-length']
      const idempotencyKey = request.headers['idempotency-key']
      const stored = await connections.uploadFile(app, callerOf(request), {
        projectId,
        datasourceId,
        body: (request.body as Readable | null | undefined) ?? request.raw,
        declaredBytes: length === undefined ? undefined : Number(length),
        contentType: request.headers['content-type'],
        filename,
        extractor,
        full: full === 'true',
        idempotencyKey,
        signal: idempotencyKey === undefined ? untilGone(reply) : undefined,
      })
      return reply.code(201).send(wireExecuted(stored))
    },
  )
}
