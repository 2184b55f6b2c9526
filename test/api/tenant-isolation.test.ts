import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type Answer, type TestApp } from '../harness/app.ts'
import { configurationBy, openAuthorizationServer } from '../harness/authorization-server.ts'
import { connectMcp } from '../harness/mcp.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { putTable } from '../harness/tables.ts'

/** Two projects with the same names everywhere and different data: whatever is asked of one, nothing of the other shows. */

let t: TestApp
let ours: QueryProject
let theirs: QueryProject
/** Stands in every value, column, table and question of the other project, and nowhere in ours. */
const mark = 'zyxqvu'

const goods = {
  name: 'goods',
  description: 'The goods of a maker',
  sql: 'SELECT * FROM goods WHERE maker = $maker ORDER BY id',
  slots: {
    type: 'object',
    properties: { maker: { type: 'string', 'x-values-from': 'goods.maker' } },
    required: ['maker'],
  },
  examples: [
    { question: 'Which goods does Miller make?', parameters: { maker: 'Miller' } },
    { question: 'show the goods of Miller', parameters: { maker: 'Miller' } },
  ],
  cache_seconds: 600,
}

beforeAll(async () => {
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: '127.0.0.1' })
  ours = await openQueryProject(t)
  theirs = await openQueryProject(t)
  await putTable(t.app, ours.projectId, { name: 'goods', rows: [{ id: 1, maker: 'Miller' }] })
  const hidden = [
    { id: 2, maker: 'Miller', [mark]: mark },
    { id: 3, maker: mark, [mark]: mark },
  ]
  await putTable(t.app, theirs.projectId, { name: 'goods', rows: hidden })
  await putTable(t.app, theirs.projectId, { name: `goods_${mark}`, rows: hidden.slice(1) })
  for (const { project, values } of [
    { project: ours, values: ['Miller'] },
    { project: theirs, values: ['Miller', mark] },
  ]) {
    await collectValues(project.projectId, values)
    await project.deploy(goods)
  }
  const secret = { name: `secret_${mark}`, sql: `SELECT "${mark}" FROM goods`, description: `What ${mark} hides` }
  const examples = [{ question: `What does ${mark} hide?` }, { question: `show all ${mark}` }]
  await theirs.deploy({ ...secret, examples })
})
afterAll(() => t.close())

/** As the job does that prepares data. */
async function collectValues(projectId: string, values: string[]): Promise<void> {
  const { db } = t.app.store
  const { id } = await db
    .selectFrom('datasources')
    .select('id')
    .where('projectId', '=', projectId)
    .where('tableName', '=', 'goods')
    .executeTakeFirstOrThrow()
  const rows = values.map((value) => ({ datasourceId: id, columnName: 'maker', value, occurrences: 1 }))
  await db.insertInto('columnValues').values(rows).execute()
}

function expectNothingOfTheirs(answer: Answer, asked = ''): void {
  const { request_id: _id, ...body } = answer.body
  const text = JSON.stringify({ ...body, headers: answer.headers }).replaceAll(asked === '' ? '\0' : asked, '…')
  expect(text).not.toContain(mark)
  expect(text).not.toContain(theirs.projectId)
}

describe('calls', () => {
  test('one name in both projects leads each key to its own rows, also from memory', async () => {
    const call = (project: QueryProject, headers = {}) =>
      project.caller.post('/v1/queries/goods', { maker: 'Miller' }, headers)
    const first = await expectStatus(200, call(theirs))
    expect(first.body.data).toEqual([{ id: 2, maker: 'Miller', [mark]: mark }])
    const ourAnswer = await expectStatus(200, call(ours))
    expect(ourAnswer.body.data).toEqual([{ id: 1, maker: 'Miller' }])
    // The same text, the same slots, and still not what was kept for the other.
    expect([first.headers['x-cache'], ourAnswer.headers['x-cache']]).toEqual(['miss', 'miss'])
    expect((await call(theirs)).headers['x-cache']).toBe('hit')
    const again = await call(ours)
    expect(again.headers['x-cache']).toBe('hit')
    expectNothingOfTheirs(again)
    // What marks their answer marks none of ours.
    const etag = String(first.headers['etag'])
    expect((await call(theirs, { 'if-none-match': etag })).status).toBe(304)
    expect((await call(ours, { 'if-none-match': etag })).status).toBe(200)
  })

  test('403 for the other project, the same as for one that is not there', async () => {
    const to = (projectId: string) => ours.caller.post(`/v1/queries/goods?project_id=${projectId}`, { maker: 'Miller' })
    const [there, nowhere] = [await to(theirs.projectId), await to('prj_00000000000000000000000000')]
    expect(there.status).toBe(403)
    expect({ ...there.body, request_id: '' }).toEqual({ ...nowhere.body, request_id: '' })
    const unknown = await ours.caller.post(`/v1/queries/secret_${mark}`, {})
    expect(unknown.status).toBe(404)
    expectNothingOfTheirs(unknown, `secret_${mark}`)
  })
})

describe('SQL', () => {
  const preview = (sql: string) => t.operator.post(`${ours.path}/goods/preview`, { sql, slots: { properties: {} } })

  test.each([
    ['a table of the other', `SELECT * FROM goods_${mark}`],
    ['a column of the other', `SELECT "${mark}" FROM goods`],
    ['nearly the name of a table of the other', `SELECT * FROM goods_${mark}s`],
    ['the catalog', 'SELECT * FROM information_schema.columns'],
    ['the files', "SELECT * FROM read_parquet('*')"],
    ['the other by its id', `SELECT * FROM "{project}".goods`],
  ])('%s is refused, and the refusal suggests nothing of it', async (_name, sql) => {
    const text = sql.replace('{project}', theirs.projectId)
    const answer = await preview(text)
    expect(answer.status).toBe(400)
    const asked = [`goods_${mark}s`, `goods_${mark}`, mark].find((word) => text.includes(word)) ?? theirs.projectId
    expectNothingOfTheirs(answer, asked)
  })

  test('a name that only the other has is suggested only there', async () => {
    const sql = `SELECT * FROM goods_${mark.slice(0, 4)}`
    expectNothingOfTheirs(await preview(sql))
    const there = await t.operator.post(`${theirs.path}/goods/preview`, { sql, slots: { properties: {} } })
    // The suggestion exists, so that its absence above means something.
    expect(JSON.stringify(there.body)).toContain(mark)
  })
})

describe('questions', () => {
  const ask = (project: QueryProject, query: string) =>
    project.caller.post('/v1/query', { query, project_id: project.projectId, explain: true })

  test('are read with the values and queries of their own project', async () => {
    const known = await expectStatus(200, ask(theirs, `Which goods does ${mark} make?`))
    expect(known.body.parameters).toEqual({ maker: mark })
    const unknown = await ask(ours, `Which goods does ${mark} make?`)
    expect([unknown.status, unknown.body.error]).toEqual([422, 'invalid_query'])
    expectNothingOfTheirs(unknown, mark)
    const hidden = await ask(ours, 'What is hidden?')
    expect(hidden.status).toBe(422)
    expectNothingOfTheirs(hidden)
    const foreign = await ours.caller.post('/v1/query', { query: 'goods of Miller', project_id: theirs.projectId })
    expect(foreign.status).toBe(403)
    expectNothingOfTheirs(foreign, theirs.projectId)
  })
})

describe('what a project tells of itself', () => {
  test('holds no call, question, object, job or name of the other', async () => {
    await theirs.caller.post(`/v1/queries/secret_${mark}`, {})
    await theirs.caller.post('/v1/query', { query: `hide ${mark}`, project_id: theirs.projectId })
    // A third project, because ours was asked for what is theirs, and its log says so.
    const own = await openQueryProject(t)
    await own.deploy({ name: 'orders_of_all', sql: 'SELECT * FROM orders' })
    await own.caller.post('/v1/queries/orders_of_all')
    await own.caller.post('/v1/query', { query: 'how many orders', project_id: own.projectId })
    const owner = await t.member(own.projectId, 'owner')
    const path = `/v1/projects/${own.projectId}`
    const objects = await expectStatus(200, owner.get(`${path}/data-objects`))
    const lineages = objects.body.data.map(({ id }: { id: string }) => `${path}/data-objects/${id}/lineage`)
    const rows = objects.body.data.map(({ id }: { id: string }) => `${path}/data-objects/${id}/rows`)
    const pages =
      'metrics requests questions questions/unanswered queries deployments datasources jobs alerts evaluations'
    const all = [...pages.split(' ').map((page) => `${path}/${page}`), ...lineages, ...rows]
    for (const url of [
      ...all,
      '/v1/projects',
      '/v1/api-keys',
      '/v1/management-tokens',
      `/v1/audit?project_id=${own.projectId}`,
    ]) {
      expectNothingOfTheirs(await expectStatus(200, owner.get(url)))
    }
    // They are there for whoever may see them.
    const shown = await t.operator.get(`/v1/projects/${theirs.projectId}/requests`)
    expect(JSON.stringify(shown.body)).toContain(mark)
  })

  test('404 for what belongs to the other under the path of ours', async () => {
    const foreign = await expectStatus(200, t.operator.get(`/v1/projects/${theirs.projectId}/data-objects`))
    const owner = await t.member(ours.projectId, 'owner')
    for (const { id, datasource_id: source } of foreign.body.data) {
      for (const path of [
        `data-objects/${id}`,
        `data-objects/${id}/rows`,
        `data-objects/${id}/lineage`,
        `datasources/${source}`,
      ]) {
        const answer = await owner.get(`/v1/projects/${ours.projectId}/${path}`)
        expect(answer.status).toBe(404)
        expectNothingOfTheirs(answer)
      }
    }
  })
})

describe('tools and documents', () => {
  test('a key sees the tools, tables and document of its own project, and no address of another’s is one', async () => {
    const origin = await t.listen()
    const [client, other] = [await connectMcp(origin, ours.secret), await connectMcp(origin, theirs.secret)]
    try {
      const lists = async (of: typeof client) =>
        JSON.stringify([await of.listTools(), await of.listResources(), await of.listResourceTemplates()])
      // They are there for who may see them, so that their absence means something.
      expect(await lists(other)).toContain(mark)
      const shown = await lists(client)
      expect(shown).toContain('goods')
      expect(shown).not.toContain(mark)
      expect(shown).not.toContain(theirs.projectId)
      const nowhere = 'prj_00000000000000000000000000'
      const refusal = async (uri: string): Promise<string> => {
        const words = await client.readResource({ uri }).then(
          (read) => `read: ${JSON.stringify(read)}`,
          (error: unknown) => String(error),
        )
        return words.replaceAll(uri, '…').replaceAll(encodeURIComponent(uri), '…')
      }
      const { resources } = await other.listResources()
      const rows = `sluice://projects/${theirs.projectId}/environments/production/queries/goods/rows?version=1`
      const addresses = [...resources.map(({ uri }) => uri), rows]
      expect(addresses.length).toBeGreaterThan(2)
      for (const uri of addresses) {
        const answer = await refusal(uri)
        expect(answer).toBe(await refusal(uri.replace(theirs.projectId, nowhere)))
        expect(answer).not.toMatch(/^read/)
      }
      const called = await client.callTool({ name: `secret_${mark}`, arguments: {} }).catch(String)
      expect(JSON.stringify(called).replaceAll(`secret_${mark}`, '…')).not.toContain(mark)
      const asked = await client.callTool({ name: 'ask', arguments: { question: 'What is hidden?' } })
      expect(JSON.stringify(asked)).not.toContain(mark)
    } finally {
      await Promise.all([client.close(), other.close()])
    }
  })

  test('the document of a project has its own queries only, and that of another is out of reach', async () => {
    const documentOf = (projectId: string) => ours.caller.get(`/v1/projects/${projectId}/openapi.json`)
    const own = await expectStatus(200, documentOf(ours.projectId))
    expect(JSON.stringify(own.body)).toContain('/v1/queries/goods')
    expectNothingOfTheirs(own)
    const [there, nowhere] = [await documentOf(theirs.projectId), await documentOf('prj_00000000000000000000000000')]
    expect(there.status).toBe(403)
    expect({ ...there.body, request_id: '' }).toEqual({ ...nowhere.body, request_id: '' })
  })
})

describe('releases and what they are tried with', () => {
  const settings = { recording: true, max_calls: 100, days: 7, redacted_slots: [] }

  test('a replay runs the calls of its own project, on its own rows', async () => {
    await t.app.jobs.start()
    const [here, there] = [await openQueryProject(t), theirs]
    await putTable(t.app, here.projectId, { name: 'goods', rows: [{ id: 1, maker: 'Miller' }] })
    await here.deploy(goods)
    for (const { projectId } of [here, there]) {
      await expectStatus(200, t.operator.put(`/v1/projects/${projectId}/replay-settings`, settings))
    }
    await expect.poll(() => t.app.callWatch.isOn, { timeout: 10_000 }).toBe(true)
    await expectStatus(200, there.caller.post('/v1/queries/goods', { maker: mark }))
    await expectStatus(200, there.caller.post('/v1/queries/goods', { maker: 'Miller' }))
    const { name, ...content } = goods
    const changed = { ...content, sql: content.sql.replace('*', 'id + 1 AS id, maker') }
    await expectStatus(200, t.operator.put(`${here.path}/${name}`, changed))
    const replays = `/v1/projects/${here.projectId}/replays`
    const owner = await t.member(here.projectId, 'owner')
    let replay: Answer['body'] = {}
    const recordedHere = async (): Promise<number> => {
      await expectStatus(200, here.caller.post('/v1/queries/goods', { maker: 'Miller' }))
      await t.app.recorder.flush()
      replay = (await expectStatus(200, owner.post(replays, { queries: [{ name }] }))).body
      return replay['calls'] ?? 0
    }
    // The word that recording is on may come after the first call.
    await expect.poll(recordedHere, { timeout: 30_000 }).toBe(1)
    const pages = [`${replays}/${replay.id}`, `${replays}/${replay.id}/calls`]
    const { body } = await expectStatus(200, owner.get(`${replays}/${replay.id}/calls`))
    expect(body.data).toHaveLength(1)
    for (const url of [replays, ...pages, ...body.data.map(({ id }: { id: string }) => `${pages[1]}/${id}`)]) {
      expectNothingOfTheirs(await expectStatus(200, owner.get(url)))
    }
  })

  test('definitions, histories and variables hold nothing of the other', async () => {
    const variable = { name: `var_${mark}`, value: mark }
    await expectStatus(201, t.operator.post(`/v1/projects/${theirs.projectId}/variables`, variable))
    const asked = await theirs.caller.post('/v1/query', { query: `hide ${mark}`, project_id: theirs.projectId })
    const report = { expected_query: 'goods' }
    const reported = `/v1/projects/${theirs.projectId}/questions/${String(asked.headers['x-request-id'])}/report`
    await expectStatus(201, t.operator.post(reported, report))
    const own = await openQueryProject(t)
    await own.deploy({ name: 'goods', sql: 'SELECT * FROM orders' })
    const owner = await t.member(own.projectId, 'owner')
    const pages = 'definition releases replays replay-settings counter-examples variables environments members'
    for (const page of pages.split(' ')) {
      const answer = await expectStatus(200, owner.get(`/v1/projects/${own.projectId}/${page}`))
      expectNothingOfTheirs(answer)
    }
    const shown = async (page: string) =>
      JSON.stringify((await t.operator.get(`/v1/projects/${theirs.projectId}/${page}`)).body)
    for (const page of ['definition', 'releases', 'counter-examples', 'variables'])
      expect(await shown(page)).toContain(mark)
  })

  test('a definition that is put changes the project of its path and no other of the same names', async () => {
    const own = await openQueryProject(t)
    await own.deploy({ name: 'goods', sql: 'SELECT * FROM orders' })
    const definitionOf = async (projectId: string) =>
      (await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/definition`))).body
    const before = await definitionOf(theirs.projectId)
    const editor = await t.member(own.projectId, 'editor')
    const put = (projectId: string, search = '') =>
      editor.put(`/v1/projects/${projectId}/definition${search}`, { definition: 1, queries: [], variables: [] })
    expect((await put(theirs.projectId)).status).toBe(404)
    expectNothingOfTheirs(await expectStatus(200, put(own.projectId, '?check=true')))
    expect(await definitionOf(theirs.projectId)).toEqual(before)
  })
})

describe('what other APIs granted', () => {
  test('a connection with the same addresses and client gets no token of another project’s', async () => {
    const server = await openAuthorizationServer()
    try {
      const [mine, other] = [await t.member(ours.projectId, 'owner'), await t.member(theirs.projectId, 'owner')]
      const config = configurationBy(server)
      const made = async (person: typeof mine, { projectId }: QueryProject): Promise<string> => {
        const body = { name: 'granted', kind: 'http_api', config }
        return (await expectStatus(201, person.post(`/v1/projects/${projectId}/datasources`, body))).body.id
      }
      const [here, there] = [await made(mine, ours), await made(other, theirs)]
      const begin = `/v1/projects/${theirs.projectId}/datasources/${there}/authorization`
      const { authorization_url: url } = (await expectStatus(201, other.post(begin))).body
      const back = await server.agree(url)
      const returned = {
        server: back.pathname.split('/').at(-1),
        state: back.searchParams.get('state'),
        code: back.searchParams.get('code'),
      }
      expect((await mine.post('/v1/oauth/return', returned)).status).toBe(400)
      await expectStatus(200, other.post('/v1/oauth/return', returned))
      const tested = (person: typeof mine, projectId: string, id: string) =>
        person.post('/v1/http/test-connection', { ...config, project_id: projectId, datasource_id: id })
      expect((await tested(other, theirs.projectId, there)).body).toMatchObject({ success: true })
      const answers = server.apiAnswers.length
      expect((await tested(mine, ours.projectId, here)).body.error).toMatchObject({ code: 'token_refused' })
      // Neither by the other's datasource under our path, nor in the other's project.
      expect((await tested(mine, ours.projectId, there)).body).not.toMatchObject({ success: true })
      const foreign = await tested(mine, theirs.projectId, there)
      expect(foreign.status).toBe(404)
      expect(server.apiAnswers.length).toBe(answers)
    } finally {
      await server.close()
    }
  })

  test('a variable or secret of another project is unknown', async () => {
    const server = await openAuthorizationServer()
    try {
      const mine = await t.member(ours.projectId, 'owner')
      const secret = { name: 'only_theirs', value: mark, secret: true, origins: [server.origin] }
      await expectStatus(201, t.operator.post(`/v1/projects/${theirs.projectId}/variables`, secret))
      const request = { url: server.apiUrl, method: 'GET', headers: { 'X-Note': '{{secret:only_theirs}}' } }
      const answer = await mine.post('/v1/http/test-connection', { ...request, project_id: ours.projectId })
      expect(answer.body).not.toMatchObject({ success: true })
      expectNothingOfTheirs(answer)
      expect(server.apiAnswers).toEqual([])
    } finally {
      await server.close()
    }
  })
})
