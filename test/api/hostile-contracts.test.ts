import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { execute, openAppWithSource, rowsOf, type Source } from '../harness/source.ts'

/** Contracts of tables against an API that wants past them, and names and values that are SQL. */

let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource())
})
afterAll(() => t.close())
beforeEach(async () => {
  projectId = await t.project()
})

const datasource = () => `/v1/projects/${projectId}/datasources/ds_${projectId}`
const loaded = (body: unknown, type = 'application/json') => {
  source.answer(body, { 'content-type': type })
  return execute(t.operator, { projectId, datasourceId: `ds_${projectId}`, url: source.url, name: 'sales' })
}
const load = async (body: unknown, type?: string) => (await expectStatus(200, loaded(body, type))).body
const change = (body: Record<string, unknown>) => t.operator.patch(`${datasource()}/schema`, body)

describe('values that a contract keeps out do not come in by another spelling', () => {
  const mark = 'zyxkeptout'
  const rules = [
    { source_name: 'email', on_load: 'drop' },
    { source_name: 'person.email', on_load: 'drop' },
    { source_name: 'lines.*.email', on_load: 'drop' },
    { source_name: 'phone', on_load: 'hash' },
  ]
  const good = [{ id: 1, email: 'a', phone: 'b', person: { name: 'c', email: 'd' }, lines: [{ nr: 1, email: 'e' }] }]

  test.each<[string, string, string?]>([
    ['twice in an object', `[{"id":1,"email":"x","email":"${mark}","phone":"x","phone":"${mark}"}]`],
    ['with its letters escaped', `[{"id":1,"\\u0065mail":"${mark}","p\\u0068one":"${mark}"}]`],
    ['twice on the way to it', `[{"id":1,"person":{"email":"x"},"person":{"email":"${mark}","email":"${mark}"}}]`],
    ['with more below it', `[{"id":1,"email":{"a":["${mark}"]},"person":{"email":[{"${mark}":"${mark}"}]}}]`],
    ['among members of other kinds', `[{"id":1,"lines":[1,null,"x",{"email":"${mark}"},[{"nr":2}]]}]`],
    ['as CSV', `id,email,phone\n1,${mark},${mark}\n`, 'text/csv'],
    [
      'as lines of JSON',
      `{"id":1,"email":"${mark}"}\n{"id":2,"email":"${mark}","phone":"${mark}"}\n`,
      'application/x-ndjson',
    ],
  ])('%s', async (_name, body, type) => {
    await load(good)
    await expectStatus(200, change({ columns: rules }))
    await load(good)
    const answer = await loaded(body, type)
    expect([200, 400, 502]).toContain(answer.status)
    expect(JSON.stringify(answer.body)).not.toContain(mark)
    if (answer.status === 200) {
      expect(JSON.stringify(await rowsOf(t.operator, projectId, answer.body.data_object_id))).not.toContain(mark)
    }
  })
})

describe('names and values of a contract are no SQL', () => {
  const hostile = ['a" FROM sales; DROP TABLE sales; --', `'); ATTACH '/etc/passwd' AS x; --`, '$1 {{x}} %s', '""']

  test.each(hostile)('%s', async (text) => {
    await load([{ id: 1, [text]: text }])
    const columns = [{ source_name: text, name: `n ${text}`, type: 'VARCHAR', description: text }]
    const checks = [
      { type: 'not_null', column: `n ${text}` },
      { type: 'unique', columns: ['id', `n ${text}`] },
      { type: 'accepted_values', column: `n ${text}`, values: [text, 1, true] },
      { type: 'freshness', column: `n ${text}`, max_age_minutes: 1 },
    ]
    await expectStatus(200, change({ columns, checks: checks.slice(0, 3) }))
    const { data_object_id: id, held_because: held } = await load([{ id: 1, [text]: text }])
    expect(held).toBeUndefined()
    expect(await rowsOf(t.operator, projectId, id)).toEqual([{ id: 1, [`n ${text}`]: text }])
    await expectStatus(200, change({ checks }))
    expect((await load([{ id: 1, [text]: text }])).held_because).toMatchObject({ reason: 'check_failed' })
    expect((await change({ columns: [{ source_name: text, type: `INTEGER); ${text}` }] })).status).toBe(400)
  })
})

describe('a check is not passed by a value of another kind', () => {
  const first = [
    { id: 1, amount: 10, at: new Date().toISOString() },
    { id: 2, amount: 20, at: new Date().toISOString() },
  ]
  test.each<[string, Record<string, unknown>, string]>([
    ['not_null', { column: 'amount' }, '[{"id":1,"amount":NaN},{"id":2,"amount":1}]'],
    ['not_null', { column: 'amount' }, '[{"id":1},{"id":2,"amount":1}]'],
    ['unique', { columns: ['id'] }, '[{"id":1},{"id":1.0},{"id":1e0}]'],
    ['unique', { columns: ['id'] }, '[{"id":1},{"id":"1"}]'],
    ['accepted_values', { column: 'amount', values: [10, 20] }, '[{"id":1,"amount":"10 or so"}]'],
    ['accepted_values', { column: 'amount', values: [10, 20] }, '[{"id":1,"amount":10.5}]'],
    ['accepted_values', { column: 'amount', values: [10, 20] }, '[{"id":1,"amount":[10]}]'],
    ['freshness', { column: 'at', max_age_minutes: 60 }, '[{"id":1,"at":"infinity"}]'],
    ['freshness', { column: 'at', max_age_minutes: 60 }, '[{"id":1,"at":"9999-12-31T00:00:00Z"}]'],
    ['freshness', { column: 'at', max_age_minutes: 60 }, '[{"id":1,"at":"now"}]'],
    ['freshness', { column: 'at', max_age_minutes: 60 }, '[{"id":1,"at":null}]'],
    ['row_count_share', { min: 0.9 }, '[]'],
  ])('%s %j: %s', async (type, check, body) => {
    await load(first)
    await expectStatus(200, change({ checks: [{ type, ...check }] }))
    const answer = await loaded(body)
    const isRefused = answer.status !== 200
    expect(isRefused || answer.body.held_because !== undefined, JSON.stringify(answer.body)).toBe(true)
    const { body: versions } = await t.operator.get(`${datasource()}/versions`)
    expect(versions.data.find(({ status }: { status: string }) => status === 'live')).toMatchObject({ version: 1 })
  })

  test('a reason repeats a short piece of a value, whatever came', async () => {
    await load(first)
    const checks = [{ type: 'accepted_values', column: 'amount', values: [10, 20] }]
    await expectStatus(200, change({ checks, on_mismatch: 'hold' }))
    const text = 'v'.repeat(1_000_000)
    const { held_because: held } = await load([{ id: 1, amount: text }])
    expect(JSON.stringify(held).length).toBeLessThan(5_000)
    await expectStatus(200, change({ on_mismatch: 'widen' }))
    const { held_because: other } = await load([{ id: 1, amount: text }])
    expect(other.reason).toBe('check_failed')
    expect(JSON.stringify(other).length).toBeLessThan(5_000)
  })
})

test('a contract is read and changed by members alone, and no key knows of it', async () => {
  await load([{ id: 1 }])
  const other = await t.member(await t.project(), 'owner')
  const viewer = await t.member(projectId, 'viewer')
  const permissions = [{ project_id: projectId, environments: '*' }]
  const key = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'k', permissions }))
  const own = `${datasource()}/schema`
  const checks = { checks: [] }
  const statuses = async (who: typeof other | ReturnType<typeof t.withToken>) => [
    (await who.get(own)).status,
    (await who.patch(own, checks)).status,
  ]
  expect(await statuses(other)).toEqual([404, 404])
  expect(await statuses(viewer)).toEqual([200, 403])
  expect((await statuses(t.withToken(key.body.secret))).every((status) => [401, 403, 404].includes(status))).toBe(true)
})
