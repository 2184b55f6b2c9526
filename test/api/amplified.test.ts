import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, operatorToken, type TestApp } from '../harness/app.ts'
import { openModelProject, type ModelProject } from '../harness/models.ts'

/** Short requests that would stand for long answers, and lists whose entries are each as long as may be. */

let t: TestApp
let p: ModelProject
beforeAll(async () => {
  t = await openTestApp()
  await t.app.jobs.start()
  p = await openModelProject(t)
  await p.load('orders', [{ id: 1 }, { id: 2 }])
  await expectStatus(201, t.operator.post(`${p.path}/queries`, { name: 'which', sql: 'SELECT id FROM orders' }))
})
afterAll(() => t.close())

const times = <Item>(length: number, item: (at: number) => Item): Item[] => Array.from({ length }, (_, at) => item(at))
const imported = async (document: object, operation?: string) =>
  t.operator.post('/v1/http/import', { text: JSON.stringify(document), ...(operation !== undefined && { operation }) })

describe('what is imported is no longer than what one reads of it', () => {
  const openapi = { openapi: '3.1.0', info: { title: 'x' }, servers: [{ url: 'https://api.example' }] }

  test('paths that share one long summary', async () => {
    const shared = { get: { summary: 's'.repeat(100_000) } }
    const paths = {
      ...Object.fromEntries(times(500, (at) => [`/t/${at}`, { $ref: '#/x' }])),
      [`/${'l'.repeat(2_000)}`]: {},
    }
    const { body } = await expectStatus(200, imported({ ...openapi, paths, x: shared }))
    expect(body.operations).toHaveLength(500)
    expect(body.operations[0]).toEqual({ id: 'GET /t/0', method: 'GET', url: '/t/0', summary: 's'.repeat(300) })
  })

  test('requests whose address is one long variable', async () => {
    const item = times(500, (at) => ({ name: `n${at}`, request: '{{v}}' }))
    const { body } = await expectStatus(200, imported({ item, variable: [{ key: 'v', value: 'v'.repeat(100_000) }] }))
    expect(body.operations).toHaveLength(500)
    expect(JSON.stringify(body).length).toBeLessThan(1_000_000)
  })

  test('a path that nobody can ask for is left out, and said to be', async () => {
    const paths = { '/a': { get: {} }, [`/${'l'.repeat(2_000)}`]: { get: {} } }
    const { body } = await expectStatus(200, imported({ ...openapi, paths }))
    expect(body).toMatchObject({ operations: [{ id: 'GET /a' }], truncated: true })
  })

  test('an operation with a long example, and one with many notes', async () => {
    const example = { a: times(200_000, () => 1) }
    const post = { requestBody: { content: { 'application/json': { schema: {}, example } } } }
    const refused = await expectStatus(400, imported({ ...openapi, paths: { '/a': { post } } }, 'POST /a'))
    expect(refused.body.message).toBe('The operation makes a request of more than 262144 characters.')
    const noted = `/${times(900, () => '{a}').join('')}`.slice(0, 900)
    const { body } = await expectStatus(200, imported({ ...openapi, paths: { [noted]: { get: {} } } }, `GET ${noted}`))
    expect(body.connection.notes).toHaveLength(100)
  })

  test('a curl command whose fields are called as what every object has', async () => {
    const command = "curl https://api.example -F 'constructor=1' -F '__proto__=2' -F constructor=3"
    const { body } = await expectStatus(200, t.operator.post('/v1/http/import-curl', { command }))
    const content = JSON.parse('{ "constructor": ["1", "3"], "__proto__": ["2"] }')
    expect(body.configuration.body).toEqual({ type: 'multipart', content })
  })
})

describe('values that an author gives as an example are short, and examples no more than a query may have', () => {
  const long = { id: 'i'.repeat(8_200) }

  test('a case, an example, and those that are made of questions', async () => {
    const asked = { question: 'which', expected_query: 'which', expected_parameters: long }
    const { body } = await expectStatus(400, t.operator.post(`${p.path}/evaluations`, asked))
    expect(body.details[0].message).toBe('have more than 8192 characters as JSON')
    const examples = [{ question: 'which', parameters: long }]
    await expectStatus(400, t.operator.put(`${p.path}/queries/which`, { sql: 'SELECT id FROM orders', examples }))
    const questions = { questions: ['which'], as: 'evaluation', query: 'which', parameters: long }
    await expectStatus(400, t.operator.post(`${p.path}/questions/resolve`, questions))
  })

  test('the example after the last', async () => {
    const examples = times(500, (at) => ({ question: `which number ${at}` }))
    await expectStatus(200, t.operator.put(`${p.path}/queries/which`, { sql: 'SELECT id FROM orders', examples }))
    const more = { questions: ['which is it'], as: 'example', query: 'which' }
    const { body } = await expectStatus(400, t.operator.post(`${p.path}/questions/resolve`, more))
    expect(body.details[0].message).toBe('are too many: which has 500 examples, and may have 500')
  })
})

describe('what authors write is bounded together, for a definition holds all of it', () => {
  const config = (chars: number) => ({ url: 'https://api.example', method: 'POST', body: raw('c'.repeat(chars)) })
  const raw = (content: string) => ({ type: 'raw', content })
  const full = (what: string, bytes: number) =>
    `${what} of a project hold at most ${bytes} bytes together. Make this one shorter, or delete another.`

  test('connections and APIs, with the contracts of tables', async () => {
    const { path } = await openModelProject(t)
    const add = async (name: string, chars: number) =>
      t.operator.post(`${path}/datasources`, { name, kind: 'http_api', config: config(chars) })
    const ids: string[] = []
    for (let at = 0; at < 16; at += 1) {
      ids.push((await expectStatus(201, add(`table ${at}`, 1_000_000))).body.id)
    }
    const { message } = (await expectStatus(409, add('last', 1_000_000))).body
    expect(message).toBe(full('Connections and APIs', 16_777_216))
    const base = { url: 'https://api.example', headers: { 'x-long': 'h'.repeat(900_000) } }
    await expectStatus(409, t.operator.post(`${path}/apis`, { name: 'last', config: base }))
    await expectStatus(201, add('short', 600_000))
    const schema = `${path}/datasources/${ids[0]}/schema`
    const columns = times(900, (at) => ({ source_name: `column ${at}`, description: 'd'.repeat(900) }))
    await expectStatus(409, t.operator.patch(schema, { columns }))
    const definition = await expectStatus(
      409,
      t.operator.put(`${path}/definition?prune=false`, {
        definition: 1,
        connections: [{ table_name: 'one_more', name: 'one more', kind: 'http_api', config: config(900_000) }],
      }),
    )
    expect(definition.body.message).toBe(full('Connections and APIs', 16_777_216))
    await expectStatus(404, t.operator.get(`${path}/datasources/one_more`))

    // An earlier version let more in: all of it is there, and may become less.
    const sealed = 'select project_id, config, sealed_secrets, kind from datasources where id = $1'
    await t.app.store.pool.query(
      `insert into datasources (id, name, table_name, project_id, config, sealed_secrets, kind)
       select 'ds_more' || at, 'more ' || at, 'more_' || at, s.* from (${sealed}) s, generate_series(1, 4) at`,
      [ids[0]],
    )
    expect((await expectStatus(200, t.operator.get(`${path}/datasources?limit=200`))).body.data).toHaveLength(21)
    const whole = (await expectStatus(200, t.operator.get(`${path}/definition`))).body
    expect(whole.connections).toHaveLength(21)
    const same = await expectStatus(200, t.operator.put(`${path}/definition?prune=false`, whole))
    expect(new Set(same.body.plan.map((each: { action: string }) => each.action))).toEqual(new Set(['unchanged']))
    await expectStatus(200, t.operator.patch(`${path}/datasources/${ids[1]}`, { config: config(900_000) }))
    await expectStatus(409, t.operator.patch(`${path}/datasources/${ids[1]}`, { config: config(900_001) }))
  }, 120_000)

  test('queries', async () => {
    const { path } = await openModelProject(t)
    const examples = (chars: number) => times(500, (at) => ({ question: `which number ${at} ${'q'.repeat(chars)}` }))
    const query = (name: string, chars: number) => ({ name, sql: 'SELECT 1 AS one', examples: examples(chars) })
    const queries = (from: number) => times(30, (at) => query(`query_${from + at}`, 960))
    const put = async (from: number) =>
      t.operator.put(`${path}/definition?prune=false`, { definition: 1, queries: queries(from) })
    await expectStatus(200, put(0))
    await expectStatus(200, put(30))
    const { message } = (await expectStatus(409, put(60))).body
    expect(message).toBe(full('Queries', 33_554_432))
    const room = await t.operator.post(`${path}/queries`, query('last', 900))
    expect([room.status, (await t.operator.put(`${path}/queries/query_0`, query('query_0', 10))).status]).toEqual([
      201, 200,
    ])
    expect((await expectStatus(200, t.operator.get(`${path}/definition`))).body.queries).toHaveLength(61)
  }, 120_000)
})

test('rows that are too long to show are compared and counted', async () => {
  const sql = (text: string) => `SELECT id, repeat('${text}', CASE id WHEN 1 THEN 1 ELSE 20000 END) AS cell FROM orders`
  await expectStatus(201, t.operator.post(`${p.path}/models`, { name: 'cells', sql: sql('a') }))
  await p.settled()
  for (const key of [['id'], undefined]) {
    const { body } = await expectStatus(200, t.operator.post(`${p.path}/models/cells/compare`, { sql: sql('b'), key }))
    const { added, changed, examples } = body
    expect({ added, changed }).toEqual(key === undefined ? { added: 2, changed: 0 } : { added: 0, changed: 2 })
    const cells = (examples as Array<{ after: { cell: string } | null }>).flatMap(({ after }) => after?.cell ?? [])
    expect(cells).toEqual(['b'])
  }
})

test('a page of entries of megabytes is written in pieces, and a short one at once', async () => {
  const headers = { authorization: `Bearer ${operatorToken}` }
  const get = async () => t.http.inject({ url: `${p.path}/apis`, headers })
  const add = async (name: string, chars: number) => {
    const config = { url: 'https://api.example', headers: { 'x-long': 'h'.repeat(chars) } }
    await expectStatus(201, t.operator.post(`${p.path}/apis`, { name, config }))
  }
  await add('one', 10)
  const short = await get()
  expect(Number(short.headers['content-length'])).toBe(short.payload.length)
  await add('two', 300_000)
  await add('three', 300_000)
  const whole = await get()
  expect(whole.headers['content-length']).toBeUndefined()
  expect(JSON.parse(whole.payload).data.map((each: { name: string }) => each.name)).toEqual(['one', 'two', 'three'])
})
