import { z } from 'zod'
import {
  curlImportAnswer,
  curlImportRequest,
  documentImportAnswer,
  documentImportRequest,
  executeAnswer,
  executeRequest,
  testConnectionAnswer,
  testConnectionRequest,
} from '../../../../api/connections.ts'
import { fixedLimits } from '../../../../api/limits.ts'
import type { App } from '../../../app.ts'
import * as connections from '../../../connections/index.ts'
import { refusals } from '../../answer/answers.ts'
import { callerOf } from '../../request/caller.ts'
import { errorEnvelope } from '../../../../api/envelope.ts'
import { untilGone } from '../../answer/gone.ts'
import type { Http } from '../../request/http.ts'

const tags = ['connections']
const upstreamRefusals = {
  ...refusals,
  502: errorEnvelope.describe('The external API failed.'),
  504: errorEnvelope.describe('The external API did not answer in time.'),
}

// Over 70 lines: a list of routes.
export function serveConnections(http: Http, app: App): void {
  http.post(
    '/v1/http/test-connection',
    {
      schema: {
        tags,
        summary: 'Call an external API and see what comes back; nothing is stored',
        body: testConnectionRequest,
        response: { 200: testConnectionAnswer, ...refusals },
      },
    },
    async (request, reply) => {
      const {
        project_id: projectId,
        datasource_id: datasourceId,
        detect,
        last_value: lastValue,
        ...configuration
      } = request.body
      const stored = projectId === undefined || datasourceId === undefined ? undefined : { projectId, datasourceId }
      const signal = untilGone(reply)
      return connections.testConnection(app, callerOf(request), {
        configuration,
        stored,
        projectId,
        lastValue,
        signal,
        detect,
      })
    },
  )

  http.post(
    '/v1/http/execute-request',
    {
      schema: {
        tags,
        summary: 'Call an external API and store its response as a data object',
        description:
          'With the header Idempotency-Key, the same key and body within 24 hours give the first answer again and call the external API once. ' +
          'Without it, hanging up before the answer stops the work, and nothing is stored.',
        headers: z.object({ 'idempotency-key': z.string().min(1).max(255).optional() }),
        body: executeRequest,
        response: { 200: executeAnswer, ...upstreamRefusals },
      },
    },
    async (request, reply) => {
      const idempotencyKey = request.headers['idempotency-key']
      const answer = await connections.executeRequest(app, callerOf(request), {
        request: request.body,
        idempotencyKey,
        // Whoever sends a key means to ask again for the same answer, also when the connection breaks.
        signal: idempotencyKey === undefined ? untilGone(reply) : undefined,
      })
      return wireExecuted(answer)
    },
  )

  http.post(
    '/v1/http/import-curl',
    {
      schema: {
        tags,
        summary: 'Turn a pasted curl command into a configuration',
        body: curlImportRequest,
        response: { 200: curlImportAnswer, ...refusals },
      },
    },
    async (request) => {
      callerOf(request)
      return connections.importCurl(request.body.command)
    },
  )

  http.post(
    '/v1/http/import',
    {
      // Its text is quoted as JSON, which makes it longer.
      bodyLimit: 2 * fixedLimits.importChars.value,
      schema: {
        tags,
        summary: 'Turn an OpenAPI document, a Postman collection or a HAR file into a configuration',
        description: 'Without `operation` it lists what the document offers. A URL is called as every external API is.',
        body: documentImportRequest,
        response: { 200: documentImportAnswer, ...upstreamRefusals },
      },
    },
    async (request, reply) => {
      const { text, url, operation } = request.body
      return connections.importDocument(app, callerOf(request), { text, url, operation, signal: untilGone(reply) })
    },
  )
}

export function wireExecuted(answer: connections.ExecuteAnswer): z.output<typeof executeAnswer> {
  return {
    jobs: answer.jobs.map((job) => ({
      id: job.id,
      job_type: job.jobType,
      status: job.status,
      project_id: job.projectId,
      source: job.source,
      source_id: job.sourceId,
      source_event_type: job.sourceEventType,
      created_at: job.createdAt,
    })),
    data_object_id: answer.dataObjectId,
    ...(answer.truncated && { truncated: true }),
    ...(answer.heldBecause !== null && { held_because: answer.heldBecause }),
  }
}
