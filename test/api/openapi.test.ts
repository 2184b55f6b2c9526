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
