import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
  q = await openQueryProject(t)
  await q.deploy({
    name: 'orders_in_region',
    description: 'Orders that came from a region',
    sql: 'SELECT id FROM orders WHERE region = $region',
    slots: region,
    examples: asked('north', 'south', 'east'),
  })
  await q.deploy({
    name: 'amount_by_day',
    description: 'The amount that came in on each day',
    sql: 'SELECT day, sum(amount) AS amount FROM orders GROUP BY day ORDER BY day',
    examples: ['How much came in each day?', 'daily amount', 'sum per day'].map((question) => ({ question })),
  })
})
afterAll(() => t.close())

const region = {
  type: 'object',
  properties: { region: { type: 'string', enum: ['north', 'south', 'east'] } },
  required: ['region'],
}

function asked(...regions: string[]) {
  const words = ['Which orders came from the', 'Show me orders of the', 'List what was ordered in the']
  return regions.map((each, at) => ({ question: `${words[at]} ${each}`, parameters: { region: each } }))
}

const thief = {
  description: 'Revenue of a region',
  sql: 'SELECT sum(amount) AS revenue FROM orders WHERE region = $region',
  slots: region,
  examples: [
    { question: 'What is the revenue of the north?', parameters: { region: 'north' } },
    { question: 'Which orders came from the north', parameters: { region: 'north' } },
  ],
}

describe('deploy', () => {
  test('409 for a query that takes a question of another, with the confusion; nothing changes', async () => {
    await expectStatus(201, t.operator.post(q.path, { name: 'thief', ...thief }))
    const answer = await t.operator.post(`${q.path}/thief/deploy`, {})
    expect(answer).toMatchObject({ status: 409, body: { error: 'conflict', reason: 'routing_regression' } })
    expect(answer.body.routing.checked).toBeGreaterThanOrEqual(6)
    expect(answer.body.routing.regressions).toContainEqual({
      question: 'Which orders came from the north',
      query: 'orders_in_region',
      taken_by: 'thief',
      source: 'example',
    })
    expect((await t.operator.get(`${q.path}/thief`)).body.deployments).toEqual([])
  })

  test('200 with check names questions that would be taken by other words for the same', async () => {
    const parrot = {
      ...thief,
      name: 'orders_per_region',
      description: 'Orders which came from a region',
      examples: [
        { question: 'Which orders did come from the east', parameters: { region: 'east' } },
        { question: 'Show orders of the north', parameters: { region: 'north' } },
        { question: 'List what the south ordered', parameters: { region: 'south' } },
      ],
    }
    await expectStatus(201, t.operator.post(q.path, parrot))
    const { body } = await t.operator.post(`${q.path}/orders_per_region/deploy`, { check: true })
    expect(body.routing.checked).toBeGreaterThanOrEqual(9)
    const own = new Set(asked('north', 'south', 'east').map(({ question }) => question))
    const taken = body.routing.regressions.filter((each: { question: string }) => own.has(each.question))
    expect(taken.length).toBeGreaterThan(0)
    for (const each of taken) {
      expect(each).toMatchObject({ query: 'orders_in_region', taken_by: 'orders_per_region', source: 'example' })
    }
  })

  test('200 with check says the same and changes nothing', async () => {
    const { status, body } = await t.operator.post(`${q.path}/thief/deploy`, { check: true })
    expect(status).toBe(200)
    expect(body.routing.regressions.map((each: { query: string }) => each.query)).toContain('orders_in_region')
    expect((await t.operator.get(`${q.path}/thief`)).body.deployments).toEqual([])
  })

  test('200 with force goes through, and undeploying gives the question back', async () => {
    const forced = await t.operator.post(`${q.path}/thief/deploy`, { force: true })
    expect(forced).toMatchObject({ status: 200, body: { status: 'deployed' } })
    expect(forced.body.routing.regressions.length).toBeGreaterThan(0)
    await expectStatus(200, t.operator.post(`${q.path}/thief/undeploy`, { environment: 'production' }))
    const ask = { query: 'Which orders came from the north', project_id: q.projectId }
    expect((await q.caller.post('/v1/query', ask)).body).toMatchObject({
      query_used: 'orders_in_region',
      parameters: { region: 'north' },
      row_count: 10,
    })
  })

  test('200 for a neighbour that asks for something else, with all questions asked again', async () => {
    const examples = ['What is the revenue of the north?', 'revenue in the east', 'How much money did the south make?']
    const [north, east, south] = examples
    const query = {
      ...thief,
      name: 'revenue_of_region',
      examples: [
        { question: north, parameters: { region: 'north' } },
        { question: east, parameters: { region: 'east' } },
        { question: south, parameters: { region: 'south' } },
      ],
    }
    await expectStatus(201, t.operator.post(q.path, query))
    const { status, body } = await t.operator.post(`${q.path}/revenue_of_region/deploy`, {})
    expect({ status, routing: body.routing }).toEqual({ status: 200, routing: { checked: 9, regressions: [] } })
    const ask = { query: 'revenue of the south', project_id: q.projectId }
    expect((await q.caller.post('/v1/query', ask)).body).toMatchObject({ query_used: 'revenue_of_region' })
  })

  test('200 with check names a confirmed question that would be taken', async () => {
    const question = 'Everything that the south has ordered'
    const own = await q.caller.post('/v1/query', { query: question, project_id: q.projectId })
    expect(own.body).toMatchObject({ query_used: 'orders_in_region' })
    const confirm = { questions: [question], as: 'evaluation', query: 'orders_in_region' }
    // The log of questions is written in batches.
    await expect
      .poll(async () => (await t.operator.post(`/v1/projects/${q.projectId}/questions/resolve`, confirm)).body)
      .toMatchObject({ evaluations: [{ source: 'confirmed' }] })
    const examples = [{ question, parameters: { region: 'south' } }]
    await expectStatus(201, t.operator.post(q.path, { ...thief, name: 'greedy', examples }))
    const { body } = await t.operator.post(`${q.path}/greedy/deploy`, { check: true })
    const taken = { question, query: 'orders_in_region', taken_by: 'greedy', source: 'confirmed' }
    expect(body.routing.regressions).toContainEqual(taken)
  })

  test('409 for all but one of several that take the same question at the same time', async () => {
    const names = ['cellar_a', 'cellar_b', 'cellar_c']
    const examples = ['How cold is the cellar?', 'cellar temperature', 'degrees below'].map((question) => ({
      question,
    }))
    for (const name of names) {
      const draft = { name, description: 'The temperature of the cellar', sql: 'SELECT 7 AS degrees', examples }
      await expectStatus(201, t.operator.post(q.path, draft))
    }
    const deploy = (name: string) => t.operator.post(`${q.path}/${name}/deploy`, { environment: 'staging' })
    const answers = await Promise.all(names.map(deploy))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
    const refused = answers.filter(({ status }) => status === 409).map(({ body }) => body.reason)
    expect(refused).toEqual(['routing_regression', 'routing_regression'])
    const others = ['kitchen', 'garden', 'attic'].map((room) => ({
      name: `of_${room}`,
      description: `Chairs in the ${room}`,
      sql: 'SELECT 4 AS chairs',
      examples: [{ question: `How many chairs are in the ${room}?` }],
    }))
    for (const draft of others) await expectStatus(201, t.operator.post(q.path, draft))
    const peaceful = await Promise.all(others.map(({ name }) => deploy(name)))
    expect(peaceful.map(({ status }) => status)).toEqual([200, 200, 200])
  })

  test('200 for a check of undeploying says which questions would be refused and who would take the others', async () => {
    const check = { environment: 'production', check: true }
    const { body: report } = await expectStatus(200, t.operator.post(`${q.path}/orders_in_region/undeploy`, check))
    expect(report).toMatchObject({ version: 1, previous_version: 1, status: 'undeployed' })
    expect(report.callers.map((each: { name: string }) => each.name)).toEqual(['test'])
    expect(report.routing.checked).toBe(4)
    expect(report.routing.regressions).toContainEqual({
      question: 'Everything that the south has ordered',
      query: 'orders_in_region',
      taken_by: null,
      source: 'confirmed',
    })
    const moves = (body: typeof report): Array<[string, string | null]> =>
      body.routing.regressions.map((each: { question: string; taken_by: string | null }) => [
        each.question,
        each.taken_by,
      ])
    const { body } = await expectStatus(200, t.operator.post(`${q.path}/amount_by_day/undeploy`, check))
    expect(moves(body)).toEqual([
      ['How much came in each day?', null],
      ['daily amount', null],
      ['sum per day', null],
    ])
    // It was only asked for: it is still there, and who has called it is known.
    const ask = { query: 'daily amount', project_id: q.projectId }
    expect((await q.caller.post('/v1/query', ask)).body).toMatchObject({ query_used: 'amount_by_day' })
    expect((await t.operator.post(`${q.path}/thief/undeploy`, check)).status).toBe(404)
  })
})
