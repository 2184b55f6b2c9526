import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'

let t: TestApp
beforeAll(async () => {
  t = await openTestApp()
})
afterAll(() => t.close())

const newcomer = (name: string) => ({ name, email: `${name}@example.org`, password: 'long-enough-password' })

async function invite(projectId: string, role = 'editor'): Promise<string> {
  const made = await t.operator.post(`/v1/projects/${projectId}/invitations`, { role })
  return String(made.body.link).split('#')[1] ?? ''
}

describe('invitations', () => {
  test('201 lets a newcomer in with the role it names, once', async () => {
    const projectId = await t.project('Harbour')
    const token = await invite(projectId)
    const offer = await t.anonymous.post('/v1/invitations/read', { token })
    expect(offer).toMatchObject({ status: 200, body: { project_name: 'Harbour', role: 'editor' } })
    const browser = t.browser()
    const joined = await browser.post('/v1/invitations/accept', { token, ...newcomer('ann') })
    expect(joined).toMatchObject({ status: 201, body: { project_id: projectId, user: { name: 'ann' } } })
    expect((await browser.get(`/v1/projects/${projectId}`)).body.role).toBe('editor')
    expect((await t.browser().post('/v1/invitations/accept', { token, ...newcomer('bob') })).status).toBe(401)
  })

  test('201 for someone signed in adds a role and keeps a greater one', async () => {
    const [first, second] = [await t.project(), await t.project()]
    const person = await t.member(first, 'owner')
    expect((await person.post('/v1/invitations/accept', { token: await invite(second, 'viewer') })).status).toBe(201)
    expect((await person.get(`/v1/projects/${second}`)).body.role).toBe('viewer')
    expect((await person.post('/v1/invitations/accept', { token: await invite(first, 'viewer') })).status).toBe(201)
    expect((await person.get(`/v1/projects/${first}`)).body.role).toBe('owner')
  })

  test('400 names what a newcomer left out, and the invitation stays good', async () => {
    const token = await invite(await t.project())
    const bare = await t.browser().post('/v1/invitations/accept', { token, name: 'Cy' })
    expect(bare.status).toBe(400)
    expect(bare.body.details.map((detail: { field: string }) => detail.field)).toEqual(['email', 'password'])
    expect((await t.browser().post('/v1/invitations/accept', { token, ...newcomer('cy') })).status).toBe(201)
  })

  test('409 for an e-mail that is taken, and the invitation stays good', async () => {
    const projectId = await t.project()
    const person = await t.member(projectId, 'viewer')
    const token = await invite(projectId)
    const taken = await t.browser().post('/v1/invitations/accept', { token, ...newcomer('dee'), email: person.email })
    expect(taken).toMatchObject({ status: 409, body: { reason: 'name_taken' } })
    expect((await t.browser().post('/v1/invitations/accept', { token, ...newcomer('dee') })).status).toBe(201)
  })

  test('403 for whoever has another address than the invitation names, and it stays good for the one who has it', async () => {
    const projectId = await t.project()
    const body = { role: 'owner', email: 'Eve@example.org' }
    const made = await t.operator.post(`/v1/projects/${projectId}/invitations`, body)
    const token = String(made.body.link).split('#')[1]
    const refusal = { status: 403, body: { error: 'permission_denied', reason: 'other_address' } }
    const other = await t.member(await t.project(), 'viewer')
    expect(await other.post('/v1/invitations/accept', { token })).toMatchObject(refusal)
    expect((await other.get(`/v1/projects/${projectId}`)).status).toBe(404)
    const first = await t.administrator()
    expect(await first.post('/v1/invitations/accept', { token })).toMatchObject(refusal)
    const mallory = { token, ...newcomer('mallory') }
    expect(await t.browser().post('/v1/invitations/accept', mallory)).toMatchObject(refusal)
    // Nobody came to be by the refused call.
    const signIn = { email: 'mallory@example.org', password: mallory.password }
    expect((await t.anonymous.post('/v1/session', signIn)).status).toBe(401)
    expect((await t.browser().post('/v1/invitations/accept', { token, ...newcomer('eve') })).status).toBe(201)
  })

  test('401 after it was withdrawn or has expired', async () => {
    const projectId = await t.project()
    const made = await t.operator.post(`/v1/projects/${projectId}/invitations`, { role: 'viewer' })
    const open = await t.operator.get(`/v1/projects/${projectId}/invitations`)
    expect(open.body.data).toMatchObject([{ id: made.body.id, role: 'viewer' }])
    expect(open.body.data[0]).not.toHaveProperty('link')
    expect((await t.operator.delete(`/v1/projects/${projectId}/invitations/${made.body.id}`)).status).toBe(204)
    const token = String(made.body.link).split('#')[1]
    expect((await t.anonymous.post('/v1/invitations/read', { token })).status).toBe(401)
    const later = await invite(projectId)
    t.advance(604_801_000)
    expect((await t.anonymous.post('/v1/invitations/read', { token: later })).status).toBe(401)
  })
})

describe('members', () => {
  test('200 changes a role, 204 removes, and both take effect at once', async () => {
    const projectId = await t.project()
    const [owner, other] = [await t.member(projectId, 'owner'), await t.member(projectId, 'viewer')]
    const path = `/v1/projects/${projectId}/members/${other.userId}`
    expect(await owner.patch(path, { role: 'owner' })).toMatchObject({ status: 200, body: { role: 'owner' } })
    expect((await other.patch(`/v1/projects/${projectId}`, { name: 'Mine' })).status).toBe(200)
    expect((await owner.delete(path)).status).toBe(204)
    expect((await other.get(`/v1/projects/${projectId}`)).status).toBe(404)
  })

  test('409 for the last owner who leaves or steps down, also when two go at once', async () => {
    const projectId = await t.project()
    const [one, two] = [await t.member(projectId, 'owner'), await t.member(projectId, 'owner')]
    const leave = [
      one.delete(`/v1/projects/${projectId}/members/${one.userId}`),
      two.delete(`/v1/projects/${projectId}/members/${two.userId}`),
    ]
    const statuses = (await Promise.all(leave)).map((answer) => answer.status)
    expect(statuses.sort()).toEqual([204, 409])
    const stays = (await t.operator.get(`/v1/projects/${projectId}/members`)).body.data[0].user_id
    const down = await t.operator.patch(`/v1/projects/${projectId}/members/${stays}`, { role: 'viewer' })
    expect(down).toMatchObject({ status: 409, body: { reason: 'last_owner' } })
  })

  test('a viewer may leave but not remove another', async () => {
    const projectId = await t.project()
    const [viewer, other] = [await t.member(projectId, 'viewer'), await t.member(projectId, 'viewer')]
    expect((await viewer.delete(`/v1/projects/${projectId}/members/${other.userId}`)).status).toBe(403)
    expect((await viewer.delete(`/v1/projects/${projectId}/members/${viewer.userId}`)).status).toBe(204)
  })
})
