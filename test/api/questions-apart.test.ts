import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

/** Two projects of the same tables and queries. The operator may see both: only the address tells them apart. */
let t: TestApp
let one: QueryProject
let other: QueryProject
beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
  one = await openQueryProject(t)
  other = await openQueryProject(t)
  for (const [project, value] of [
    [one, 'Norrland'],
    [other, 'Atlantis'],
  ] as const) {
    const { id } = await t.app.store.db
      .selectFrom('datasources')
      .select('id')
      .where('projectId', '=', project.projectId)
      .executeTakeFirstOrThrow()
    const row = { datasourceId: id, columnName: 'region', value, occurrences: 1 }
    await t.app.store.db.insertInto('columnValues').values(row).execute()
    await project.deploy(inRegion)
  }
}, 90_000)
afterAll(() => t.close())

const inRegion = {
  name: 'orders_in_region',
  description: 'The orders that came from a region',
  sql: 'SELECT id FROM orders WHERE region = $region ORDER BY id',
  slots: {
    type: 'object',
    properties: { region: { type: 'string', 'x-values-from': 'orders.region' } },
    required: ['region'],
  },
  examples: ['Which orders came from a region?', 'show orders of a region'].map((question) => ({ question })),
}

function ask({ caller, projectId }: QueryProject, query: string, environment = 'production') {
  return caller.post(`/v1/query?environment=${environment}`, { query, project_id: projectId, explain: true })
}

const at = ({ projectId }: QueryProject) => `/v1/projects/${projectId}`

test('a question knows the values of its own project only', async () => {
  expect((await ask(one, 'Which orders came from Norrland?')).body.parameters).toEqual({ region: 'Norrland' })
  expect((await ask(other, 'Which orders came from Atlantis?')).body.parameters).toEqual({ region: 'Atlantis' })
  const { status, body } = await ask(one, 'Which orders came from Atlantis?')
  expect(status).toBe(422)
  expect(body.routing).toMatchObject({ parameters: {}, sources: {}, unused: [] })
})

test('cases and runs of another project cannot be read, changed or deleted', async () => {
  const expected = { question: 'Which orders came from Atlantis?', expected_query: null }
  const made = await expectStatus(201, t.operator.post(`${at(other)}/evaluations`, expected))
  const run = await expectStatus(201, t.operator.post(`${at(other)}/evaluations/run`, {}))
  const case_ = `${at(one)}/evaluations/${made.body.id}`
  expect((await t.operator.put(case_, { ...expected, question: 'x' })).status).toBe(404)
  expect((await t.operator.delete(case_)).status).toBe(404)
  expect((await t.operator.get(`${at(one)}/evaluations/runs/${run.body.id}`)).status).toBe(404)
  expect((await t.operator.get(`${at(one)}/evaluations/runs`)).body.data).toEqual([])
  expect((await t.operator.get(`${at(one)}/evaluations`)).body.data).toEqual([])
  expect((await t.operator.post(`${at(one)}/evaluations/run`, {})).body.total).toBe(0)
  expect((await t.operator.get(`${at(other)}/evaluations`)).body.data).toMatchObject([expected])
})

test('what was asked in another project or environment is in no list, group or resolution of this one', async () => {
  const question = 'How deep is the sea?'
  await ask(other, question)
  await ask(one, 'Who painted the fence?', 'staging')
  expect(JSON.stringify((await t.operator.get(`${at(one)}/questions`)).body)).not.toContain('sea')
  const groups = async (query = '') => {
    const { body } = await t.operator.get(`${at(one)}/questions/unanswered${query}`)
    return body.data.map((group: { question: string }) => group.question)
  }
  expect(await groups()).not.toContain(question)
  expect(await groups('?environment=staging')).toEqual(['Who painted the fence?'])
  expect(await groups('?environment=development')).toEqual([])
  const dismissed = await t.operator.post(`${at(one)}/questions/resolve`, { questions: [question], as: 'dismissed' })
  expect(dismissed.body.resolved).toBe(0)
  const { body } = await t.operator.get(`${at(other)}/questions/unanswered`)
  expect(body.data.map((group: { question: string }) => group.question)).toContain(question)
})

test('a stored question is a fault of a deployment only where it was right before', async () => {
  const wrong = { question: 'Which orders came from Norrland?', expected_query: null }
  await expectStatus(201, t.operator.post(`${at(one)}/evaluations`, wrong))
  const fails = { question: 'Show orders of Norrland', expected_query: 'orders_in_region' }
  const params = { ...fails, expected_parameters: { region: 'Elsewhere' } }
  await expectStatus(201, t.operator.post(`${at(one)}/evaluations`, params))
  const run = await expectStatus(201, t.operator.post(`${at(one)}/evaluations/run`, {}))
  expect(run.body.results).toMatchObject([
    { passed: false, got: { outcome: 'answered' } },
    { passed: false, got: { query: 'orders_in_region', parameters: { region: 'Norrland' } } },
  ])
  const newcomer = {
    name: 'chairs',
    description: 'How many chairs there are',
    sql: 'SELECT 4 AS chairs',
    examples: [{ question: 'How many chairs are there?' }],
  }
  await expectStatus(201, t.operator.post(one.path, newcomer))
  const checked = await expectStatus(200, t.operator.post(`${one.path}/chairs/deploy`, { check: true }))
  expect(checked.body.routing).toMatchObject({ checked: 5, regressions: [] })
})
