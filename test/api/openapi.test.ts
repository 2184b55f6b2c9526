import { Validator } from '@seriousme/openapi-schema-validator'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject } from '../harness/queries.ts'

const committed = join(import.meta.dirname, '../../docs/openapi.json')

let t: TestApp
beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
})
afterAll(() => t.close())

test('docs/openapi.json is what the server serves', async () => {
  const served = `${JSON.stringify((await t.anonymous.get('/v1/openapi.json')).body, null, 2)}\n`
  // `npm run generate` runs this test with the wish to write.
  if (process.env['WRITE_OPENAPI'] === 'yes') await writeFile(committed, served)
  expect(await readFile(committed, 'utf8'), 'run npm run generate').toBe(served)
})

test('an independent validator finds it valid OpenAPI 3.1, and finds a planted mistake', async () => {
  const { body: document } = await t.anonymous.get('/v1/openapi.json')
  expect(await new Validator().validate(document)).toMatchObject({ valid: true })
  const broken = structuredClone(document)
  delete broken.info.title
  expect(await new Validator().validate(broken)).toMatchObject({ valid: false })
})

test('every route is described: a summary, a tag, and an answer of its own', async () => {
  const { body: document } = await t.anonymous.get('/v1/openapi.json')
  for (const [path, operations] of Object.entries<Record<string, Record<string, unknown>>>(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      expect(operation, `${method} ${path}`).toMatchObject({ tags: [expect.any(String)], summary: expect.any(String) })
      expect(Object.keys(operation['responses'] as object)[0], `${method} ${path}`).toMatch(/^2/)
    }
  }
})

test('what the document allows of a cursor is taken, and nothing else is', async () => {
  const { body: document } = await t.anonymous.get('/v1/openapi.json')
  const project = await openQueryProject(t)
  const { projectId, path: queries } = project
  await project.deploy({ name: 'numbered', sql: 'SELECT 1 AS one' })
  const [source] = (await t.operator.get(`/v1/projects/${projectId}/datasources`)).body.data
  const known = new Map([
    [projectId, '{project_id}'],
    ['numbered', '{query_name}'],
    [source.id as string, '{datasource_id}'],
  ])
  const inDocument = (path: string) =>
    path
      .split('/')
      .map((part) => known.get(part) ?? part)
      .join('/')
  const numbered = [`${queries}/numbered/versions`, `/v1/projects/${projectId}/datasources/${source.id}/versions`]
  for (const path of ['/v1/projects', '/v1/audit', `/v1/projects/${projectId}/requests`, ...numbered]) {
    const { parameters } = document.paths[inDocument(path)].get
    const { schema } = parameters.find(({ name }: { name: string }) => name === 'cursor')
    const patterns = [schema, ...(schema.allOf ?? [])].flatMap(({ pattern }) => pattern ?? [])
    const isAllowed = (cursor: string) => patterns.every((pattern: string) => new RegExp(pattern, 'u').test(cursor))
    expect(patterns).not.toEqual([])
    for (const cursor of ['0', 'x', '30', '00', 'ff', '3031', '312030', '3939393939393939393939393939392000', 'Zm9v']) {
      const answer = await t.operator.get(`${path}?cursor=${cursor}`)
      expect([cursor, answer.status]).toEqual([cursor, isAllowed(cursor) ? 200 : 400])
    }
  }
})

test('empty names, whole numbers with a point, time zones and kinds of authentication are promised as they are taken', async () => {
  const { body: document } = await t.anonymous.get('/v1/openapi.json')
  const project = await openQueryProject(t)
  const path = `/v1/projects/${project.projectId}`
  await project.deploy({ name: 'pointed', sql: 'SELECT 1 AS one' })
  const parameterOf = (at: string, wanted: string) =>
    document.paths[at].get.parameters.find(({ name }: { name: string }) => name === wanted).schema
  const bodyOf = (at: string) => document.paths[at].post.requestBody.content['application/json'].schema.properties

  expect(bodyOf('/v1/query').project_id.minLength).toBe(1)
  expect((await project.caller.post('/v1/query', { query: 'which', project_id: '' })).status).toBe(400)

  // A number without a fraction is an integer, however it is written.
  const diff = '/v1/projects/{project_id}/queries/{query_name}/diff'
  expect(parameterOf(diff, 'from')).toMatchObject({ type: 'integer', minimum: 1 })
  const statusOf = async (from: string) => (await t.operator.get(`${path}/queries/pointed/diff?from=${from}`)).status
  expect([await statusOf('1.0'), await statusOf('8293.0')]).toEqual([200, 404])
  expect([await statusOf('1.5'), await statusOf('')]).toEqual([400, 400])

  const zone = parameterOf('/v1/projects/{project_id}/metrics', 'time_zone')
  expect(zone).toMatchObject({ format: 'time-zone', minLength: 1 })
  const zones = { 'Europe/Berlin': 200, UTC: 200, 'Nowhere/None': 400, '': 400 }
  for (const [name, status] of Object.entries(zones)) {
    const answer = await t.operator.get(`${path}/metrics?time_zone=${encodeURIComponent(name)}`)
    expect([name, answer.status]).toEqual([name, status])
  }

  const kinds: string[] = bodyOf('/v1/http/test-connection').authType.enum
  const complaintOf = async (authType: string): Promise<string[]> => {
    const asked = { url: 'http://upstream.example', method: 'GET', authType, auth: { nothing: 1 } }
    const { body } = await t.operator.post('/v1/http/test-connection', asked)
    return (body.details ?? []).map(({ field }: { field: string }) => field)
  }
  for (const kind of kinds)
    expect([kind, await complaintOf(kind)]).not.toEqual([kind, expect.arrayContaining(['authType'])])
  expect(await complaintOf('Nothing')).toContain('authType')
})
