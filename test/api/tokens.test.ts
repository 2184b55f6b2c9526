import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newCredential } from '../../server/access/credentials/credential.ts'
import { openTestApp, operatorToken, type TestApp } from '../harness/app.ts'

let t: TestApp
beforeAll(async () => {
  t = await openTestApp()
})
afterAll(() => t.close())

describe('management tokens', () => {
  test('201 shows the secret once; it acts with its own role in its own project', async () => {
    const [projectId, foreign] = [await t.project(), await t.project()]
    const owner = await t.member(projectId, 'owner')
    const made = await owner.post('/v1/management-tokens', { name: 'CI', role: 'editor', project_id: projectId })
    expect(made.status).toBe(201)
    expect(made.body.secret).toMatch(/^slc_mgmt_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/)
    const listed = await owner.get('/v1/management-tokens')
    expect(listed.body.data).toMatchObject([{ id: made.body.id, status: 'active', created_by: owner.userId }])
    expect(JSON.stringify(listed.body)).not.toContain(made.body.secret)
    const token = t.withToken(made.body.secret)
    expect((await token.get(`/v1/projects/${projectId}`)).body.role).toBe('editor')
    expect((await token.patch(`/v1/projects/${projectId}`, { name: 'x' })).status).toBe(403)
    expect((await token.get(`/v1/projects/${foreign}`)).status).toBe(404)
    expect((await token.get('/v1/projects')).body.data.length).toBe(1)
    expect((await token.post('/v1/projects', { name: 'x' })).status).toBe(403)
    expect((await token.post('/v1/management-tokens', { name: 'more', role: 'viewer' })).status).toBe(403)
  })

  test('403 for a viewer token that would revoke, and one of a project knows only those of its project', async () => {
    const [projectId, other] = [await t.project(), await t.project()]
    const owner = await t.member(projectId, 'owner')
    const made = async (body: Record<string, unknown>) => (await owner.post('/v1/management-tokens', body)).body
    const wide = await made({ name: 'wide', role: 'owner' })
    const narrow = await made({ name: 'narrow', role: 'owner', project_id: projectId })
    const reader = await made({ name: 'reader', role: 'viewer' })
    const refused = await t.withToken(reader.secret).delete(`/v1/management-tokens/${wide.id}`)
    expect(refused).toMatchObject({ status: 403, body: { reason: 'role_too_small' } })
    expect((await t.withToken(reader.secret).post('/v1/projects', { name: 'x' })).status).toBe(403)
    const seen = await t.withToken(narrow.secret).get('/v1/management-tokens')
    expect(seen.body.data.map(({ id }: { id: string }) => id)).toEqual([narrow.id])
    expect((await t.withToken(narrow.secret).delete(`/v1/management-tokens/${wide.id}`)).status).toBe(404)
    expect((await t.withToken(wide.secret).delete(`/v1/management-tokens/${narrow.id}`)).status).toBe(204)
    expect((await t.withToken(wide.secret).get(`/v1/projects/${other}`)).status).toBe(404)
  })

  test('a token loses what its maker loses', async () => {
    const projectId = await t.project()
    const maker = await t.member(projectId, 'owner')
    const { secret } = (await maker.post('/v1/management-tokens', { name: 'CI', role: 'owner' })).body
    const token = t.withToken(secret)
    await t.member(projectId, 'owner')
    await t.operator.patch(`/v1/projects/${projectId}/members/${maker.userId}`, { role: 'viewer' })
    expect((await token.get(`/v1/projects/${projectId}`)).body.role).toBe('viewer')
    await t.operator.delete(`/v1/projects/${projectId}/members/${maker.userId}`)
    expect((await token.get(`/v1/projects/${projectId}`)).status).toBe(404)
  })

  test('403 for a role that its maker does not have', async () => {
    const projectId = await t.project()
    const viewer = await t.member(projectId, 'viewer')
    const refused = await viewer.post('/v1/management-tokens', { name: 'x', role: 'owner', project_id: projectId })
    expect(refused.status).toBe(403)
  })

  test('401 after it was revoked or has expired', async () => {
    const owner = await t.member(await t.project(), 'owner')
    const { secret, id } = (await owner.post('/v1/management-tokens', { name: 'a', role: 'viewer' })).body
    expect((await owner.delete(`/v1/management-tokens/${id}`)).status).toBe(204)
    expect(await t.withToken(secret).get('/v1/projects')).toMatchObject({ status: 401, body: { reason: 'revoked' } })
    const soon = new Date(t.app.now() + 60_000).toISOString()
    const brief = (await owner.post('/v1/management-tokens', { name: 'b', role: 'viewer', expires_at: soon })).body
    t.advance(61_000)
    expect(await t.withToken(brief.secret).get('/v1/projects')).toMatchObject({
      status: 401,
      body: { reason: 'expired' },
    })
    const past = await owner.post('/v1/management-tokens', { name: 'c', role: 'viewer', expires_at: soon })
    expect(past).toMatchObject({ status: 400, body: { details: [{ field: 'expires_at' }] } })
  })

  test("404 for another person's token; an administrator sees and revokes it", async () => {
    const projectId = await t.project()
    const [one, two] = [await t.member(projectId, 'owner'), await t.member(projectId, 'owner')]
    const { id } = (await one.post('/v1/management-tokens', { name: 'mine', role: 'viewer' })).body
    expect((await two.delete(`/v1/management-tokens/${id}`)).status).toBe(404)
    const administrator = await t.administrator()
    expect((await administrator.delete(`/v1/management-tokens/${id}`)).status).toBe(204)
  })

  test('401 tells what is wrong with a credential, always with the envelope and WWW-Authenticate', async () => {
    const unknown = newCredential('mgmt').secret
    const table: Array<[string, string | undefined, string]> = [
      ['none', undefined, 'missing'],
      ['another scheme', 'Basic abc', 'malformed'],
      ['no scheme', unknown, 'malformed'],
      ['two in one header', `Bearer ${unknown}, Bearer ${unknown}`, 'malformed'],
      ['a wrong checksum', `Bearer ${unknown.slice(0, -1)}${unknown.endsWith('a') ? 'b' : 'a'}`, 'malformed'],
      ['cut short', `Bearer ${unknown.slice(0, -3)}`, 'malformed'],
      ['unknown', `Bearer ${unknown}`, 'unknown'],
      ['an API key', `Bearer ${newCredential('live').secret}`, 'wrong_kind'],
    ]
    for (const [name, authorization, reason] of table) {
      const answer = await t.anonymous.get(
        '/v1/projects',
        undefined,
        authorization === undefined ? {} : { authorization },
      )
      expect(answer, name).toMatchObject({ status: 401, body: { error: 'authentication_failed', reason } })
      expect(answer.headers['www-authenticate'], name).toBe('Bearer realm="sluice"')
    }
  })

  test('429 for failed credentials after twenty a minute; a good one passes all the while', async () => {
    const limited = await openTestApp()
    const wrong = limited.withToken(newCredential('mgmt').secret)
    const statuses: number[] = []
    for (let count = 0; count < 22; count += 1) statuses.push((await wrong.get('/v1/projects')).status)
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401))
    expect(statuses.slice(20)).toEqual([429, 429])
    expect((await limited.withToken(operatorToken).get('/v1/projects')).status).toBe(200)
    await limited.close()
  })
})

describe('audit', () => {
  test('says who did what, newest first, and never a secret', async () => {
    const projectId = await t.project()
    const owner = await t.member(projectId, 'owner')
    await owner.post(`/v1/projects/${projectId}/environments`, { name: 'qa' })
    const { secret } = (
      await owner.post('/v1/management-tokens', { name: 'CI', role: 'viewer', project_id: projectId })
    ).body
    const log = await owner.get(`/v1/audit?project_id=${projectId}`)
    expect(log.body.data.map((entry: { action: string }) => entry.action)).toEqual([
      'management_token.created',
      'environment.added',
      'invitation.accepted',
      'invitation.created',
      'project.created',
    ])
    expect(log.body.data[0].actor).toEqual({ kind: 'user', id: owner.userId, label: owner.email })
    expect(log.body.data[0].request_id).toMatch(/^req_/)
    expect(JSON.stringify(log.body)).not.toContain(secret)
    expect((await owner.get('/v1/audit')).status).toBe(403)
    expect((await t.operator.get('/v1/audit')).status).toBe(200)
  })

  test('an act that fails leaves no entry', async () => {
    const projectId = await t.project()
    const path = `/v1/projects/${projectId}/environments`
    await t.operator.post(path, { name: 'production' })
    const log = await t.operator.get(`/v1/audit?project_id=${projectId}`)
    expect(log.body.data.map((entry: { action: string }) => entry.action)).toEqual(['project.created'])
  })
})
