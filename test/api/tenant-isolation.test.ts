import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type Answer, type TestApp } from '../harness/app.ts'
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
  t = await openTestApp()
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
