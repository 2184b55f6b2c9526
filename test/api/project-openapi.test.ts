import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { biggest, inRegion } from '../harness/questions.ts'

let t: TestApp
let q: QueryProject
let path: string
beforeAll(async () => {
  t = await openTestApp({ SLUICE_PUBLIC_URL: 'https://sluice.example.org' })
  q = await openQueryProject(t)
  path = `/v1/projects/${q.projectId}/openapi.json`
  await q.deploy(inRegion)
  await q.deploy(biggest, 'staging')
  const slots = {
    type: 'object',
    properties: { format: { type: 'string' }, days: { type: 'array', items: { type: 'string', format: 'date' } } },
    required: ['format'],
  }
  await q.deploy({ name: 'odd_slots', sql: "SELECT $format AS f, $days AS d, '{}'::JSON AS j", slots })
})
afterAll(() => t.close())

const keyWith = async (key: Record<string, unknown>): Promise<ReturnType<TestApp['withToken']>> => {
  const made = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'some', ...key }))
  return t.withToken(made.body.secret)
}

describe('the OpenAPI document of a project', () => {
  test('is valid, and has an operation by POST and by GET for each query that is deployed there', async () => {
    const { body } = await expectStatus(200, q.caller.get(path))
    const { valid, errors } = await new Validator().validate(body)
    expect(errors).toBeUndefined()
    expect(valid).toBe(true)
    expect(Object.keys(body.paths)).toEqual(['/v1/queries/odd_slots', '/v1/queries/orders_in_region'])
    expect(body.servers).toEqual([{ url: 'https://sluice.example.org' }])
    const { post, get } = body.paths['/v1/queries/orders_in_region']
    expect(post.operationId).toBe('call_orders_in_region')
    expect(post.requestBody.content['application/json'].examples.example_1).toEqual({
      summary: 'Which orders came from the north?',
      value: { region: 'north' },
    })
    expect(get.parameters.find(({ name }: { name: string }) => name === 'region')).toMatchObject({
      in: 'query',
      required: true,
      example: 'north',
      schema: { enum: ['north', 'south', 'east'] },
    })
    expect(body.components.schemas.orders_in_region_row.required).toEqual(['id', 'amount'])
    for (const status of [400, 401, 403, 404, 429, 503, 504]) expect(post.responses).toHaveProperty(String(status))
  })

  test('is of the environment that is named, and of none that is not there', async () => {
    const { body } = await expectStatus(200, q.caller.get(`${path}?environment=staging`))
    expect(Object.keys(body.paths)).toEqual(['/v1/queries/biggest_orders'])
    const refused = await t.operator.get(`${path}?environment=stagin`)
    expect([refused.status, refused.body.message]).toEqual([404, expect.stringContaining('staging')])
  })

  test('names a slot that is called like a word of the address as it is sent', async () => {
    const { body } = await expectStatus(200, q.caller.get(path))
    const names = body.paths['/v1/queries/odd_slots'].get.parameters.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['project_id', 'environment', 'slot.format', 'days'])
    const answer = await expectStatus(200, q.caller.get('/v1/queries/odd_slots?slot.format=x&days=2024-01-01'))
    expect(answer.body.data).toEqual([{ f: 'x', d: ['2024-01-01'], j: {} }])
  })

  test('shows a key what it may call, without what it fixes, and a member everything', async () => {
    const only = [{ project_id: q.projectId, environments: ['production'], queries: ['orders_in_region'] }]
    const few = await keyWith({ permissions: only, fixed_parameters: { region: 'north' } })
    const { body } = await expectStatus(200, few.get(path))
    expect(Object.keys(body.paths)).toEqual(['/v1/queries/orders_in_region'])
    expect(body.components.schemas.orders_in_region_slots.properties).toEqual({})
    const viewer = await t.member(q.projectId, 'viewer')
    const whole = await expectStatus(200, viewer.get(path))
    expect(Object.keys(whole.body.paths)).toHaveLength(2)
  })

  test('is out of reach for others', async () => {
    const other = await t.project('Other')
    const foreign = await keyWith({ permissions: [{ project_id: other, environments: '*' }] })
    expect((await foreign.get(path)).body).toMatchObject({ error: 'permission_denied' })
    expect((await (await t.member(other, 'owner')).get(path)).status).toBe(404)
    expect((await t.anonymous.get(path)).status).toBe(401)
    const bad = await t.withToken('slc_live_bad').get(path)
    expect([bad.status, bad.body.reason]).toEqual([401, 'malformed'])
  })
})
