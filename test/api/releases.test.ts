import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
})
afterAll(() => t.close())

type Project = QueryProject & {
  releases: string
  draft(name: string, content: Record<string, unknown>): Promise<void>
  release(body: Record<string, unknown>): ReturnType<TestApp['operator']['post']>
  live(environment?: string): Promise<Record<string, number>>
}

async function openProject(): Promise<Project> {
  const q = await openQueryProject(t)
  const releases = `/v1/projects/${q.projectId}/releases`
  return {
    ...q,
    releases,
    async draft(name, content) {
      const known = await t.operator.get(`${q.path}/${name}`)
      if (known.status === 404) await expectStatus(201, t.operator.post(q.path, { name, ...content }))
      else await expectStatus(200, t.operator.put(`${q.path}/${name}`, content))
    },
    release: (body) => t.operator.post(releases, body),
    async live(environment = 'production') {
      const { body } = await t.operator.get(`/v1/projects/${q.projectId}/deployments?environment=${environment}`)
      return Object.fromEntries(
        body.data.map(({ name, version }: { name: string; version: number }) => [name, version]),
      )
    },
  }
}

describe('release', () => {
  test('200 deploys several drafts as one act, with one audit entry, and joins the history with why', async () => {
    const p = await openProject()
    await p.draft('one', { sql: 'SELECT 1 AS v' })
    await p.draft('two', { sql: 'SELECT id FROM orders WHERE region = $region' })
    const made = await p.release({
      environment: 'production',
      queries: [{ name: 'two' }, { name: 'one' }],
      message: 'the first two',
      commit: 'abc123',
    })
    expect(made).toMatchObject({
      status: 200,
      body: {
        status: 'released',
        act: 'release',
        environment: 'production',
        message: 'the first two',
        commit: 'abc123',
        created_by: 'operator',
        routing: { checked: 0, regressions: [] },
        replay: null,
        canary: null,
        shadow: null,
      },
    })
    expect(made.body.queries).toMatchObject([
      { name: 'two', version: 1, previous_version: null, compatibility: 'first' },
      { name: 'one', version: 1, previous_version: null, compatibility: 'first' },
    ])
    expect(await p.live()).toEqual({ one: 1, two: 1 })
    expect((await p.caller.post('/v1/queries/one', {})).body.data).toEqual([{ v: 1 }])
    expect((await t.operator.get(`${p.releases}/${made.body.id}`)).body).toEqual(made.body)
    expect((await t.operator.get(p.releases)).body.data).toMatchObject([
      { id: made.body.id, query_count: 2, query_names: ['one', 'two'], breaking_count: 0, message: 'the first two' },
    ])
    const { body: audit } = await t.operator.get(`/v1/audit?project_id=${p.projectId}&limit=200`)
    const acts = audit.data.filter(({ action }: { action: string }) => /^(release|query\.deployed)/.test(action))
    expect(acts).toMatchObject([
      { action: 'release.made', target: made.body.id, details: { queries: ['two', 'one'], query_count: 2 } },
    ])
    const { body: history } = await t.operator.get(`${p.path}/one/history`)
    expect(history.data).toMatchObject([{ act: 'deploy', version: 1, release_id: made.body.id }])
  })

  test('all takes what differs from the environment and leaves the rest; nothing to do is a release of nothing', async () => {
    const p = await openProject()
    for (const name of ['same', 'edited', 'fresh']) await p.draft(name, { sql: `SELECT '${name}' AS v` })
    await expectStatus(200, p.release({ queries: [{ name: 'same' }, { name: 'edited' }] }))
    await p.draft('edited', { sql: "SELECT 'other' AS v" })
    const { body } = await expectStatus(200, p.release({ queries: 'all' }))
    expect(body.queries.map(({ name }: { name: string }) => name)).toEqual(['edited', 'fresh'])
    expect(await p.live()).toEqual({ same: 1, edited: 2, fresh: 1 })
    const again = await expectStatus(200, p.release({ queries: 'all' }))
    expect(again.body).toMatchObject({ id: null, status: 'released', queries: [] })
    expect((await t.operator.get(p.releases)).body.data).toHaveLength(2)
  })

  test('409 for one that breaks callers keeps all of them back; check says so with 200 and is kept apart; force does it', async () => {
    const p = await openProject()
    await p.draft('good', { sql: 'SELECT 1 AS v' })
    await p.draft('bad', { sql: 'SELECT 1 AS v, 2 AS w' })
    await expectStatus(200, p.release({ queries: 'all' }))
    await p.draft('good', { sql: 'SELECT 2 AS v' })
    await p.draft('bad', { sql: 'SELECT 1 AS v' })
    const refused = await p.release({ queries: 'all' })
    expect(refused).toMatchObject({
      status: 409,
      body: { reason: 'breaking_change', details: [{ field: 'bad', message: 'column w is gone' }] },
    })
    expect(await p.live()).toEqual({ good: 1, bad: 1 })
    expect((await t.operator.get(`${p.path}/good/versions`)).body.data).toHaveLength(1)
    const checked = await expectStatus(200, p.release({ queries: 'all', check: true }))
    expect(checked.body).toMatchObject({ status: 'checked' })
    expect(checked.body.queries).toMatchObject([
      { name: 'bad', compatibility: 'breaking', version: 2, previous_version: 1 },
      { name: 'good', compatibility: 'compatible', version: 2, previous_version: 1 },
    ])
    expect(await p.live()).toEqual({ good: 1, bad: 1 })
    expect((await t.operator.get(p.releases)).body.data).toHaveLength(1)
    expect((await t.operator.get(`${p.releases}?status=checked`)).body.data).toMatchObject([{ id: checked.body.id }])
    const forced = await expectStatus(200, p.release({ queries: 'all', force: true }))
    expect(forced.body).toMatchObject({ status: 'released', forced: true })
    expect(await p.live()).toEqual({ good: 2, bad: 2 })
  })

  test('400 names every query that cannot run, and releases none', async () => {
    const p = await openProject()
    for (const name of ['first', 'second', 'third']) await p.draft(name, { sql: 'SELECT id FROM orders' })
    await t.app.store.db
      .updateTable('queries')
      .set({ sql: 'SELECT nothing FROM nowhere' })
      .where('projectId', '=', p.projectId)
      .where('name', 'in', ['first', 'third'])
      .execute()
    const answer = await p.release({ queries: 'all' })
    expect(answer).toMatchObject({ status: 400, body: { reason: 'invalid_sql' } })
    expect(answer.body.details.map(({ field }: { field: string }) => field)).toEqual(['first', 'third'])
    expect(await p.live()).toEqual({})
  })

  test('a query that is removed stops answering; one that keys call needs force', async () => {
    const p = await openProject()
    await p.draft('stays', { sql: 'SELECT 1 AS v' })
    await p.draft('goes', { sql: 'SELECT 1 AS v' })
    await expectStatus(200, p.release({ queries: 'all' }))
    await expectStatus(200, p.caller.post('/v1/queries/goes', {}))
    const queries = [{ name: 'goes', remove: true }]
    expect(await p.release({ queries })).toMatchObject({ status: 409, body: { reason: 'breaking_change' } })
    const { body } = await expectStatus(200, p.release({ queries, force: true }))
    expect(body.queries).toMatchObject([{ name: 'goes', version: null, previous_version: 1 }])
    expect(await p.live()).toEqual({ stays: 1 })
    expect((await p.caller.post('/v1/queries/goes', {})).status).toBe(404)
    expect((await p.release({ queries })).status).toBe(404)
    expect((await p.release({ queries: [{ name: 'goes', remove: true, version: 1 }] })).status).toBe(400)
  })

  test('400 and 404 for what is not there or named twice', async () => {
    const p = await openProject()
    await p.draft('known', { sql: 'SELECT 1 AS v' })
    for (const [status, body] of [
      [404, { queries: [{ name: 'known' }, { name: 'unknown' }] }],
      [404, { queries: [{ name: 'known', version: 7 }] }],
      [404, { queries: [{ name: 'known' }], environment: 'nowhere' }],
      [400, { queries: [{ name: 'known' }, { name: 'known' }] }],
      [400, { queries: [] }],
      [400, { queries: 'some' }],
      [400, {}],
    ] as const) {
      expect((await p.release(body)).status, JSON.stringify(body)).toBe(status)
    }
    expect((await t.operator.get(`${p.releases}/rel_unknown`)).status).toBe(404)
    expect(await p.live()).toEqual({})
  })

  test('two that swap a question pass together, and neither passes alone', async () => {
    const p = await openProject()
    const asks = (question: string, other: string) => ({ examples: [{ question }, { question: other }] })
    const left = { description: 'The number of orders', sql: 'SELECT count(*) AS n FROM orders' }
    const right = { description: 'The sum of all amounts', sql: 'SELECT sum(amount) AS s FROM orders' }
    await p.draft('left', { ...left, ...asks('Tell me the headline figure', 'How many orders are there?') })
    await p.draft('right', { ...right, ...asks('Tell me the other figure', 'What is the sum of the amounts?') })
    await expectStatus(200, p.release({ queries: 'all', force: true }))
    await p.draft('left', asks('Tell me the other figure', 'How many orders are there?'))
    await p.draft('right', asks('Tell me the headline figure', 'What is the sum of the amounts?'))
    const alone = await p.release({ queries: [{ name: 'left' }] })
    expect(alone).toMatchObject({ status: 409, body: { reason: 'routing_regression' } })
    const both = await p.release({ queries: 'all' })
    expect(both.body).toMatchObject({ status: 'released', routing: { regressions: [] } })
    expect(both.body.routing.checked).toBeGreaterThanOrEqual(4)
    const ask = { query: 'Tell me the headline figure', project_id: p.projectId }
    expect((await p.caller.post('/v1/query', ask)).body).toMatchObject({ query_used: 'right' })
  })

  test('20 at the same time all go through, one after the other', async () => {
    const p = await openProject()
    const names = Array.from({ length: 20 }, (_, at) => `query_${at}`)
    for (const [at, name] of names.entries()) {
      const examples = [{ question: `What is the value of number ${at} in the list?` }]
      await p.draft(name, { sql: `SELECT ${at} AS v`, description: `The value ${at}`, examples })
    }
    const all = await Promise.all(names.map((name) => p.release({ queries: [{ name }] })))
    // Some may take a question of others; none is refused because of when it came.
    const odd = all.filter(({ status, body }) => status !== 200 && body.reason !== 'routing_regression')
    expect(odd).toEqual([])
    const { body } = await t.operator.get(`${p.releases}?limit=200`)
    expect(body.data).toHaveLength(all.filter(({ status }) => status === 200).length)
  })
})

describe('rollback', () => {
  test('brings back what was there before: versions, what was not there, and what was removed', async () => {
    const p = await openProject()
    await p.draft('edited', { sql: 'SELECT 1 AS v' })
    await p.draft('removed', { sql: 'SELECT 1 AS v' })
    await expectStatus(200, p.release({ queries: 'all' }))
    await p.draft('edited', { sql: 'SELECT 2 AS other' })
    await p.draft('added', { sql: 'SELECT 3 AS v' })
    const queries = [{ name: 'edited' }, { name: 'added' }, { name: 'removed', remove: true }]
    const made = await expectStatus(200, p.release({ queries, force: true }))
    expect(await p.live()).toEqual({ edited: 2, added: 1 })
    const back = await t.operator.post(`${p.releases}/${made.body.id}/rollback`, { message: 'wrong figures' })
    expect(back).toMatchObject({
      status: 200,
      body: { status: 'released', act: 'rollback', rolls_back: made.body.id, message: 'wrong figures', forced: false },
    })
    expect(await p.live()).toEqual({ edited: 1, removed: 1 })
    expect((await t.operator.get(`${p.releases}/${made.body.id}`)).body).toMatchObject({
      status: 'rolled_back',
      rolled_back_by: back.body.id,
    })
    const again = await t.operator.post(`${p.releases}/${made.body.id}/rollback`, {})
    expect(again).toMatchObject({ status: 409, body: { reason: 'changed_meanwhile' } })
    // And forward again.
    await expectStatus(200, t.operator.post(`${p.releases}/${back.body.id}/rollback`, {}))
    expect(await p.live()).toEqual({ edited: 2, added: 1 })
  })

  test('409 where a later release changed the same query, unless forced; check changes nothing', async () => {
    const p = await openProject()
    await p.draft('q', { sql: 'SELECT 1 AS v' })
    await expectStatus(200, p.release({ queries: 'all' }))
    await p.draft('q', { sql: 'SELECT 2 AS v' })
    const second = await expectStatus(200, p.release({ queries: 'all' }))
    await p.draft('q', { sql: 'SELECT 3 AS v' })
    await expectStatus(200, p.release({ queries: 'all' }))
    const path = `${p.releases}/${second.body.id}/rollback`
    expect(await t.operator.post(path, {})).toMatchObject({ status: 409, body: { reason: 'changed_meanwhile' } })
    expect((await t.operator.post(path, { force: true, check: true })).body).toMatchObject({ status: 'checked' })
    expect(await p.live()).toEqual({ q: 3 })
    await expectStatus(200, t.operator.post(path, { force: true }))
    expect(await p.live()).toEqual({ q: 1 })
  })
})

describe('promote', () => {
  test('makes an environment answer with every version of another; what only it has stays unless pruned', async () => {
    const p = await openProject()
    const promote = (body: Record<string, unknown>) => t.operator.post(`/v1/projects/${p.projectId}/promote`, body)
    await p.draft('a', { sql: 'SELECT 1 AS v' })
    await p.draft('b', { sql: 'SELECT 1 AS v' })
    await p.draft('only_there', { sql: 'SELECT 1 AS v' })
    await expectStatus(200, p.release({ environment: 'staging', queries: [{ name: 'a' }, { name: 'b' }] }))
    await expectStatus(200, p.release({ queries: [{ name: 'only_there' }] }))
    const checked = await expectStatus(200, promote({ from: 'staging', to: 'production', check: true }))
    expect(checked.body).toMatchObject({ status: 'checked', act: 'promote', promoted_from: 'staging' })
    expect(await p.live()).toEqual({ only_there: 1 })
    await expectStatus(200, promote({ from: 'staging', to: 'production', message: 'week 46' }))
    expect(await p.live()).toEqual({ a: 1, b: 1, only_there: 1 })
    const again = await expectStatus(200, promote({ from: 'staging', to: 'production' }))
    expect(again.body).toMatchObject({ id: null, queries: [] })
    const pruned = await expectStatus(200, promote({ from: 'staging', to: 'production', prune: true }))
    expect(pruned.body.queries).toMatchObject([{ name: 'only_there', version: null }])
    expect(await p.live()).toEqual({ a: 1, b: 1 })
    expect((await promote({ from: 'staging', to: 'staging' })).status).toBe(400)
    expect((await promote({ from: 'staging', to: 'nowhere' })).status).toBe(404)
  })
})

describe('single deployments are releases of one', () => {
  test('deploy, promote, rollback and undeploy join the history by their own names', async () => {
    const p = await openProject()
    await p.draft('q', { sql: 'SELECT 1 AS v' })
    await expectStatus(200, t.operator.post(`${p.path}/q/deploy`, {}))
    await p.draft('q', { sql: 'SELECT 2 AS v' })
    await expectStatus(200, t.operator.post(`${p.path}/q/deploy`, {}))
    await expectStatus(200, t.operator.post(`${p.path}/q/promote`, { from: 'production', to: 'staging' }))
    await expectStatus(200, t.operator.post(`${p.path}/q/rollback`, {}))
    await expectStatus(200, t.operator.post(`${p.path}/q/deploy`, { check: true }))
    await expectStatus(200, t.operator.post(`${p.path}/q/undeploy`, {}))
    const { body } = await t.operator.get(p.releases)
    expect(body.data.map(({ act }: { act: string }) => act)).toEqual([
      'undeploy',
      'rollback',
      'promote',
      'deploy',
      'deploy',
    ])
    expect((await t.operator.get(`${p.releases}?environment=staging`)).body.data).toMatchObject([
      { act: 'promote', promoted_from: 'production', version: 2 },
    ])
    expect((await t.operator.get(`${p.releases}?query=q&limit=2`)).body.data).toHaveLength(2)
    // A deployment by itself can be taken back as a release, too.
    await expectStatus(200, t.operator.post(`${p.releases}/${body.data[0].id}/rollback`, {}))
    expect(await p.live()).toEqual({ q: 1 })
  })
})
