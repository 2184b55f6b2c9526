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
import { toWire } from '../../../../api/wire-codec.ts'
import type { App } from '../../../app.ts'
import * as connections from '../../../connections/index.ts'
import { refusals } from '../../answer/answers.ts'
import { callerOf } from '../../request/caller.ts'
import { errorEnvelope } from '../../../../api/envelope.ts'
import { untilGone } from '../../answer/gone.ts'
import type { Http } from '../../request/http.ts'
import { asItIs, operations } from '../operations.ts'

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
      config: { body: 'authored' },
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
        api_config: apiConfiguration,
        ...configuration
      } = request.body
      const signal = untilGone(reply)
      return connections.testConnection(app, callerOf(request), {
        configuration,
        apiConfiguration,
        projectId,
        datasourceId,
        lastValue,
        signal,
        detect,
      })
    },
  )

  http.post(
    '/v1/http/execute-request',
    {
      config: { body: 'authored' },
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
        // A request with a key asks for the same answer again, also when the connection breaks.
        signal: idempotencyKey === undefined ? untilGone(reply) : undefined,
      })
      return wireExecuted(answer)
    },
  )

  const { post } = operations(http, app, 'connections')
  post(
    '/v1/http/import-curl',
    {
      summary: 'Turn a pasted curl command into a configuration',
      body: curlImportRequest,
      answer: asItIs(curlImportAnswer),
    },
    (_app, _caller, { command }) => connections.importCurl(command),
  )
  post(
    '/v1/http/import',
    {
      // Its text is quoted as JSON, which makes it longer.
      bodyLimit: 2 * fixedLimits.importChars.value,
      summary: 'Turn an OpenAPI document or a Postman collection into a configuration',
      description: 'Without `operation` it lists what the document offers. A URL is called as every external API is.',
      body: documentImportRequest,
      answer: asItIs(documentImportAnswer),
      refusals: upstreamRefusals,
    },
    (app, caller, input, { reply }) => connections.importDocument(app, caller, { ...input, signal: untilGone(reply) }),
  )
}

export function wireExecuted({ truncated, heldBecause, warnings = [], ...answer }: connections.ExecuteAnswer) {
  return toWire(executeAnswer, {
    ...answer,
    ...(truncated && { truncated }),
    ...(heldBecause !== null && { heldBecause }),
    ...(warnings.length > 0 && { warnings }),
  })
}
