import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { spentMs } from '../harness/processor-time.ts'
import { openSource, type Source } from '../harness/source.ts'

const own = readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8')
let t: TestApp
let docs: Source
beforeAll(async () => {
  docs = await openSource()
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: docs.host })
})
afterAll(async () => {
  await t.close()
  await docs.close()
})
const ask = (body: Record<string, unknown>) => t.operator.post('/v1/http/import', body)

test('200: a document by its address, and one of its operations as a connection that can be saved', async () => {
  docs.answer(own)
  const { status, body } = await ask({ url: docs.url })
  expect({ status, kind: body.kind }).toEqual({ status: 200, kind: 'openapi' })
  const { id } = body.operations.find(({ url }: { url: string }) => url === '/v1/projects')
  const { connection } = (await ask({ url: docs.url, operation: id })).body
  expect(connection.configuration).toMatchObject({
    url: `http://${docs.host}/v1/projects`,
    method: 'GET',
    responsePathExtractor: 'data',
  })
  expect(connection.pagination).toMatchObject({ type: 'cursor', path: 'next_cursor', parameter: 'cursor' })
  const { authType: _type, auth: _auth, ...config } = connection.configuration
  const path = `/v1/projects/${await t.project()}/datasources`
  const { pagination } = connection
  expect(await t.operator.post(path, { name: connection.name, kind: 'http_api', config, pagination })).toMatchObject({
    status: 201,
  })
})

test('200: a document as text, larger than other bodies may be', async () => {
  const text = JSON.stringify({ ...JSON.parse(own), 'x-padding': 'x'.repeat(2_000_000) })
  expect((await ask({ text })).body.operations.length).toBeGreaterThan(50)
})

test('400 for an address that must not be called, neither, both, an unknown operation and no document', async () => {
  expect(await ask({ url: 'http://127.0.0.1:1/openapi.json' })).toMatchObject({
    status: 400,
    body: { reason: 'url_not_allowed' },
  })
  expect((await ask({})).status).toBe(400)
  expect((await ask({ url: docs.url, text: '{}' })).status).toBe(400)
  expect(await ask({ text: own, operation: 'GET /nowhere' })).toMatchObject({
    status: 400,
    body: { details: [{ field: 'operation' }] },
  })
  expect((await ask({ text: '<html>' })).status).toBe(400)
})

test('502 where the document is not there', async () => {
  docs.answer('no', {}, 404)
  expect(await ask({ url: docs.url })).toMatchObject({ status: 502, body: { upstream_status: 404 } })
})

test('a document that takes long to read holds nobody up', async () => {
  const paths = Array.from({ length: 20_000 }, (_, index) => `  /a${index}: {get: {responses: {}}}\n`)
  const [ownMs, allMs] = [spentMs(), process.cpuUsage()]
  expect((await ask({ text: `openapi: 3.0.0\npaths:\n${paths.join('')}` })).status).toBe(200)
  // Another thread has read it: the one that answers everybody spent the smaller part of the time.
  const { user } = process.cpuUsage(allMs)
  expect(spentMs() - ownMs).toBeLessThan(user / 1_000 / 2)
})
