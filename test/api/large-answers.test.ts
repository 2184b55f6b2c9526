import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type Client, type TestApp } from '../harness/app.ts'
import { openSource, type Source } from '../harness/source.ts'

/** Large answers are looked at in an executor, and shown in part. How long anybody waits: `npm test -- neighbours`. */

let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  source = await openSource()
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: source.host }, { ownProcesses: true })
  projectId = await t.project()
})
afterAll(async () => {
  await t.close()
  await source.close()
})

const shownBytes = 262_144
const list = (text: string, count: number): string => `[${Array.from({ length: count }, () => text).join(',')}]`
const call = (config: object = {}, client: Client = t.operator) =>
  client.post('/v1/http/test-connection', { url: source.url, method: 'GET', ...config })
const executors = (): number => t.observations.filter(({ kind }) => kind === 'executor-started').length

describe('a test of a connection with a large answer', () => {
  test('is looked at in an executor, and says that what it shows is a part', async () => {
    const before = executors()
    source.answer([{ id: 1 }])
    expect((await call({ detect: true })).body).toMatchObject({ data: [{ id: 1 }] })
    expect(executors()).toBe(before)
    const row = '{"id":1234,"name":"Ada Lovelace","price":0.12345678901234567}'
    source.answer(`{"items":${list(row, 100_000)},"total":200000,"page":1,"next_cursor":"c"}`)
    const { body } = await expectStatus(200, call({ detect: true }))
    expect(executors()).toBe(before + 1)
    expect(JSON.stringify(body.data).length).toBeLessThan(shownBytes)
    expect(body).toMatchObject({
      success: true,
      truncated: true,
      size: 100_000 * (row.length + 1) + 53,
      // What follows the rows is shown and found all the same.
      data: { total: 200_000, next_cursor: 'c' },
      detected: {
        rows: { path: 'items', count: 100_000 },
        pagination: { type: 'cursor', path: 'next_cursor', parameter: 'cursor' },
      },
    })
    expect(body.data.items.length).toBeGreaterThan(1_000)
    expect(body.data.items[0]).toEqual({ id: 1234, name: 'Ada Lovelace', price: '0.12345678901234567' })
    const { body: taken } = await call({ responsePathExtractor: 'items.*.name' })
    expect(taken).toMatchObject({ success: true, truncated: true })
    expect(new Set(taken.data)).toEqual(new Set(['Ada Lovelace']))
  })

  test('of OData is read beside metadata of megabytes, and beside such as have no end', async () => {
    const property = (_: unknown, at: number) => `<Property Name="p${at}" Type="Edm.Int32"/>`
    const types = Array.from({ length: 20_000 }, (_, at) => `<EntityType Name="T${at}">${property(_, at)}</EntityType>`)
    const order = `<EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Guid"/>${Array.from({ length: 2_000 }, property).join('')}</EntityType>`
    const sets = '<EntityContainer Name="All"><EntitySet Name="Orders" EntityType="Shop.Order"/></EntityContainer>'
    const whole = `<Schema Namespace="Shop">${types.join('')}${order}${sets}</Schema>`
    expect(whole.length).toBeGreaterThan(1_000_000)
    let metadata = whole
    source.handle((request, response) => {
      const isMetadata = request.url?.endsWith('$metadata') === true
      const rows = JSON.stringify({ '@odata.context': '$metadata#Orders', value: [{ ID: 'a', p0: 1 }] })
      response.writeHead(200, { 'content-type': isMetadata ? 'application/xml' : 'application/json' })
      response.end(isMetadata ? metadata : rows)
    })
    const found = async () => (await expectStatus(200, call({ detect: true }))).body.detected
    const { primary_key: key, columns } = await found()
    expect([key, columns.length]).toEqual([['ID'], 1_000])
    expect(columns.slice(0, 2)).toEqual([
      { source_name: 'ID', type: 'VARCHAR' },
      { source_name: 'p0', type: 'BIGINT' },
    ])
    metadata = '<a>'.repeat(400_000)
    const beside = await found()
    expect(beside).toMatchObject({ rows: { path: 'value' } })
    expect('columns' in beside).toBe(false)
  })

  test('whose members all lack what the extractor names ends with a sentence', async () => {
    source.answer(list('1', 1_500_000))
    const { body } = await expectStatus(200, call({ responsePathExtractor: '*.*' }))
    expect(body).toMatchObject({
      success: false,
      status: 200,
      truncated: true,
      error: { code: 'not_tabular', message: expect.stringContaining('more than 1,000,000 members') as string },
    })
    source.answer(list('1e400', 500_000))
    const extractor = Array.from({ length: 500 }, () => '*').join('.')
    const { body: stars } = await expectStatus(200, call({ responsePathExtractor: extractor, detect: true }))
    expect(stars).toMatchObject({
      success: false,
      error: { code: 'extractor_no_match' },
      detected: { rows: { path: '', count: 500_000 } },
    })
    expect(stars.data[0]).toBe('1e400')
  })

  test('of text shows the beginning', async () => {
    source.answer('x'.repeat(1_000_000), { 'content-type': 'text/plain' })
    const { body } = await expectStatus(200, call())
    expect(body).toMatchObject({ success: true, truncated: true, size: 1_000_000 })
    expect(body.data).toMatch(/^x{100000,262144}$/)
  })
})

test('pages go on by what stands behind their rows, however large they are', async () => {
  const page = (from: number): string =>
    `{"rows":[${Array.from({ length: 20_000 }, (_, at) => `{"id":${from + at},"text":"${'x'.repeat(20)}"}`).join(',')}],"total":40000,"more":${from === 0}}`
  source.handle((request, response) => {
    const after = new URL(request.url ?? '', source.url).searchParams.get('after')
    response.writeHead(200, { 'content-type': 'application/json' }).end(page(after === null ? 0 : Number(after) + 1))
  })
  const config = { url: source.url, method: 'GET', responsePathExtractor: 'rows' }
  const pagination = { type: 'cursor', from: 'last_row', path: 'id', parameter: 'after', has_more_path: 'more' }
  const spec = { name: 'paged', id: 'http_api', config }
  const asked = { project_id: projectId, datasource_id: 'paged', connect_spec: spec, ...config, pagination }
  const { body } = await expectStatus(200, t.operator.post('/v1/http/execute-request', asked))
  const object = await t.operator.get(`/v1/projects/${projectId}/data-objects/${body.data_object_id}`)
  expect(object.body).toMatchObject({ row_count: 40_000, truncated: false })
})

test('403 for a viewer who names a project; 429 for a person who names none again and again', async () => {
  source.answer([])
  const viewer = await t.member(projectId, 'viewer')
  expect((await call({ project_id: projectId }, viewer)).status).toBe(403)
  expect((await call({ project_id: projectId }, await t.member(projectId, 'editor'))).status).toBe(200)
  const answers = await Promise.all(Array.from({ length: 90 }, () => call({}, viewer)))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(60)
  const refused = answers.find(({ status }) => status === 429)
  expect(refused?.body).toMatchObject({ error: 'rate_limit_exceeded' })
  expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0)
  expect((await call({}, await t.member(projectId, 'viewer'))).status).toBe(200)
})
