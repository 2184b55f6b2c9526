import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject } from '../harness/queries.ts'
import { openUpstream, type Upstream } from '../harness/upstream.ts'

type Span = { name: string; traceId: string; spanId: string; parentSpanId?: string; status: { code?: number } }

let collector: Upstream
let t: TestApp
const spans: Span[] = []

beforeAll(async () => {
  collector = await openUpstream({
    '/v1/traces': async (request, response) => {
      const sent = JSON.parse((await buffer(request)).toString())
      for (const resource of sent.resourceSpans) for (const scope of resource.scopeSpans) spans.push(...scope.spans)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    },
  })
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.origin)
  t = await openTestApp({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin })
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await collector.close()
})

test('a call is a span of its request, in the trace that the caller began', async () => {
  const q = await openQueryProject(t)
  await q.deploy({ name: 'one', sql: 'SELECT 1 AS one' })
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  await q.caller.post('/v1/queries/one', {}, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` })
  await q.caller.post('/v1/queries/one', { no: 1 }, { traceparent: 'nonsense' })
  // What waits to be sent is sent when the service stops.
  await t.close()
  const [request, query] = ['POST /v1/queries/:query_name', 'query one'].map((name) =>
    spans.find((span) => span.name === name && span.traceId === traceId),
  )
  expect(request?.parentSpanId).toBe('00f067aa0ba902b7')
  expect(query?.parentSpanId).toBe(request?.spanId)
  const failed = spans.filter((span) => span.name === 'query one' && span.status.code === 2)
  expect(failed).toHaveLength(1)
  expect(failed[0]?.traceId).not.toBe(traceId)
})
