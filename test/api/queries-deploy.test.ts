import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject } from '../harness/queries.ts'
import { putTable } from '../harness/tables.ts'

let t: TestApp
let projectId: string
let path: string
beforeAll(async () => {
  t = await openTestApp()
  ;({ projectId, path } = await openQueryProject(t))
})
afterAll(() => t.close())

const sql = 'SELECT id, region FROM orders WHERE region = $region'

/** A query of its own for a test. */
async function draft(name: string, statement = sql): Promise<string> {
  await expectStatus(201, t.operator.post(path, { name, sql: statement }))
  return `${path}/${name}`
}

describe('deploy', () => {
  test('200 freezes a version, replaces it after an edit, and undeploys', async () => {
    const query = await draft('lifecycle')
    expect(await t.operator.post(`${query}/deploy`, {})).toMatchObject({
      status: 200,
      body: {
        name: 'lifecycle',
        environment: 'production',
        version: 1,
        status: 'deployed',
        compatibility: 'first',
        routing: { checked: 0, regressions: [] },
      },
    })
    expect((await t.operator.get(query)).body).toMatchObject({
      changed: false,
      deployments: [{ environment: 'production', version: 1 }],
    })
    await t.operator.put(query, { sql: `${sql} ORDER BY id` })
    expect((await t.operator.get(query)).body.changed).toBe(true)
    expect((await t.operator.post(`${query}/deploy`, {})).body).toMatchObject({
      version: 2,
      previous_version: 1,
      compatibility: 'compatible',
    })
    expect((await t.operator.post(`${query}/undeploy`, { environment: 'production' })).body).toMatchObject({
      status: 'undeployed',
      version: 2,
    })
    expect((await t.operator.post(`${query}/undeploy`, {})).status).toBe(404)
  })

  test('a draft that did not change deploys the version that is there', async () => {
    const query = await draft('unchanged')
    await t.operator.post(`${query}/deploy`, { environment: 'development' })
    const again = await t.operator.post(`${query}/deploy`, { environment: 'staging' })
    expect(again.body).toMatchObject({ version: 1, compatibility: 'first' })
    const { body } = await t.operator.get(`${query}/versions`)
    expect(body.data).toMatchObject([{ version: 1, created_by: 'operator', environments: ['development', 'staging'] }])
  })

  test('409 for a breaking change, which names what breaks; check reports it with 200; force does it', async () => {
    const query = await draft('breaking')
    await t.operator.post(`${query}/deploy`, {})
    await t.operator.put(query, { sql: 'SELECT id FROM orders WHERE region = $region' })
    const check = await t.operator.post(`${query}/deploy`, { check: true })
    expect(check).toMatchObject({
      status: 200,
      body: {
        version: 2,
        compatibility: 'breaking',
        changes: [{ level: 'breaking', message: 'column region is gone' }],
      },
    })
    expect((await t.operator.get(`${query}/versions`)).body.data).toHaveLength(1)
    const refused = await t.operator.post(`${query}/deploy`, {})
    expect(refused).toMatchObject({ status: 409, body: { error: 'conflict', reason: 'breaking_change', callers: [] } })
    expect((await t.operator.get(`${query}/versions`)).body.data).toHaveLength(1)
    expect((await t.operator.post(`${query}/deploy`, { force: true })).body).toMatchObject({
      version: 2,
      compatibility: 'breaking',
    })
  })

  test('a check and a 409 name the keys that called it in the last 30 days, and no older ones', async () => {
    const query = await draft('called')
    await t.operator.post(`${query}/deploy`, {})
    const { id: queryId } = (await t.operator.get(query)).body
    t.app.queryCallers.note({ queryId, environment: 'production', keyId: 'key_of_a_caller' })
    t.app.queryCallers.note({ queryId, environment: 'staging', keyId: 'key_elsewhere' })
    const checked = await t.operator.post(`${query}/deploy`, { check: true })
    expect(checked.body).toMatchObject({ compatibility: 'compatible', callers: [{ key_id: 'key_of_a_caller' }] })
    await t.operator.put(query, { sql: 'SELECT id FROM orders WHERE region = $region' })
    const refused = await t.operator.post(`${query}/deploy`, {})
    expect(refused.body.callers).toMatchObject([{ key_id: 'key_of_a_caller' }])
    t.advance(31 * 86_400_000)
    expect((await t.operator.post(`${query}/deploy`, {})).body.callers).toEqual([])
    t.advance(-31 * 86_400_000)
  })

  test('400 when the table it reads has lost a column since; what is live stays', async () => {
    await putTable(t.app, projectId, { name: 'moving', rows: [{ a: 1, b: 2 }] })
    const query = await draft('drifted', 'SELECT a, b FROM moving')
    await t.operator.post(`${query}/deploy`, {})
    await putTable(t.app, projectId, { name: 'moving', rows: [{ a: 1 }] })
    expect(await t.operator.post(`${query}/deploy`, {})).toMatchObject({ status: 400, body: { reason: 'invalid_sql' } })
    expect((await t.operator.get(query)).body.deployments).toEqual([{ environment: 'production', version: 1 }])
  })

  test('404 for an environment, a version or a query that is not there', async () => {
    const query = await draft('elsewhere')
    for (const [at, body] of [
      [`${query}/deploy`, { environment: 'nowhere' }],
      [`${query}/deploy`, { version: 9 }],
      [`${query}/rollback`, { version: 9 }],
      [`${query}/rollback`, {}],
      [`${query}/promote`, { from: 'staging', to: 'production' }],
      [`${path}/nothing/deploy`, {}],
    ] as const) {
      expect(await t.operator.post(at, body), at).toMatchObject({ status: 404, body: { error: 'not_found' } })
    }
  })

  test('409 in_use: a query is not deleted while it is deployed', async () => {
    const query = await draft('kept')
    await t.operator.post(`${query}/deploy`, { environment: 'staging' })
    expect(await t.operator.delete(query)).toMatchObject({ status: 409, body: { reason: 'in_use' } })
    await t.operator.post(`${query}/undeploy`, { environment: 'staging' })
    expect((await t.operator.delete(query)).status).toBe(204)
  })
})

describe('promote, rollback and what is remembered', () => {
  test('200 promotes what is live, rolls back past a breaking change, and keeps the history', async () => {
    const editor = await t.member(projectId, 'editor')
    const query = await draft('moved')
    await editor.post(`${query}/deploy`, { environment: 'staging' })
    await editor.put(query, { sql: 'SELECT id FROM orders WHERE region = $region' })
    expect((await editor.post(`${query}/promote`, { from: 'staging', to: 'production' })).body).toMatchObject({
      environment: 'production',
      version: 1,
      compatibility: 'first',
    })
    await editor.post(`${query}/deploy`, { force: true })
    expect((await editor.post(`${query}/rollback`, { environment: 'production' })).body).toMatchObject({
      version: 1,
      previous_version: 2,
      status: 'deployed',
    })
    expect((await editor.post(`${query}/rollback`, { environment: 'production', version: 2 })).body.version).toBe(2)
    const { body } = await editor.get(`${query}/history`)
    expect(
      body.data.map(({ act, environment, version, by }: Record<string, unknown>) => [act, environment, version, by]),
    ).toEqual([
      ['rollback', 'production', 2, editor.email],
      ['rollback', 'production', 1, editor.email],
      ['deploy', 'production', 2, editor.email],
      ['promote', 'production', 1, editor.email],
      ['deploy', 'staging', 1, editor.email],
    ])
    const audit = await t.operator.get(`/v1/audit?project_id=${projectId}&limit=4`)
    expect(audit.body.data.map((each: { action: string }) => each.action)).toEqual([
      'query.rolled_back',
      'query.rolled_back',
      'query.deployed',
      'query.promoted',
    ])
  })

  test('200 shows a version as it was frozen, and what differs from another or from the draft', async () => {
    const query = await draft('compared')
    await t.operator.post(`${query}/deploy`, {})
    await t.operator.put(query, { sql: `${sql}\nORDER BY id`, cache_seconds: 60 })
    expect((await t.operator.get(`${query}/versions/1`)).body).toMatchObject({
      version: 1,
      sql,
      columns: [{ name: 'id' }, { name: 'region' }],
      tables: { orders: ['id', 'region'] },
      environments: ['production'],
    })
    const { body } = await t.operator.get(`${query}/diff?from=1`)
    expect(body.diff).toContain('--- sql of version 1')
    expect(body.diff).toContain('+ORDER BY id')
    expect(body.diff).toContain('+  "cache_seconds": 60,')
    expect((await t.operator.get(`${query}/diff?from=1&to=1`)).body.diff).toBe('')
    expect((await t.operator.get(`${query}/diff?from=7`)).status).toBe(404)
    expect((await t.operator.get(`${query}/diff?from=x`)).status).toBe(400)
  })

  test('200 lists what is deployed; deleting an environment or the project takes it out of memory', async () => {
    const project = await t.project('Passing')
    const at = `/v1/projects/${project}/queries`
    await t.operator.post(`/v1/projects/${project}/environments`, { name: 'qa' })
    await t.operator.post(at, { name: 'one', sql: 'SELECT 1 AS one' })
    for (const environment of ['qa', 'production']) await t.operator.post(`${at}/one/deploy`, { environment })
    const { body } = await t.operator.get(`/v1/projects/${project}/deployments`)
    expect(body.data.map((each: { environment: string }) => each.environment)).toEqual(['production', 'qa'])
    expect((await t.operator.get(`/v1/projects/${project}/deployments?environment=qa`)).body.data).toHaveLength(1)
    const { deployments } = t.app
    expect(deployments.projectsWith('one', 'qa')).toEqual([project])
    await t.operator.delete(`/v1/projects/${project}/environments/qa`)
    await expect.poll(() => deployments.has(project, 'qa', 'one')).toBe(false)
    expect(deployments.has(project, 'production', 'one')).toBe(true)
    await t.operator.delete(`/v1/projects/${project}`)
    await expect.poll(() => deployments.projectsWith('one', 'production')).toEqual([])
  })
})
