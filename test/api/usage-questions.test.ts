import { afterAll, beforeAll, expect, test } from 'vitest'
import { keepUsage } from '../../server/usage/index.ts'
import { expectStatus, openTestApp, type Answer, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
  const region = { type: 'string', enum: ['north', 'south', 'east'] }
  await q.deploy({
    name: 'orders_in_region',
    description: 'The orders that came from a region',
    sql: 'SELECT id FROM orders WHERE region = $region ORDER BY id',
    slots: { type: 'object', properties: { region }, required: ['region'] },
    examples: [
      { question: 'Which orders came from the north?', parameters: { region: 'north' } },
      { question: 'show orders of the south', parameters: { region: 'south' } },
    ],
  })
}, 90_000)
afterAll(() => t.close())

const ask = (query: string, headers: Record<string, string> = {}): Promise<Answer> =>
  q.caller.post('/v1/query', { query, project_id: q.projectId }, headers)
const metrics = async (): Promise<Answer['body']> => (await t.operator.get(`/v1/projects/${q.projectId}/metrics`)).body

test('known questions give exactly known numbers', async () => {
  await expectStatus(200, ask('Which orders came from the south?'))
  await expectStatus(200, ask('which orders came  from the SOUTH?'))
  await expectStatus(200, ask('Which orders came from the east?'))
  await expectStatus(422, ask('Who won the world cup?'))
  await expectStatus(422, ask('Who won the World Cup?'))
  await expectStatus(400, q.caller.post('/v1/query', { project_id: q.projectId }))
  await expectStatus(200, q.caller.post('/v1/queries/orders_in_region', { region: 'north' }))
  const { totals, questions, popular_queries: popular } = await metrics()
  expect(totals).toMatchObject({ requests: 7, errors: 3, rejected: 0 })
  expect(popular).toMatchObject([{ query: 'orders_in_region', requests: 4, errors: 0 }])
  expect(questions).toMatchObject({ asked: 6, answered: 3, refused: 2, reasons: { no_match: 2 } })
  expect(questions.top[0]).toMatchObject({ count: 2, query: 'orders_in_region' })
  expect(questions.top).toHaveLength(3)
  expect(questions.unanswered).toMatchObject([{ count: 2, reason: 'no_match' }])
  const log = (await t.operator.get(`/v1/projects/${q.projectId}/requests?entry=question&outcome=answered`)).body.data
  expect(log).toHaveLength(3)
  expect(log[0]).toMatchObject({ question: 'Which orders came from the east?', confidence: expect.any(Number) })
  expect(log[0].route_ms).toBeGreaterThan(0)
  expect(log[0].total_ms).toBeGreaterThan(log[0].route_ms)
})

test('a project that wants no words kept has none in its log', async () => {
  await t.app.store.db
    .insertInto('questionSettings')
    .values({ projectId: q.projectId, log: 'redacted', retentionDays: 30 })
    .execute()
  const answer = await ask('show orders of the north')
  const log = (await t.operator.get(`/v1/projects/${q.projectId}/requests?limit=1`)).body.data
  expect(log[0]).toMatchObject({ id: answer.headers['x-request-id'], entry: 'question', question: null })
})

test('questions counted by hour say the same as single ones, and are dropped with them', async () => {
  const before = (await metrics()).questions
  t.advance(2 * 3_600_000)
  await keepUsage(t.app)
  const counted = () => t.app.store.db.selectFrom('usageQuestions').select(['question', 'calls']).execute()
  expect((await counted()).reduce((sum, { calls }) => sum + calls, 0)).toBe(5)
  await keepUsage(t.app)
  expect((await metrics()).questions).toEqual(before)
  const narrow = `?query=orders_in_region&from=${new Date(Date.now() - 60_000).toISOString()}`
  const narrowed = (await t.operator.get(`/v1/projects/${q.projectId}/metrics${narrow}`)).body.questions
  expect(narrowed.top).toHaveLength(2)
  t.advance(9 * 86_400_000)
  await keepUsage(t.app)
  expect(await counted()).toEqual([])
  t.advance(-9 * 86_400_000 - 2 * 3_600_000)
})
