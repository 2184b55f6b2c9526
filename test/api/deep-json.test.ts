import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { previewQuery } from '../../server/queries/index.ts'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { openAppWithSource, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
let projectId: string
let secret: string
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource())
  projectId = await t.project()
  const permissions = [{ project_id: projectId, environments: ['production'] }]
  secret = (await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'k', permissions }))).body.secret
})
afterAll(() => t.close())

const nested = (levels: number): string => `${'['.repeat(levels)}1${']'.repeat(levels)}`

/** The text as it stands: a body this deep cannot be written out by `JSON.stringify`. */
async function send(method: 'POST' | 'PATCH', path: string, payload: string, credential?: string) {
  const authorization = credential ?? 'Bearer operator-token-of-the-tests'
  const headers = { 'content-type': 'application/json', authorization }
  const response = await t.http.inject({ method, url: path, headers, payload })
  return { status: response.statusCode, body: response.json<Record<string, unknown>>() }
}

describe('400 for a body that is too deep', () => {
  const calls: Array<[string, string, (deep: string) => string]> = [
    ['test-connection', '/v1/http/test-connection', (deep) => `{"url":"URL","method":"POST","body":{"a":${deep}}}`],
    [
      'execute-request',
      '/v1/http/execute-request',
      (deep) =>
        `{"project_id":"PROJECT","datasource_id":"d","connect_spec":{"name":"n","id":"http_api","config":{}},"url":"URL","method":"POST","body":{"a":${deep}}}`,
    ],
    [
      'a datasource',
      '/v1/projects/PROJECT/datasources',
      (deep) => `{"name":"n","kind":"http_api","config":{"url":"URL","method":"POST","body":{"a":${deep}}}}`,
    ],
    ['evaluations', '/v1/projects/PROJECT/evaluations', (deep) => `{"question":"q","parameters":{"a":${deep}}}`],
    ['a trial of a question', '/v1/projects/PROJECT/ask', (deep) => `{"query":"q","parameters":${deep}}`],
  ]
  test.each(calls)('%s', async (_name, path, body) => {
    const fill = (text: string) => text.replaceAll('PROJECT', projectId).replaceAll('URL', source.url)
    for (const levels of [65, 5000, 200_000]) {
      const answer = await send('POST', fill(path), fill(body(nested(levels))))
      expect(answer).toMatchObject({
        status: 400,
        body: { error: 'invalid_request', reason: 'too_deep', message: expect.stringContaining('64') as string },
      })
    }
    expect((await send('POST', fill(path), fill(body(nested(20))))).status).not.toBe(500)
  })

  test.each(['/v1/query', '/v1/queries/orders'])('%s with a key', async (path) => {
    const body = `{"query":"Which orders?","project_id":"${projectId}","parameters":{"a":${nested(5000)}}}`
    expect(await send('POST', path, body, `Bearer ${secret}`)).toMatchObject({
      status: 400,
      body: { error: 'invalid_query', reason: 'too_deep' },
    })
  })

  test('the limit is listed', async () => {
    const limits = (await t.operator.get('/v1/limits')).body.data as Array<Record<string, unknown>>
    expect(limits.find(({ name }) => name === 'body_depth')).toMatchObject({ value: 64 })
  })
})

describe('an answer that is too deep', () => {
  const call = (config: Record<string, unknown> = {}) =>
    t.operator.post('/v1/http/test-connection', { url: source.url, method: 'GET', ...config })

  test('is shown as text and refused in words, as execute refuses it', async () => {
    for (const levels of [65, 5000, 100_000]) {
      source.answer(nested(levels))
      const { status, body } = await call()
      expect([status, body.success, body.error.code]).toEqual([200, false, 'too_deep'])
      expect(body.data).toBe(nested(levels))
      const extracted = await call({ responsePathExtractor: 'a' })
      expect(extracted.body.error.code).toBe('too_deep')
    }
    source.answer(nested(64))
    expect((await call()).body).toMatchObject({ success: true, data: JSON.parse(nested(64)) })
  })

  test('inside a text stays a text, and in lines of NDJSON is no row', async () => {
    source.answer(JSON.stringify({ body: nested(5000) }))
    expect((await call({ responsePathExtractor: 'body' })).body.data).toBe(nested(5000))
    source.answer(`{"a":1}\n{"a":${nested(5000)}}\n`, { 'content-type': 'application/x-ndjson' })
    expect((await call({ responsePathExtractor: 'a' })).body).toMatchObject({ success: false })
  })

  test('in a pasted command is refused in words', async () => {
    const answer = await t.operator.post('/v1/http/import-curl', { command: `curl x.org --json '${nested(5000)}'` })
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('64 levels') as string } })
  })
})

test('inspecting and running a preview share one time limit', async () => {
  const path = `/v1/projects/${projectId}/queries`
  await expectStatus(201, t.operator.post(path, { name: 'one', sql: 'SELECT 1 AS one', timeout_ms: 5000 }))
  const given: Array<number | undefined> = []
  const { engine } = t.app
  const watched: typeof engine = {
    ...engine,
    inspect: (scope, catalog, input, limits) => {
      given.push(limits?.timeoutMs)
      return engine.inspect(scope, catalog, input, limits)
    },
    read: (scope, catalog, input) => {
      given.push(input.timeoutMs)
      return engine.read(scope, catalog, input)
    },
  }
  const caller = { kind: 'operator', requestId: null } as const
  await previewQuery({ ...t.app, engine: watched }, caller, {
    projectId,
    name: 'one',
    sql: 'SELECT 2 AS one',
    parameters: {},
  })
  expect(given).toHaveLength(3)
  const [first = 0, second = 0, third = 0] = given
  expect(first).toBeLessThanOrEqual(5000)
  expect(second).toBeLessThan(first)
  expect(third).toBeLessThan(second)
})
