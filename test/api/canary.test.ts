import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { expectStatus, openTestApp, type Answer, type Client, type TestApp } from '../harness/app.ts'
import { versionFor } from '../../server/queries/index.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let project: QueryProject
let callers: Client[]
let keys: Array<{ id: string; secret: string }>

const releases = (): string => `/v1/projects/${project.projectId}/releases`
const count = {
  name: 'order_count',
  description: 'How many orders there are',
  sql: 'SELECT count(*)::INTEGER AS n FROM orders',
}
const total = {
  name: 'order_total',
  description: 'The total amount of all orders',
  sql: 'SELECT sum(amount)::DECIMAL(18,2) AS total FROM orders WHERE id <= $most',
  slots: { type: 'object', properties: { most: { type: 'integer', default: 100 } }, required: [] },
}

beforeAll(async () => {
  t = await openTestApp({}, { bounds: { shadowCallsPerSecond: 1000 } })
  project = await openQueryProject(t)
  keys = []
  for (let at = 0; at < 200; at += 1) keys.push(await newKey())
  callers = keys.map(({ secret }) => t.withToken(secret))
  await project.deploy({ ...count, examples: [{ question: 'How many orders are there?', parameters: {} }] })
  await project.deploy(total)
})

afterAll(() => t.close())

/** What one test tries out is not in the way of the next. */
afterEach(async () => {
  for (const trial of t.app.deployments.trials()) {
    await expectStatus(200, t.operator.post(`${releases()}/${trial.releaseId}/rollback`, {}))
  }
})

async function newKey(): Promise<{ id: string; secret: string }> {
  const permissions = [{ project_id: project.projectId, environments: '*' }]
  const body = { name: 'caller', plan: 'unlimited', permissions }
  return (await expectStatus(201, t.operator.post('/v1/api-keys', body))).body
}

/** Which version a key gets is chance, so callers are asked until both have answered, and some more. */
function* until(isEnough: () => boolean): Generator<Client> {
  for (const [index, caller] of callers.entries()) {
    if (index >= 8 && isEnough()) return
    yield caller
  }
}

let edits = 0

/** Saves drafts that differ from what is live, and releases both. */
async function release(
  more: Record<string, unknown>,
  drafts: Partial<Record<'count' | 'total', string>> = {},
): Promise<Answer> {
  edits += 1
  await save(count, drafts.count ?? `${count.sql} WHERE ${edits} = ${edits}`)
  await save(total, drafts.total ?? `${total.sql} AND ${edits} = ${edits}`)
  return t.operator.post(releases(), { queries: [{ name: count.name }, { name: total.name }], ...more })
}

async function save({ name, ...content }: typeof count, sql: string): Promise<void> {
  await expectStatus(200, t.operator.put(`${project.path}/${name}`, { ...content, sql }))
}

async function versionOf(caller: Client, name = count.name): Promise<number> {
  return (await expectStatus(200, caller.post(`/v1/queries/${name}`, {}))).body.version
}

/** Which version of a query a release has. */
function versionIn(release: { queries: Array<{ name: string; version: number }> }, name: string): number | undefined {
  return release.queries.find((each) => each.name === name)?.version
}

async function find(id: string) {
  return (await expectStatus(200, t.operator.get(`${releases()}/${id}`))).body
}

test('a canary answers its share of 200 keys, each key by one version in every query and every call', async () => {
  const before = await versionOf(project.caller)
  const { body } = await expectStatus(200, release({ canary: { percent: 30 } }))
  expect(body).toMatchObject({ status: 'canary', canary: { percent: 30, ended_at: null } })
  const version = versionIn(body, count.name)
  const first = await Promise.all(callers.map((caller) => versionOf(caller)))
  const isNew = first.map((each) => each === version)
  expect(new Set(first)).toEqual(new Set([before, version]))
  // Five standard deviations of 200 draws at 0.3.
  const answered = isNew.filter(Boolean).length
  expect(answered).toBeGreaterThan(60 - 33)
  expect(answered).toBeLessThan(60 + 33)
  expect(await Promise.all(callers.map((caller) => versionOf(caller)))).toEqual(first)
  const totalVersion = versionIn(body, total.name)
  const other = await Promise.all(callers.map((caller) => versionOf(caller, total.name)))
  expect(other.map((each) => each === totalVersion)).toEqual(isNew)

  const stepped = await expectStatus(200, t.operator.post(`${releases()}/${body.id}/continue`, { percent: 60 }))
  expect(stepped.body).toMatchObject({ status: 'canary', canary: { percent: 60 } })
  const second = await Promise.all(callers.map((caller) => versionOf(caller)))
  for (const [at, was] of isNew.entries()) if (was) expect(second[at]).toBe(version)
  expect(second.filter((each) => each === version).length).toBeGreaterThan(answered)

  const done = await expectStatus(200, t.operator.post(`${releases()}/${body.id}/continue`, {}))
  expect(done.body.status).toBe('released')
  expect(new Set(await Promise.all(callers.map((caller) => versionOf(caller))))).toEqual(new Set([version]))
})

test('a question is answered by the version that answers the direct calls of its key', async () => {
  const { body } = await expectStatus(200, release({ canary: { percent: 50 } }))
  const version = versionIn(body, count.name)
  const seen = new Set<number>()
  for (const caller of until(() => seen.size === 2)) {
    const direct = await versionOf(caller)
    const asked = await expectStatus(
      200,
      caller.post('/v1/query', { query: 'How many orders are there?', project_id: project.projectId }),
    )
    expect(asked.body).toMatchObject({ query_used: count.name, version: direct })
    seen.add(direct)
  }
  expect(seen).toContain(version)
  expect(seen.size).toBe(2)
})

test('a question fills the slots of the version that answers its key', async () => {
  const query = (slot: string) => ({
    description: 'The largest orders',
    sql: `SELECT id, amount FROM orders ORDER BY amount DESC LIMIT $${slot}`,
    slots: { type: 'object', properties: { [slot]: { type: 'integer' } }, required: [slot] },
    examples: [{ question: 'What are the 5 largest orders?', parameters: { [slot]: 5 } }],
  })
  await project.deploy({ name: 'largest', ...query('most') })
  await expectStatus(200, t.operator.put(`${project.path}/largest`, query('how_many')))
  const given = { queries: [{ name: 'largest' }], canary: { percent: 50 }, force: true }
  await expectStatus(200, t.operator.post(releases(), given))
  const seen = new Set<string>()
  for (const caller of until(() => seen.size === 2)) {
    const body = { query: 'What are the 3 largest orders?', project_id: project.projectId }
    const asked = await expectStatus(200, caller.post('/v1/query', body))
    const [slot = ''] = Object.keys(asked.body.parameters)
    expect(asked.body.parameters).toEqual({ [slot]: 3 })
    const direct = await expectStatus(200, caller.post('/v1/queries/largest', { [slot]: 3 }))
    expect(direct.body).toMatchObject({ version: asked.body.version, data: asked.body.data })
    // What tools and documents say of a query is said of the version that answers whoever reads it.
    const document = await expectStatus(200, caller.get(`/v1/projects/${project.projectId}/openapi.json`))
    const described = JSON.stringify(document.body.paths['/v1/queries/largest'])
    expect(described).toContain(`"${slot}"`)
    expect(described).not.toContain(slot === 'most' ? '"how_many"' : '"most"')
    seen.add(slot)
  }
  expect(seen).toEqual(new Set(['most', 'how_many']))
})

test('answers that are kept are never those of the other version', async () => {
  const cached = { name: 'kept', description: 'A kept one', sql: 'SELECT 1 AS x', cache_seconds: 600 }
  await project.deploy(cached)
  await expectStatus(200, t.operator.put(`${project.path}/kept`, { ...cached, name: undefined, sql: 'SELECT 2 AS x' }))
  await expectStatus(200, t.operator.post(releases(), { queries: [{ name: 'kept' }], canary: { percent: 50 } }))
  const [trial] = [...t.app.deployments.trials()]
  const states = new Set<unknown>()
  for (let round = 0; round < 2; round += 1) {
    for (const caller of callers.slice(0, 10)) {
      const { body, headers } = await expectStatus(200, caller.post('/v1/queries/kept', {}))
      states.add(headers['x-cache'])
      expect(body.data).toEqual([{ x: body.version === trial?.versions.get('kept')?.number ? 2 : 1 }])
    }
  }
  expect(states).toContain('hit')
})

test('while it steps up and becomes everyone’s, no key falls back to the version before', async () => {
  const { body } = await expectStatus(200, release({ canary: { percent: 20 } }))
  const over = new AbortController()
  const seen = callers.slice(0, 60).map(async (caller) => {
    const versions: number[] = []
    while (!over.signal.aborted) versions.push(await versionOf(caller))
    // A call that had begun ended on the version it found; the next one begins now.
    return [...versions, await versionOf(caller)]
  })
  const moves = async (): Promise<void> => {
    for (const percent of [50, 80, 100]) {
      await expectStatus(200, t.operator.post(`${releases()}/${body.id}/continue`, { percent }))
    }
  }
  await moves().finally(() => over.abort())
  const all = await Promise.all(seen)
  const version = versionIn(body, count.name)
  for (const versions of all) expect(versions).toEqual(versions.toSorted((left, right) => left - right))
  expect(new Set(all.map((versions) => versions.at(-1)))).toEqual(new Set([version]))
})

test('it steps up by itself and ends as released', async () => {
  const { body } = await expectStatus(200, release({ canary: { percent: 20, step: { percent: 50, seconds: 60 } } }))
  await t.app.canaries.judge()
  expect((await find(body.id)).canary.percent).toBe(20)
  const shares: number[] = []
  for (let step = 0; step < 3; step += 1) {
    t.advance(61_000)
    await t.app.canaries.judge()
    shares.push((await find(body.id)).canary.percent)
  }
  expect(shares).toEqual([70, 100, 100])
  expect((await find(body.id)).status).toBe('released')
  const { body: history } = await expectStatus(200, t.operator.get(`${project.path}/${count.name}/history`))
  expect(history.data[0]).toMatchObject({ act: 'deploy', by: 'system' })
})

test('it does not step up on silence where something could take it back', async () => {
  const canary = { percent: 20, step: { percent: 50, seconds: 60 }, roll_back_on: { error_rate: 0.1, min_calls: 3 } }
  const { body } = await expectStatus(200, release({ canary }))
  t.advance(61_000)
  await t.app.canaries.judge()
  expect((await find(body.id)).canary.percent).toBe(20)
  const [trial] = [...t.app.deployments.trials()]
  // All of them: of forty, one time in a hundred fewer than three meet it.
  for (const caller of callers) await versionOf(caller)
  expect(trial).toBeDefined()
  await t.app.canaries.judge()
  expect((await find(body.id)).canary.percent).toBe(70)
})

test('two processes choose alike, and one of them steps up, once', async () => {
  const other = await openTestApp({ SLUICE_DATABASE_URL: t.app.config.databaseUrl ?? '' })
  try {
    const canary = { percent: 40, step: { percent: 20, seconds: 60 } }
    const { body } = await expectStatus(200, release({ canary }))
    const share = (): number | undefined => [...other.app.deployments.trials()][0]?.share
    await expect.poll(share, { timeout: 10_000 }).toBe(4_000)
    const here = await Promise.all(callers.slice(0, 50).map((caller) => versionOf(caller)))
    expect(new Set(here).size).toBe(2)
    // It has no data of its own to answer with, so it is asked whom it would choose.
    const place = { projectId: project.projectId, environment: 'production', name: count.name }
    const deployment = other.app.deployments.find(place)
    const there = keys.slice(0, 50).map(({ id }) => deployment && versionFor(deployment, id).number)
    expect(there).toEqual(here)
    t.advance(61_000)
    other.advance(61_000)
    await Promise.all([t, other, t, other].map(({ app }) => app.canaries.judge()))
    // Who finds another at it leaves it alone, and the clock of the other may be behind: one more look.
    await t.app.canaries.judge()
    expect((await find(body.id)).canary.percent).toBe(60)
    await expect.poll(share, { timeout: 10_000 }).toBe(6_000)
    const { body: audit } = await expectStatus(
      200,
      t.operator.get(`/v1/audit?project_id=${project.projectId}&limit=20`),
    )
    const steps = audit.data.filter((each: { action: string; target: string }) => {
      return each.action === 'release.stepped' && each.target === body.id
    })
    expect(steps).toHaveLength(1)
  } finally {
    await other.close()
  }
})

test('errors take it back, and nobody meets them any more', async () => {
  const before = await versionOf(project.caller)
  const { body } = await expectStatus(
    200,
    release(
      { canary: { percent: 50, roll_back_on: { error_rate: 0.05, min_calls: 5 } } },
      { count: "SELECT CASE WHEN count(*) > 0 THEN error('broken') END::INTEGER AS n FROM orders" },
    ),
  )
  const statuses = new Set<number>()
  for (const caller of callers.slice(0, 40)) statuses.add((await caller.post(`/v1/queries/${count.name}`, {})).status)
  expect(statuses.size).toBe(2)
  await t.app.canaries.judge()
  const ended = await find(body.id)
  expect(ended.status).toBe('rolled_back')
  expect(ended.canary.because).toMatch(/100 % of the calls of order_count fail/)
  expect(new Set(await Promise.all(callers.map((caller) => versionOf(caller))))).toEqual(new Set([before]))
  const { body: audit } = await expectStatus(200, t.operator.get(`/v1/audit?project_id=${project.projectId}&limit=5`))
  expect(audit.data[0]).toMatchObject({ action: 'release.rolled_back', target: body.id, actor: { kind: 'system' } })
})

test('other rows take it back where differences are watched', async () => {
  const canary = { percent: 100, roll_back_on: { differences: 0.1, min_calls: 5 } }
  const { body } = await expectStatus(
    200,
    release({ canary }, { count: 'SELECT count(*)::INTEGER + 1 AS n FROM orders' }),
  )
  for (const caller of callers.slice(0, 10)) await versionOf(caller)
  await t.app.behindCalls.settled()
  await t.app.canaries.judge()
  const ended = await find(body.id)
  expect(ended).toMatchObject({ status: 'rolled_back', canary: { compared: { calls: 10, different: 10 } } })
  const { body: calls } = await expectStatus(
    200,
    t.operator.get(`/v1/projects/${project.projectId}/replays/${ended.canary.replay_id}/calls`),
  )
  expect(calls.data).toHaveLength(10)
})

test('a shadow answers nobody; its rows are compared behind', async () => {
  const before = await versionOf(project.caller)
  const { body } = await expectStatus(
    200,
    release(
      { shadow: true },
      {
        total:
          'SELECT sum(amount + CASE WHEN $most = 7 THEN 1 ELSE 0 END)::DECIMAL(18,2) AS total FROM orders WHERE id <= $most',
      },
    ),
  )
  expect(body).toMatchObject({ status: 'shadow', canary: null })
  const most = [5, 6, 7, 8]
  for (const value of most) await expectStatus(200, project.caller.post(`/v1/queries/${total.name}`, { most: value }))
  expect(new Set(await Promise.all(callers.slice(0, 50).map((caller) => versionOf(caller))))).toEqual(new Set([before]))
  // Whoever waits second waits for what the first has in hand, too.
  const first = t.app.behindCalls.settled()
  await t.app.behindCalls.settled()
  const replay = await expectStatus(
    200,
    t.operator.get(`/v1/projects/${project.projectId}/replays/${body.shadow.replay_id}`),
  )
  const ofTotal = replay.body.queries.find((each: { name: string }) => each.name === total.name)
  await first
  expect(ofTotal).toMatchObject({ calls: 4, equal: 3, different: 1, columns: { total: 1 } })
  expect(replay.body).toMatchObject({ kind: 'shadow', status: 'running', release_id: body.id })
  await expectStatus(200, t.operator.post(`${releases()}/${body.id}/continue`, { percent: 100 }))
  expect((await find(body.id)).status).toBe('released')
})

test('while it is tried out its queries stay as they are; others go on', async () => {
  const { body } = await expectStatus(200, release({ canary: { percent: 10 } }))
  const refused = await t.operator.post(`${project.path}/${count.name}/deploy`, { force: true })
  expect(refused).toMatchObject({ status: 409, body: { reason: 'release_running', release_id: body.id } })
  expect((await t.operator.post(`${project.path}/${count.name}/undeploy`, {})).status).toBe(409)
  expect((await release({ canary: { percent: 10 } })).status).toBe(409)
  await project.deploy({ name: 'elsewhere', description: 'Another', sql: 'SELECT 1 AS one' })
  // Looked at first, the way back is told: for the callers of the new version, what it added goes.
  const { body: back } = await expectStatus(200, t.operator.post(`${releases()}/${body.id}/rollback`, { check: true }))
  expect(back).toMatchObject({ status: 'checked', act: 'rollback', rolls_back: body.id, canary: null })
  expect(versionIn(back, count.name)).toBeLessThan(versionIn(body, count.name) ?? 0)
  await expectStatus(200, t.operator.post(`${releases()}/${body.id}/rollback`, { message: 'Not today.' }))
  expect(await find(body.id)).toMatchObject({ status: 'rolled_back', canary: { because: 'Not today.' } })
  const again = await t.operator.post(`${releases()}/${body.id}/continue`, {})
  expect(again).toMatchObject({ status: 409, body: { reason: 'release_ended' } })
})

test('a query that is new with a canary answers when it is everyone’s', async () => {
  await expectStatus(
    201,
    t.operator.post(project.path, { name: 'brand_new', description: 'New', sql: 'SELECT 1 AS one' }),
  )
  await save(count, `${count.sql} WHERE 'n' = 'n'`)
  const { body } = await expectStatus(
    200,
    t.operator.post(releases(), { queries: [{ name: count.name }, { name: 'brand_new' }], canary: { percent: 50 } }),
  )
  expect((await project.caller.post('/v1/queries/brand_new', {})).status).toBe(404)
  await expectStatus(200, t.operator.post(`${releases()}/${body.id}/continue`, {}))
  expect((await project.caller.post('/v1/queries/brand_new', {})).status).toBe(200)
  const alone = { queries: [{ name: 'elsewhere_new' }], canary: { percent: 50 } }
  await expectStatus(
    201,
    t.operator.post(project.path, { name: 'elsewhere_new', description: 'New', sql: 'SELECT 1 AS one' }),
  )
  expect((await t.operator.post(releases(), alone)).status).toBe(400)
})

test('a check asks recorded calls where the project records them', async () => {
  await t.app.jobs.start()
  await expectStatus(200, t.operator.put(`/v1/projects/${project.projectId}/replay-settings`, { recording: true }))
  await expect.poll(() => t.app.callWatch.isOn, { timeout: 10_000 }).toBe(true)
  for (const most of [3, 4, 5]) await expectStatus(200, project.caller.post(`/v1/queries/${total.name}`, { most }))
  const { body } = await expectStatus(
    200,
    release(
      { check: true },
      { total: `SELECT sum(amount)::DECIMAL(18,2) + ($most = 4)::INTEGER AS total FROM orders WHERE id <= $most` },
    ),
  )
  expect(body).toMatchObject({
    status: 'checked',
    replay: { status: 'finished', calls: 3, equal: 2, different: 1, columns: { total: 1 } },
  })
  expect(body.replay.summary).toBe('Of 3 calls 2 equal, 1 different in total.')
  expect((await find(body.id)).replay).toMatchObject({ id: body.replay.id, calls: 3 })
  await expectStatus(200, t.operator.put(`/v1/projects/${project.projectId}/replay-settings`, { recording: false }))
  expect((await expectStatus(200, release({ check: true }))).body.replay).toBeNull()
})
