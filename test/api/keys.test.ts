import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openTestApp, type Answer, type TestApp } from '../harness/app.ts'

let t: TestApp
beforeAll(async () => {
  t = await openTestApp()
})
afterAll(() => t.close())

const everywhere = (projectId: string) => [{ project_id: projectId, environments: '*' }]

async function actionsOf(projectId: string): Promise<string[]> {
  const log = await t.operator.get(`/v1/audit?project_id=${projectId}`)
  return log.body.data.map((entry: { action: string }) => entry.action)
}

describe('making a key', () => {
  test('201 shows the secret once, in the decided shape', async () => {
    const projectId = await t.project()
    const owner = await t.member(projectId, 'owner')
    const permissions = [{ project_id: projectId, environments: ['production'], queries: ['top_customers'] }]
    const made = await owner.post('/v1/api-keys', { name: 'Shop front', permissions })
    expect(made).toMatchObject({
      status: 201,
      body: {
        id: expect.stringMatching(/^key_/),
        name: 'Shop front',
        permissions,
        fixed_parameters: {},
        plan: 'pro',
        status: 'active',
        created_by: owner.userId,
        expires_at: null,
        last_used_at: null,
      },
    })
    const { secret, ...record } = made.body
    expect(secret).toMatch(/^slc_live_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/)
    expect(secret.startsWith(record.start) && secret.endsWith(record.last4)).toBe(true)
    const found = await owner.get(`/v1/api-keys/${record.id}`)
    expect(found.body).toEqual(record)
    const listed = await owner.get('/v1/api-keys')
    expect(listed.body).toEqual({ data: [record], next_cursor: null })
    const log = await owner.get(`/v1/audit?project_id=${projectId}`)
    expect(log.body.data[0]).toMatchObject({ action: 'api_key.created', target: record.id, details: { permissions } })
    expect(JSON.stringify([found.body, listed.body, log.body])).not.toContain(secret)
  })

  test.each([
    ['live', ['production']],
    ['live', ['staging', 'production']],
    ['live', '*'],
    ['test', ['staging', 'development']],
  ])('the secret of a key says %s for %j', async (kind, environments) => {
    const permissions = [{ project_id: await t.project(), environments }]
    const { body } = await t.operator.post('/v1/api-keys', { name: 'x', permissions })
    expect(body.secret.startsWith(`slc_${kind}_`)).toBe(true)
  })

  test('400 for what cannot be meant, naming the field', async () => {
    const projectId = await t.project()
    const permissions = everywhere(projectId)
    const table: Array<[string, Record<string, unknown>]> = [
      ['name', { permissions }],
      ['permissions', { name: 'x', permissions: [] }],
      ['permissions.0.environments', { name: 'x', permissions: [{ project_id: projectId, environments: [] }] }],
      ['permissions.0.environments', { name: 'x', permissions: [{ project_id: projectId, environments: ['prod'] }] }],
      ['plan', { name: 'x', permissions, plan: 'gold' }],
      ['expires_at', { name: 'x', permissions, expires_at: '2020-01-01T00:00:00Z' }],
      ['rate_limit.burst', { name: 'x', permissions, rate_limit: { per_minute: 5 } }],
      ['daily_quota', { name: 'x', permissions, daily_quota: 0 }],
      ['fixed_parameters.tenant', { name: 'x', permissions, fixed_parameters: { tenant: null } }],
      ['secret', { name: 'x', permissions, secret: 'mine' }],
    ]
    for (const [field, body] of table) {
      const answer = await t.operator.post('/v1/api-keys', body)
      expect(answer, field).toMatchObject({ status: 400, body: { error: 'invalid_request', reason: 'invalid_field' } })
      expect(answer.body.details.map((detail: { field: string }) => detail.field)).toContain(field)
    }
    const near = await t.operator.post('/v1/api-keys', {
      name: 'x',
      permissions: [{ project_id: projectId, environments: ['productoin'] }],
    })
    expect(near.body.details[0].message).toContain('perhaps you meant production')
    expect(await actionsOf(projectId)).toEqual(['project.created'])
  })

  test('403 and 404 for projects the maker does not own; every project only for administrators', async () => {
    const [own, foreign] = [await t.project(), await t.project()]
    const owner = await t.member(own, 'owner')
    const editor = await t.member(own, 'editor')
    const make = (client: typeof t.operator, permissions: unknown): Promise<Answer> =>
      client.post('/v1/api-keys', { name: 'x', permissions })
    expect((await make(editor, everywhere(own))).status).toBe(403)
    expect((await make(owner, [...everywhere(own), ...everywhere(foreign)])).status).toBe(404)
    expect((await make(owner, everywhere('prj_none'))).status).toBe(404)
    expect((await make(owner, everywhere('*'))).status).toBe(403)
    expect((await make(await t.administrator(), everywhere('*'))).status).toBe(201)
    expect((await make(t.anonymous, everywhere(own))).status).toBe(401)
  })
})

describe('seeing keys', () => {
  test('only who owns every project of a key sees it; for everyone else it does not exist', async () => {
    const [one, two] = [await t.project(), await t.project()]
    const ownerOfOne = await t.member(one, 'owner')
    const editorOfOne = await t.member(one, 'editor')
    const make = async (permissions: unknown): Promise<string> =>
      (await t.operator.post('/v1/api-keys', { name: 'x', permissions })).body.id
    const keys = {
      ofOne: await make(everywhere(one)),
      ofBoth: await make([...everywhere(one), ...everywhere(two)]),
      ofAll: await make(everywhere('*')),
    }
    const seen = async (client: typeof t.operator): Promise<string[]> =>
      (await client.get('/v1/api-keys')).body.data.map((key: { id: string }) => key.id)
    expect(await seen(ownerOfOne)).toEqual([keys.ofOne])
    expect(await seen(editorOfOne)).toEqual([])
    expect(await seen(t.operator)).toEqual(expect.arrayContaining(Object.values(keys)))
    for (const id of [keys.ofBoth, keys.ofAll, 'key_none']) {
      expect((await ownerOfOne.get(`/v1/api-keys/${id}`)).status).toBe(404)
      expect((await ownerOfOne.patch(`/v1/api-keys/${id}`, { name: 'mine' })).status).toBe(404)
      expect((await ownerOfOne.post(`/v1/api-keys/${id}/rotate`)).status).toBe(404)
      expect((await ownerOfOne.post(`/v1/api-keys/${id}/disable`)).status).toBe(404)
      expect((await ownerOfOne.delete(`/v1/api-keys/${id}`)).status).toBe(404)
    }
    const token = async (role: string, project_id?: string) => {
      const made = await ownerOfOne.post('/v1/management-tokens', { name: 'x', role, project_id })
      return seen(t.withToken(made.body.secret))
    }
    expect(await token('owner', one)).toEqual([keys.ofOne])
    expect(await token('editor', one)).toEqual([])
    const other = (await t.operator.post('/v1/management-tokens', { name: 'x', role: 'owner', project_id: two })).body
    expect(await seen(t.withToken(other.secret))).toEqual([])
  })

  test('pages follow each other without gap or repetition', async () => {
    const projectId = await t.project()
    const owner = await t.member(projectId, 'owner')
    const made: string[] = []
    for (let count = 0; count < 5; count += 1) {
      made.push((await owner.post('/v1/api-keys', { name: 'x', permissions: everywhere(projectId) })).body.id)
    }
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Answer = await owner.get(`/v1/api-keys?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      seen.push(...page.body.data.map((key: { id: string }) => key.id))
      cursor = page.body.next_cursor
    }
    expect(seen).toEqual(made.toReversed().toSorted().toReversed())
  })

  test('200 tells what a key reaches; nothing while it is disabled', async () => {
    const [one, two] = [await t.project('One'), await t.project('Two')]
    const permissions = [
      { project_id: one, environments: ['staging'], queries: ['b', 'a'] },
      { project_id: one, environments: '*', queries: ['c'] },
      { project_id: two, environments: ['production'] },
    ]
    const { id } = (await t.operator.post('/v1/api-keys', { name: 'x', permissions })).body
    const reached = await t.operator.get(`/v1/api-keys/${id}/reach`)
    expect(reached.body.data.toSorted((a: { project_name: string }) => (a.project_name === 'One' ? -1 : 1))).toEqual([
      {
        project_id: one,
        project_name: 'One',
        environments: [
          { name: 'development', queries: ['c'], deployed: [] },
          { name: 'staging', queries: ['a', 'b', 'c'], deployed: [] },
          { name: 'production', queries: ['c'], deployed: [] },
        ],
      },
      { project_id: two, project_name: 'Two', environments: [{ name: 'production', queries: '*', deployed: [] }] },
    ])
    await t.operator.post(`/v1/api-keys/${id}/disable`)
    expect((await t.operator.get(`/v1/api-keys/${id}/reach`)).body.data).toEqual([])
  })

  test('an owner gives plans with a limit and own limits within them; an administrator gives any', async () => {
    const projectId = await t.project()
    const owner = await t.member(projectId, 'owner')
    const permissions = everywhere(projectId)
    const make = (by: Pick<typeof owner, 'post'>, limits: Record<string, unknown>) =>
      by.post('/v1/api-keys', { name: 'x', permissions, ...limits })
    const refusal = (field: string) => ({
      status: 403,
      body: { reason: 'role_too_small', details: [{ field, message: expect.any(String) }] },
    })
    expect(await make(owner, { plan: 'unlimited' })).toMatchObject(refusal('plan'))
    const faster = { rate_limit: { per_minute: 601, burst: 10 } }
    expect(await make(owner, { plan: 'pro', ...faster })).toMatchObject(refusal('rate_limit'))
    expect(await make(owner, faster)).toMatchObject(refusal('rate_limit'))
    expect((await make(owner, { plan: 'scale', ...faster })).status).toBe(201)
    expect((await make(t.operator, { plan: 'unlimited' })).status).toBe(201)
    const plans = (await owner.get('/v1/plans')).body.data
    expect(plans.filter((plan: { grantable: boolean }) => !plan.grantable)).toMatchObject([{ name: 'unlimited' }])
    expect((await t.operator.get('/v1/plans')).body.data.every((plan: { grantable: boolean }) => plan.grantable)).toBe(
      true,
    )
  })

  test('an owner does not turn what an administrator gave into more, and may change all else', async () => {
    const projectId = await t.project()
    const owner = await t.member(projectId, 'owner')
    const given = { plan: 'unlimited', rate_limit: { per_minute: 10, burst: 1 } }
    const { body: key } = await t.operator.post('/v1/api-keys', {
      name: 'x',
      permissions: everywhere(projectId),
      ...given,
    })
    const path = `/v1/api-keys/${key.id}`
    expect((await owner.patch(path, { rate_limit: null })).status).toBe(403)
    expect((await owner.patch(path, { rate_limit: { per_minute: 1_000_000, burst: 1 } })).status).toBe(403)
    expect((await owner.patch(path, { name: 'y', ...given })).status).toBe(200)
    expect((await owner.patch(path, { plan: 'pro', rate_limit: null })).status).toBe(200)
  })

  test('200 lists the plans, one of them the default', async () => {
    const { body } = await t.operator.get('/v1/plans')
    expect(body.data).toEqual([
      { name: 'free', per_minute: 60, burst: 20, per_day: null, default: false, grantable: true },
      { name: 'pro', per_minute: 600, burst: 100, per_day: null, default: true, grantable: true },
      { name: 'scale', per_minute: 6_000, burst: 500, per_day: null, default: false, grantable: true },
      { name: 'unlimited', per_minute: null, burst: null, per_day: null, default: false, grantable: true },
    ])
    expect((await t.anonymous.get('/v1/plans')).status).toBe(401)
  })
})

describe('changing a key', () => {
  test('each act takes effect at once, and is in the audit log once', async () => {
    const projectId = await t.project()
    const { id, secret } = (await t.operator.post('/v1/api-keys', { name: 'x', permissions: everywhere(projectId) }))
      .body
    const key = t.withToken(secret)
    const path = `/v1/api-keys/${id}`
    expect((await t.operator.post(`${path}/disable`)).body.status).toBe('disabled')
    expect((await t.operator.post(`${path}/disable`)).status).toBe(200)
    expect(await key.get('/v1/key')).toMatchObject({ status: 401, body: { reason: 'disabled' } })
    expect((await t.operator.post(`${path}/enable`)).body.status).toBe('active')
    expect((await key.get('/v1/key')).status).toBe(200)
    const changes = { name: 'y', plan: 'free', rate_limit: { per_minute: 30, burst: 3 }, daily_quota: 10 }
    expect((await t.operator.patch(path, changes)).body).toMatchObject(changes)
    expect((await key.get('/v1/key')).body).toMatchObject({
      name: 'y',
      plan: 'free',
      limits: [{ quota: 30 }, { quota: 10 }],
    })
    expect((await t.operator.patch(path, { rate_limit: null, daily_quota: null })).body.rate_limit).toBe(null)
    expect((await key.get('/v1/key')).body.limits).toMatchObject([{ quota: 60, burst: 20 }])
    expect((await t.operator.patch(path, {})).status).toBe(200)
    expect((await t.operator.delete(path)).status).toBe(204)
    expect((await t.operator.delete(path)).status).toBe(204)
    expect(await key.get('/v1/key')).toMatchObject({ status: 401, body: { reason: 'revoked' } })
    expect(await actionsOf(projectId)).toEqual([
      'api_key.revoked',
      'api_key.updated',
      'api_key.updated',
      'api_key.enabled',
      'api_key.disabled',
      'api_key.created',
      'project.created',
    ])
  })

  test('409 for any act on a revoked key', async () => {
    const permissions = everywhere(await t.project())
    const { id } = (await t.operator.post('/v1/api-keys', { name: 'x', permissions })).body
    await t.operator.delete(`/v1/api-keys/${id}`)
    for (const answer of [
      await t.operator.post(`/v1/api-keys/${id}/enable`),
      await t.operator.post(`/v1/api-keys/${id}/rotate`, { grace_seconds: 0 }),
      await t.operator.patch(`/v1/api-keys/${id}`, { name: 'y' }),
    ]) {
      expect(answer).toMatchObject({ status: 409, body: { error: 'conflict', reason: 'revoked' } })
    }
  })

  test('after a rotation both secrets are good until the grace ends, and a second rotation ends the oldest', async () => {
    const permissions = everywhere(await t.project())
    const first = (await t.operator.post('/v1/api-keys', { name: 'x', permissions })).body
    const path = `/v1/api-keys/${first.id}/rotate`
    const second = (await t.operator.post(path, { grace_seconds: 60 })).body
    expect(second).toMatchObject({ id: first.id, last4: second.secret.slice(-4) })
    expect(Date.parse(second.previous_secret_until) - t.app.now()).toBeGreaterThan(55_000)
    const status = async (secret: string) => (await t.withToken(secret).get('/v1/key')).status
    expect([await status(first.secret), await status(second.secret)]).toEqual([200, 200])
    t.advance(61_000)
    expect(await t.withToken(first.secret).get('/v1/key')).toMatchObject({ status: 401, body: { reason: 'expired' } })
    expect(await status(second.secret)).toBe(200)
    const third = (await t.operator.post(path, { grace_seconds: 0 })).body
    expect([await status(first.secret), await status(second.secret), await status(third.secret)]).toEqual([
      401, 401, 200,
    ])
    const fourth = (await t.operator.post(path)).body
    expect(Date.parse(fourth.previous_secret_until) - t.app.now()).toBeGreaterThan(86_300_000)
    expect([await status(third.secret), await status(fourth.secret)]).toEqual([200, 200])
    expect((await t.operator.post(path, { grace_seconds: -1 })).status).toBe(400)
  })

  test('400 for letting a test key reach production', async () => {
    const projectId = await t.project()
    const permissions = [{ project_id: projectId, environments: ['staging'] }]
    const { id } = (await t.operator.post('/v1/api-keys', { name: 'x', permissions })).body
    const answer = await t.operator.patch(`/v1/api-keys/${id}`, { permissions: everywhere(projectId) })
    expect(answer).toMatchObject({ status: 400, body: { details: [{ field: 'permissions' }] } })
    const narrowed = [{ project_id: projectId, environments: ['development'] }]
    expect((await t.operator.patch(`/v1/api-keys/${id}`, { permissions: narrowed })).body.permissions).toEqual(narrowed)
  })

  test('the last use is shown at once here, and written for the others soon', async () => {
    const permissions = everywhere(await t.project())
    const { id, secret } = (await t.operator.post('/v1/api-keys', { name: 'x', permissions })).body
    await t.withToken(secret).get('/v1/key')
    expect((await t.operator.get(`/v1/api-keys/${id}`)).body.last_used_at).toMatch(/Z$/)
    const written = () => t.app.store.db.selectFrom('apiKeyUses').selectAll().where('keyId', '=', id).executeTakeFirst()
    const first = await vi.waitUntil(written, { timeout: 60_000 })
    await t.withToken(secret).get('/v1/key')
    t.advance(61_000)
    await t.withToken(secret).get('/v1/key')
    await vi.waitFor(async () => expect((await written())?.lastUsedAt).not.toEqual(first?.lastUsedAt), 10_000)
  })
})
