import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'

let t: TestApp
beforeAll(async () => {
  t = await openTestApp()
})
afterAll(() => t.close())

describe('projects', () => {
  test('201 makes the caller its owner, with three environments', async () => {
    const person = await t.member(await t.project(), 'viewer')
    const created = await person.post('/v1/projects', { name: ' Orders ' })
    expect(created).toMatchObject({ status: 201, body: { name: 'Orders', role: 'owner' } })
    expect(created.body.id).toMatch(/^prj_/)
    const environments = await person.get(`/v1/projects/${created.body.id}/environments`)
    expect(environments.body.data.map((each: { name: string }) => each.name)).toEqual([
      'development',
      'staging',
      'production',
    ])
  })

  test('404 is the same for a project that does not exist and one the caller is no member of', async () => {
    const outsider = await t.member(await t.project(), 'owner')
    const foreign = await t.project()
    const there = await outsider.get(`/v1/projects/${foreign}`)
    const missing = await outsider.get('/v1/projects/prj_00000000000000000000000000')
    expect([there.status, missing.status]).toEqual([404, 404])
    const shape = (answer: typeof there, id: string) => ({
      ...answer.body,
      message: answer.body.message.replace(id, ''),
      request_id: '',
    })
    expect(shape(there, foreign)).toEqual(shape(missing, 'prj_00000000000000000000000000'))
  })

  test('200 lists pages that together hold each project once', async () => {
    const person = await t.member(await t.project(), 'viewer')
    for (let count = 0; count < 4; count += 1) await person.post('/v1/projects', { name: `P${count}` })
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await person.get(`/v1/projects?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      expect(page.body.data.length).toBeLessThanOrEqual(2)
      seen.push(...page.body.data.map((each: { id: string }) => each.id))
      cursor = page.body.next_cursor
    }
    expect(seen.length).toBe(5)
    expect(new Set(seen).size).toBe(5)
  })

  test('400 for a cursor that is none, and for limits out of range', async () => {
    for (const query of ['cursor=%00', 'cursor=!!', 'limit=0', 'limit=201', 'limit=x', 'page=2']) {
      const answer = await t.operator.get(`/v1/projects?${query}`)
      expect(answer, query).toMatchObject({ status: 400, body: { error: 'invalid_request', reason: 'invalid_field' } })
    }
  })

  test('roles: a viewer reads, an editor reads, an owner renames and deletes', async () => {
    const projectId = await t.project()
    const [viewer, editor, owner] = [
      await t.member(projectId, 'viewer'),
      await t.member(projectId, 'editor'),
      await t.member(projectId, 'owner'),
    ]
    for (const small of [viewer, editor]) {
      expect((await small.get(`/v1/projects/${projectId}`)).status).toBe(200)
      for (const refused of [
        await small.patch(`/v1/projects/${projectId}`, { name: 'Mine' }),
        await small.delete(`/v1/projects/${projectId}`),
        await small.post(`/v1/projects/${projectId}/environments`, { name: 'qa' }),
        await small.post(`/v1/projects/${projectId}/invitations`, { role: 'owner' }),
        await small.get(`/v1/audit?project_id=${projectId}`),
      ]) {
        expect(refused).toMatchObject({ status: 403, body: { error: 'permission_denied', reason: 'role_too_small' } })
      }
    }
    expect((await owner.patch(`/v1/projects/${projectId}`, { name: 'Renamed' })).body.name).toBe('Renamed')
    expect((await owner.delete(`/v1/projects/${projectId}`)).status).toBe(204)
    expect((await owner.get(`/v1/projects/${projectId}`)).status).toBe(404)
  })
})

describe('environments', () => {
  test('201 adds one, 409 for a name that is taken, 204 deletes it, never production', async () => {
    const path = `/v1/projects/${await t.project()}/environments`
    expect(await t.operator.post(path, { name: 'qa' })).toMatchObject({ status: 201, body: { name: 'qa' } })
    expect(await t.operator.post(path, { name: 'qa' })).toMatchObject({ status: 409, body: { reason: 'name_taken' } })
    expect((await t.operator.delete(`${path}/qa`)).status).toBe(204)
    expect((await t.operator.delete(`${path}/qa`)).status).toBe(404)
    expect(await t.operator.delete(`${path}/production`)).toMatchObject({ status: 409, body: { reason: 'in_use' } })
  })

  test('400 for names that no path or header could carry', async () => {
    const path = `/v1/projects/${await t.project()}/environments`
    for (const name of ['', 'QA', '1st', 'a b', 'a-b', 'a'.repeat(64), '../x']) {
      expect((await t.operator.post(path, { name })).status, name).toBe(400)
    }
  })

  test('at most twenty', async () => {
    const path = `/v1/projects/${await t.project()}/environments`
    const statuses: number[] = []
    for (let count = 0; count < 18; count += 1)
      statuses.push((await t.operator.post(path, { name: `e${count}` })).status)
    expect(statuses.filter((status) => status === 201).length).toBe(17)
    expect(statuses.at(-1)).toBe(409)
  })
})

test('409 for a project on Trino where the server has none; without a word it is on DuckDB', async () => {
  expect(await t.operator.post('/v1/projects', { name: 'Events', engine: 'trino' })).toMatchObject({
    status: 409,
    body: { error: 'conflict', reason: 'no_trino', message: expect.stringContaining('SLUICE_TRINO_URL') as string },
  })
  const made = await t.operator.post('/v1/projects', { name: 'Events' })
  expect(made).toMatchObject({ status: 201, body: { engine: 'duckdb' } })
  expect((await t.anonymous.get('/trino/access-rules?key=')).status).toBe(404)
})
