import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let project: QueryProject

const settingsPath = (): string => `/v1/projects/${project.projectId}/replay-settings`
const replaysPath = (): string => `/v1/projects/${project.projectId}/replays`
const on = { recording: true, max_calls: 100, days: 7, redacted_slots: [] as string[] }

const byRegion = {
  name: 'revenue_by_region',
  description: 'Revenue of each region',
  sql: 'SELECT region, sum(amount)::DECIMAL(18,2) AS revenue FROM orders WHERE id <= $most GROUP BY region ORDER BY region',
  slots: { type: 'object', properties: { most: { type: 'integer' } }, required: ['most'] },
}

beforeAll(async () => {
  t = await openTestApp()
  await t.app.jobs.start()
  project = await openQueryProject(t)
  await project.deploy(byRegion)
})

afterAll(() => t.close())

async function record(settings: Record<string, unknown> = {}): Promise<void> {
  await expectStatus(200, t.operator.put(settingsPath(), { ...on, ...settings }))
  await heard()
}

/** The word of a change arrives shortly after it. */
async function heard(): Promise<void> {
  await expect.poll(() => t.app.callWatch.isOn, { timeout: 10_000 }).toBe(true)
}

async function callFor(values: number[]): Promise<void> {
  for (const most of values) await expectStatus(200, project.caller.post('/v1/queries/revenue_by_region', { most }))
}

async function editTo(sql: string, more: Record<string, unknown> = {}): Promise<void> {
  const { name, ...content } = byRegion
  await expectStatus(200, t.operator.put(`${project.path}/${name}`, { ...content, sql, ...more }))
}

async function recorded(): Promise<number> {
  await t.app.recorder.flush()
  const { count } = await t.app.store.db
    .selectFrom('recordedCalls')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('projectId', '=', project.projectId)
    .executeTakeFirstOrThrow()
  return count
}

test('nothing is recorded until it is switched on, and a replay says so', async () => {
  await callFor([3])
  expect(await recorded()).toBe(0)
  expect((await t.operator.get(settingsPath())).body).toEqual({ ...on, recording: false, max_calls: 1000 })
  const refused = await t.operator.post(replaysPath(), {})
  expect(refused).toMatchObject({ status: 409, body: { error: 'conflict', reason: 'not_recording' } })
})

test('recorded calls run on the draft beside what answers, and differences are counted by column', async () => {
  await record()
  await callFor([3, 6, 9, 30])
  await editTo(
    'SELECT region, (sum(amount) + CASE WHEN $most > 8 THEN 1 ELSE 0 END)::DECIMAL(18,2) AS revenue FROM orders WHERE id <= $most GROUP BY region ORDER BY region',
  )
  const { body } = await expectStatus(200, t.operator.post(replaysPath(), {}))
  expect(body).toMatchObject({
    status: 'finished',
    recorded: 4,
    calls: 4,
    equal: 2,
    reordered: 0,
    different: 2,
    failed: 0,
    columns: { revenue: 2 },
    summary: 'Of 4 calls 2 equal, 2 different in revenue.',
  })
  expect(body.queries).toMatchObject([{ name: 'revenue_by_region', calls: 4 }])
  expect(body.before_bytes).toBeGreaterThan(0)

  const { body: calls } = await expectStatus(200, t.operator.get(`${replaysPath()}/${body.id}/calls?outcome=different`))
  expect(calls.data).toHaveLength(2)
  const { body: call } = await expectStatus(
    200,
    t.operator.get(`${replaysPath()}/${body.id}/calls/${calls.data[0].id}`),
  )
  expect(call).toMatchObject({
    outcome: 'different',
    before_version: 1,
    after_version: null,
    comparison: { key: ['region'], changed: 3, added: 0, removed: 0, changed_columns: { revenue: 3 } },
  })
  expect([9, 30]).toContain(call.parameters.most)
  const [{ before, after }] = call.comparison.sample
  expect(after.revenue).toBe(before.revenue + 1)
})

test('rows in another order, and a version that fails, are told apart', async () => {
  await editTo(
    "SELECT region, CASE WHEN $most = 30 THEN error('no more') ELSE sum(amount) END::DECIMAL(18,2) AS revenue FROM orders WHERE id <= $most GROUP BY region ORDER BY region DESC",
  )
  const { body } = await expectStatus(200, t.operator.post(replaysPath(), {}))
  expect(body).toMatchObject({ calls: 4, equal: 0, reordered: 3, different: 0, failed: 1 })
  const { body: calls } = await expectStatus(200, t.operator.get(`${replaysPath()}/${body.id}/calls?outcome=failed`))
  const { body: call } = await expectStatus(
    200,
    t.operator.get(`${replaysPath()}/${body.id}/calls/${calls.data[0].id}`),
  )
  expect(call.before.row_count).toBe(3)
  expect(call.after.error.message).toContain('no more')
})

test('what does not answer twice alike is no difference of the new version', async () => {
  await project.deploy({ name: 'a_sample', description: 'Any number', sql: 'SELECT random() AS x' })
  await expectStatus(200, project.caller.post('/v1/queries/a_sample', {}))
  await expectStatus(
    200,
    t.operator.put(`${project.path}/a_sample`, { description: 'Any number', sql: 'SELECT random() * 2 AS x' }),
  )
  const { body } = await expectStatus(200, t.operator.post(replaysPath(), { queries: [{ name: 'a_sample' }] }))
  expect(body).toMatchObject({ calls: 1, different: 0, unstable: 1 })
})

test('a slot that is kept out of the record is not there, and an example stands in for it', async () => {
  await record({ redacted_slots: ['most'] })
  expect(await recorded()).toBe(0)
  await callFor([4, 5])
  expect(await recorded()).toBe(2)
  const rows = await t.app.store.db.selectFrom('recordedCalls').select('sealedParameters').execute()
  expect(rows.map(({ sealedParameters }) => t.app.vault.open(sealedParameters))).toEqual([{}, {}])
  await editTo(byRegion.sql, { timeout_ms: 9_000 })
  const without = await expectStatus(200, t.operator.post(replaysPath(), {}))
  expect(without.body).toMatchObject({ calls: 2, skipped: 2 })
  await project.deploy({
    ...byRegion,
    examples: [{ question: 'Revenue of the first 9 orders', parameters: { most: 9 } }],
  })
  await editTo(byRegion.sql, { timeout_ms: 8_000 })
  const filled = await expectStatus(200, t.operator.post(replaysPath(), {}))
  expect(filled.body).toMatchObject({ calls: 2, equal: 2, skipped: 0 })

  // A call that differs says what was kept out of it.
  await editTo(byRegion.sql.replace('sum(amount)', '(sum(amount) + 1)'))
  const { body } = await expectStatus(200, t.operator.post(replaysPath(), {}))
  const calls = `${replaysPath()}/${body.id}/calls`
  const { body: page } = await expectStatus(200, t.operator.get(calls))
  const { body: call } = await expectStatus(200, t.operator.get(`${calls}/${page.data[0].id}`))
  expect(call).toMatchObject({ outcome: 'different', parameters: {}, redacted: ['most'] })
  // Keeping one more out deletes the calls of replays, too.
  await record({ redacted_slots: ['most', 'other'] })
  expect((await expectStatus(200, t.operator.get(calls))).body.data).toEqual([])
  expect((await expectStatus(200, t.operator.get(`${replaysPath()}/${body.id}`))).body.different).toBe(2)
})

test('values are sealed at rest, and gone once recording is switched off', async () => {
  await record({ redacted_slots: [] })
  await callFor([7])
  expect(await recorded()).toBeGreaterThan(0)
  const rows = await t.app.store.db.selectFrom('recordedCalls').select('sealedParameters').execute()
  for (const { sealedParameters } of rows) expect(sealedParameters.toString('latin1')).not.toContain('most')
  await expectStatus(200, t.operator.put(settingsPath(), { ...on, recording: false }))
  expect(await recorded()).toBe(0)
  // A process that has not heard of it yet writes nothing either: who writes asks the settings themselves.
  t.app.recorder.note({
    projectId: project.projectId,
    environment: 'production',
    queryId: 'qry_x',
    version: 1,
    keyId: null,
    parameters: { most: 1 },
    failed: false,
  })
  expect(await recorded()).toBe(0)
})

test('the newest calls are kept, as many and as long as the project says', async () => {
  await record({ max_calls: 3, days: 2 })
  await callFor([1, 2, 3, 4, 5])
  await t.app.recorder.flush()
  const { forgetRecordedCalls } = await import('../../server/rollout/index.ts')
  await forgetRecordedCalls(t.app)
  expect(await recorded()).toBe(3)
  t.advance(3 * 86_400_000)
  await forgetRecordedCalls(t.app)
  expect(await recorded()).toBe(0)
  t.advance(-3 * 86_400_000)
})

test('calls of one query that are the same count once, with how many they were', async () => {
  await record()
  await t.app.recorder.flush()
  await callFor([8, 8, 8, 8])
  await t.app.recorder.flush()
  const rows = await t.app.store.db.selectFrom('recordedCalls').select('times').execute()
  expect(rows.reduce((sum, { times }) => sum + times, 0)).toBe(4)
  expect(rows.length).toBeLessThan(4)
})

test('a deleted query takes its recorded calls along', async () => {
  await record()
  await project.deploy({ name: 'short_lived', description: 'One', sql: 'SELECT 1 AS one' })
  await expectStatus(200, project.caller.post('/v1/queries/short_lived', {}))
  const before = await recorded()
  await expectStatus(200, t.operator.post(`${project.path}/short_lived/undeploy`, {}))
  await expectStatus(204, t.operator.delete(`${project.path}/short_lived`))
  expect(await recorded()).toBe(before - 1)
})

test('a check does not wait longer than its limit, and says what is not done', async () => {
  // Nobody runs jobs here: the replay stays where it was begun.
  const other = await openTestApp({}, { bounds: { replayWaitMs: 50 } })
  try {
    const own = await openQueryProject(other)
    const path = `/v1/projects/${own.projectId}`
    await own.deploy({ name: 'one', description: 'One', sql: 'SELECT 1 AS one' })
    await expectStatus(200, other.operator.put(`${path}/replay-settings`, on))
    await expectStatus(200, other.operator.put(`${own.path}/one`, { description: 'One', sql: 'SELECT 2 AS one' }))
    const { body } = await expectStatus(200, other.operator.post(`${path}/releases`, { queries: 'all', check: true }))
    expect(body.replay).toMatchObject({ status: 'running', recorded: null, calls: 0 })
    const { body: later } = await expectStatus(200, other.operator.get(`${path}/replays/${body.replay.id}`))
    expect(later).toMatchObject({ id: body.replay.id, status: 'running' })
    const { body: job } = await expectStatus(200, other.operator.get(`/v1/jobs/${later.job_id}`))
    expect(job).toMatchObject({ job_type: 'replay_calls', status: 'queued' })

    // What is cancelled before it ran runs no more, and says so.
    await expectStatus(200, other.operator.post(`/v1/jobs/${later.job_id}/cancel`, {}))
    const { body: ended } = await expectStatus(200, other.operator.get(`${path}/replays/${body.replay.id}`))
    expect(ended).toMatchObject({ status: 'stopped', recorded: null, calls: 0, finished_at: expect.any(String) })
    await expectStatus(201, other.operator.post(`/v1/jobs/${later.job_id}/retry`, {}))
    await other.app.jobs.start()
    await expect
      .poll(async () => (await other.operator.get(`${path}/replays/${body.replay.id}`)).body.status, {
        timeout: 30_000,
      })
      .toBe('finished')
  } finally {
    await other.close()
  }
})

test('a replay that is cancelled says what it has seen, and runs whole when it is retried', async () => {
  const slow = await openTestApp({}, { bounds: { replayWaitMs: 0, replayCallsPerSecond: 2 } })
  try {
    await slow.app.jobs.start()
    const own = await openQueryProject(slow)
    const path = `/v1/projects/${own.projectId}`
    await own.deploy({ name: 'some', description: 'Some', sql: 'SELECT id FROM orders WHERE id <= $most ORDER BY id' })
    await expectStatus(200, slow.operator.put(`${path}/replay-settings`, on))
    await expect.poll(() => slow.app.callWatch.isOn, { timeout: 10_000 }).toBe(true)
    for (let most = 1; most <= 8; most += 1) await expectStatus(200, own.caller.post('/v1/queries/some', { most }))
    const sql = 'SELECT id FROM orders WHERE id <= $most ORDER BY id DESC'
    await expectStatus(200, slow.operator.put(`${own.path}/some`, { description: 'Some', sql }))
    const { body } = await expectStatus(200, slow.operator.post(`${path}/replays`, {}))
    const look = async () => (await expectStatus(200, slow.operator.get(`${path}/replays/${body.id}`))).body
    await expect.poll(async () => (await look()).calls, { timeout: 30_000 }).toBeGreaterThan(0)
    await expectStatus(200, slow.operator.post(`/v1/jobs/${body.job_id}/cancel`, {}))
    await expect.poll(async () => (await look()).status, { timeout: 30_000 }).toBe('stopped')
    const stopped = await look()
    expect(stopped.recorded).toBe(8)
    expect(stopped.calls).toBeLessThan(8)
    await expect
      .poll(async () => (await slow.operator.post(`/v1/jobs/${body.job_id}/retry`, {})).status, { timeout: 30_000 })
      .toBeLessThan(300)
    await expect.poll(async () => (await look()).status, { timeout: 60_000 }).toBe('finished')
    // One row is in whatever order it is in.
    expect(await look()).toMatchObject({ calls: 8, equal: 1, reordered: 7 })
    const { body: calls } = await expectStatus(200, slow.operator.get(`${path}/replays/${body.id}/calls`))
    expect(calls.data).toHaveLength(7)
    expect(calls.data[0]).toMatchObject({ parameters: { most: expect.any(Number) } })
    expect(calls.data.map((each: { after_rows: number }) => each.after_rows)).toEqual(
      calls.data.map((each: { before_rows: number }) => each.before_rows),
    )
  } finally {
    await slow.close()
  }
})
