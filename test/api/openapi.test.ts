import { Validator } from '@seriousme/openapi-schema-validator'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'

const committed = join(import.meta.dirname, '../../docs/openapi.json')

let t: TestApp
beforeAll(async () => {
  t = await openTestApp()
})
afterAll(() => t.close())

test('docs/openapi.json is what the server serves', async () => {
  const served = `${JSON.stringify((await t.anonymous.get('/v1/openapi.json')).body, null, 2)}\n`
  // `npm run openapi` runs this test with the wish to write.
  if (process.env['WRITE_OPENAPI'] === 'yes') await writeFile(committed, served)
  expect(await readFile(committed, 'utf8'), 'run npm run openapi').toBe(served)
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
