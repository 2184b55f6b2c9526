import { expect, test } from 'vitest'
import { openPrometheus } from '../../../server/usage/metrics/prometheus.ts'

test('answers of one route are told apart by method and status, and timed together', async () => {
  const prometheus = openPrometheus()
  const answered = (method: string, status: number): void =>
    prometheus.observe({
      kind: 'request-answered',
      requestId: 'req_1',
      method,
      route: '/v1/a/:id',
      status,
      elapsedMs: 2,
      traceParent: undefined,
    })
  for (const method of ['GET', 'PUT', 'GET', 'GET', 'PUT']) answered(method, 200)
  answered('PUT', 400)
  const { text } = await prometheus.render()
  const counted = text.split('\n').filter((line) => line.startsWith('sluice_http_requests_total{'))
  expect(counted.toSorted()).toEqual([
    'sluice_http_requests_total{route="/v1/a/:id",method="GET",status="200"} 3',
    'sluice_http_requests_total{route="/v1/a/:id",method="PUT",status="200"} 2',
    'sluice_http_requests_total{route="/v1/a/:id",method="PUT",status="400"} 1',
  ])
  expect(text).toContain('sluice_http_request_seconds_count{route="/v1/a/:id"} 6\n')
})
