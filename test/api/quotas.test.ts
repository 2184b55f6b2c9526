import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { runRefresh } from '../../server/connections/index.ts'
import { storedBytes } from '../../server/data/index.ts'
import { Failure } from '../../server/failure.ts'
import { expectStatus, type Answer, type TestApp } from '../harness/app.ts'
import { jobFor, makeTable } from '../harness/incremental.ts'
import { execute, openAppWithSource, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource(
    {
      SLUICE_PROJECTS_PER_PERSON: '2',
      SLUICE_ENVIRONMENTS_PER_PROJECT: '4',
      SLUICE_MEMBERS_PER_PROJECT: '3',
      SLUICE_DATASOURCES_PER_PROJECT: '2',
      SLUICE_QUERIES_PER_PROJECT: '2',
      SLUICE_KEYS_PER_PROJECT: '2',
      SLUICE_ALERTS_PER_PROJECT: '2',
      SLUICE_TOKENS_PER_PERSON: '2',
      SLUICE_STORED_BYTES_PER_PROJECT: '1048576',
    },
    { bounds: { eventStreamsPerPerson: 2, projectsPerPersonPerHour: 4 } },
  ))
})
afterAll(() => t.close())
beforeEach(async () => {
  projectId = await t.project()
})

/** How many of so many at once were made; every other one must say that there is no room. */
async function madeOf(answers: Array<Promise<Answer>>): Promise<number> {
  const settled = await Promise.all(answers)
  const refused = settled.filter(({ status }) => status !== 200 && status !== 201)
  for (const { status, body } of refused) {
    expect({ status, ...body }).toMatchObject({ status: 409, error: 'conflict', reason: 'quota_exceeded' })
  }
  return settled.length - refused.length
}

const five = [1, 2, 3, 4, 5]

describe('five who make one at the same time find room for as many as there may be', () => {
  test('datasources', async () => {
    const path = () => `/v1/projects/${projectId}/datasources`
    expect(await madeOf(five.map((at) => t.operator.post(path(), { name: `Source ${at}`, kind: 'http_api' })))).toBe(2)
  })

  test('queries, and one that is deleted makes room', async () => {
    const path = `/v1/projects/${projectId}/queries`
    const make = (name: string) => t.operator.post(path, { name, sql: 'SELECT 1 AS one' })
    expect(await madeOf(five.map((at) => make(`query_${at}`)))).toBe(2)
    const [first] = (await t.operator.get(path)).body.data
    await expectStatus(204, t.operator.delete(`${path}/${first.name}`))
    expect(await madeOf([make('again'), make('and_again')])).toBe(1)
  })

  test('environments', async () => {
    const path = `/v1/projects/${projectId}/environments`
    expect(await madeOf(five.map((at) => t.operator.post(path, { name: `place_${at}` })))).toBe(1)
  })

  test('keys, by each project they reach; a revoked one makes room', async () => {
    const other = await t.project()
    const make = (...projects: string[]) =>
      t.operator.post('/v1/api-keys', {
        name: 'x',
        permissions: projects.map((project) => ({ project_id: project, environments: '*' })),
      })
    expect(await madeOf(five.map((at) => (at % 2 === 0 ? make(projectId, other) : make(other, projectId))))).toBe(2)
    expect(await madeOf([make(other)])).toBe(0)
    const third = await t.project()
    const { body: key } = await expectStatus(201, make(third))
    const reachMore = { permissions: [third, other].map((project) => ({ project_id: project, environments: '*' })) }
    expect(await madeOf([t.operator.patch(`/v1/api-keys/${key.id}`, reachMore)])).toBe(0)
    const held = (await t.operator.get('/v1/api-keys')).body.data.find((each: { permissions: unknown[] }) =>
      JSON.stringify(each.permissions).includes(other),
    )
    await expectStatus(204, t.operator.delete(`/v1/api-keys/${held.id}`))
    expect(await madeOf([t.operator.patch(`/v1/api-keys/${key.id}`, reachMore)])).toBe(1)
  })

  test('members, those invited included', async () => {
    const path = `/v1/projects/${projectId}/invitations`
    expect(await madeOf(five.map(() => t.operator.post(path, { role: 'viewer' })))).toBe(3)
  })

  test('alerts', async () => {
    const path = `/v1/projects/${projectId}/alerts`
    const channels = [{ type: 'webhook', url: 'https://example.com/hook' }]
    const alert = { type: 'requests_above', threshold: 100, channels }
    expect(await madeOf(five.map((at) => t.operator.post(path, { ...alert, name: `Alert ${at}` })))).toBe(2)
  })

  test('projects that one person makes in an hour, deleted ones included, with and without a token', async () => {
    const person = await t.member(projectId, 'viewer')
    const made = await expectStatus(201, person.post('/v1/management-tokens', { name: 'x', role: 'owner' }))
    const token = t.withToken(made.body.secret)
    for (const by of [person, person, token, token]) {
      const { body } = await expectStatus(201, by.post('/v1/projects', { name: 'Short-lived' }))
      await expectStatus(204, by.delete(`/v1/projects/${body.id}`))
    }
    const refused = await expectStatus(429, person.post('/v1/projects', { name: 'One more' }))
    expect(refused.body).toMatchObject({
      error: 'rate_limit_exceeded',
      message: expect.stringMatching(/^One person makes at most 4 projects in an hour\. .* wait 60 minutes/) as string,
      retry_after: expect.closeTo(3_600, -3) as number,
    })
    await expectStatus(201, (await t.administrator()).post('/v1/projects', { name: 'Theirs' }))
    await expectStatus(201, (await t.member(projectId, 'viewer')).post('/v1/projects', { name: 'Somebody else' }))
  })

  test('projects and tokens of one person; an administrator makes more projects', async () => {
    const person = await t.member(projectId, 'viewer')
    expect(await madeOf(five.map((at) => person.post('/v1/projects', { name: `Mine ${at}` })))).toBe(2)
    const token = { name: 'x', role: 'viewer', project_id: projectId }
    expect(await madeOf(five.map(() => person.post('/v1/management-tokens', token)))).toBe(2)
    const administrator = await t.administrator()
    expect(await madeOf(five.map((at) => administrator.post('/v1/projects', { name: `Theirs ${at}` })))).toBe(5)
  })
})

describe('data that a project keeps', () => {
  const run = (datasourceId: string) => execute(t.operator, { projectId, datasourceId, url: source.url })
  // Random enough that Parquet does not make it small.
  const rows = (count: number) =>
    Array.from({ length: count }, (_, id) => ({ id, text: crypto.randomUUID() + crypto.randomUUID() }))

  test('is refused beyond the limit, and what was there still serves', async () => {
    source.answer([{ id: 1 }])
    await expectStatus(200, run(`ds_${projectId}`))
    source.answer(rows(30_000))
    expect(await run(`ds_${projectId}`)).toMatchObject({ status: 409, body: { reason: 'quota_exceeded' } })
    const kept = await t.operator.get(`/v1/projects/${projectId}/datasources/ds_${projectId}`)
    expect(kept.body.last_error).toMatchObject({ code: 'quota_exceeded' })
    const versions = await t.operator.get(`/v1/projects/${projectId}/data-objects`)
    expect(versions.body.data.filter((each: { kind: string }) => each.kind === 'response_data')).toHaveLength(1)
    source.answer([{ id: 2 }])
    await expectStatus(200, run(`ds_${projectId}`))
  })
})

describe('data in parts', () => {
  const rows = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ id: from + at, text: crypto.randomUUID() + crypto.randomUUID() }))

  test('counts each part once however many versions share it, and a load beyond the limit leaves all as it was', async () => {
    const load = { mode: 'merge', primary_key: ['id'] }
    const table = await makeTable(t, projectId, {
      config: { url: source.url, method: 'GET' },
      load,
      keep_versions: 100,
    })
    const refresh = () =>
      runRefresh(t.app, jobFor(projectId, table.id)).then(
        () => 'stored',
        (error: unknown) => (error instanceof Failure ? error.reason : String(error)),
      )
    const { db } = t.app.store
    source.answer(rows(0, 6_000))
    expect(await refresh()).toBe('stored')
    const first = await storedBytes(db, { projectId })
    // Eight versions that all name the first part, which by itself is a third of what may be kept.
    for (let round = 1; round <= 8; round += 1) {
      source.answer(rows(round * 10_000, 5))
      expect(await refresh()).toBe('stored')
    }
    expect(await storedBytes(db, { projectId })).toBeLessThan(1.5 * first)
    source.answer(rows(100_000, 20_000))
    expect(await refresh()).toBe('quota_exceeded')
    expect(await table.versions()).toHaveLength(9)
    expect((await table.versions())[0]).toMatchObject({ status: 'live', row_count: 6_040 })
    source.answer(rows(200_000, 5))
    expect(await refresh()).toBe('stored')
  })
})

describe('event streams', () => {
  test('429 for the third of one person, while another opens theirs; the tokens of a person count as the person', async () => {
    const base = await t.listen()
    const first = await t.member(projectId, 'viewer')
    const second = await t.member(projectId, 'viewer')
    const tokenOf = async (person: typeof first) =>
      (
        await expectStatus(
          201,
          person.post('/v1/management-tokens', { name: 'x', role: 'viewer', project_id: projectId }),
        )
      ).body.secret
    const leaving = new AbortController()
    const open = async (token: string, until: AbortSignal) => {
      const headers = { authorization: `Bearer ${token}` }
      const url = `${base}/v1/projects/${projectId}/jobs/events`
      const answer = await fetch(url, { headers, signal: until })
      if (answer.status !== 200) await answer.text()
      return answer.status
    }
    const [one, two] = [await tokenOf(first), await tokenOf(first)]
    const statuses = []
    for (const token of [one, two, one, two]) statuses.push(await open(token, leaving.signal))
    expect(statuses).toEqual([200, 200, 429, 429])
    expect(await open(await tokenOf(second), leaving.signal)).toBe(200)
    leaving.abort()
    const again = new AbortController()
    await vi.waitFor(async () => expect(await open(one, again.signal)).toBe(200), 10_000)
    again.abort()
  })
})
