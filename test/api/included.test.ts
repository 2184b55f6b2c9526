import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { makeTable } from '../harness/incremental.ts'
import { openAppWithSource, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource({}))
  await t.app.jobs.start()
  projectId = await t.project()
})
afterAll(() => t.close())

const type = { 'content-type': 'application/vnd.api+json' }
const person = (id: string, name: string) =>
  `{"type":"people","id":"${id}","attributes":{"name":"${name}","number":9007199254740993}}`
const article = (id: string, relationships: object) =>
  JSON.stringify({ type: 'articles', id, attributes: { title: `Article ${id}` }, relationships })
const to = (...ids: string[]) => ids.map((id) => ({ type: 'people', id }))
const author = (id: string) => ({ author: { data: { type: 'people', id } } })
const page = (rows: string[], included: string[], next: string | null) =>
  `{"data":[${rows.join(',')}]${included.length > 0 ? `,"included":[${included.join(',')}]` : ''},"links":{"next":${JSON.stringify(next)}}}`

test('JSON:API: rows get what the answer includes, page by page', async () => {
  const rows = [
    article('1', { ...author('9'), readers: { data: to('9', '8') }, id: { data: { type: 'people', id: '8' } } }),
    article('2', { ...author('404'), readers: { data: [] }, editor: { data: null } }),
  ]
  const pages: Record<string, string> = {
    '/data': page(rows, [person('9', 'Ada'), person('8', 'Ben')], `${source.url}?page=2`),
    '/data?page=2': page([article('3', author('7'))], [person('7', 'Cleo')], `${source.url}?page=3`),
    '/data?page=3': page([article('4', {})], [], null),
  }
  source.handle((request, response) => void response.writeHead(200, type).end(pages[request.url ?? '']))
  const config = { url: source.url, method: 'GET' }
  const tested = await expectStatus(200, t.operator.post('/v1/http/test-connection', { ...config, detect: true }))
  expect(tested.body.detected).toMatchObject({
    rows: { path: 'data' },
    pagination: { type: 'next_link', path: 'links.next' },
    included: true,
  })
  const whole = { ...config, responsePathExtractor: 'data', included: true }
  const table = await makeTable(t, projectId, { config: whole, pagination: { type: 'next_link', path: 'links.next' } })
  expect(await table.refresh()).toMatchObject({ status: 'succeeded', details: { pages: 3, rows: 4 } })
  const sql = `select id, author.name as author, author.number::varchar as number, readers[2].name as reader, id_included.name as other from orders order by id`
  const query = { name: 'read', sql }
  await expectStatus(201, t.operator.post(`/v1/projects/${projectId}/queries`, query))
  const preview = `/v1/projects/${projectId}/queries/read/preview`
  const { body } = await expectStatus(200, t.operator.post(preview, { parameters: {}, sql }))
  expect(body.data).toEqual([
    { id: '1', author: 'Ada', number: '9007199254740993', reader: 'Ben', other: 'Ben' },
    { id: '2', author: null, number: null, reader: null, other: null },
    { id: '3', author: 'Cleo', number: '9007199254740993', reader: null, other: null },
    { id: '4', author: null, number: null, reader: null, other: null },
  ])
})

test('one answer is joined, too, and one that includes nothing stays as it is', async () => {
  source.answer(page([article('1', author('9'))], [person('9', 'Ada')], null), type)
  const config = { url: source.url, method: 'GET', responsePathExtractor: 'data', included: true }
  const one = await makeTable(t, projectId, { name: 'One', config })
  expect(await one.refresh()).toMatchObject({ status: 'succeeded' })
  expect(await one.rows()).toMatchObject([{ id: '1', author: { name: 'Ada' } }])
  source.answer([{ id: 1 }, 2])
  const { responsePathExtractor: _, ...plain } = config
  const other = await makeTable(t, projectId, { name: 'Other', config: plain })
  expect(await other.refresh()).toMatchObject({ status: 'succeeded' })
})
