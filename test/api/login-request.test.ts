import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type Person, type TestApp } from '../harness/app.ts'
import { openSource, type Source } from '../harness/source.ts'

const password = 'a password of theirs'
const json = { 'content-type': 'application/json' }

/** What the API issued and takes, and how it answers a login. */
type Api = { issued: string[]; taken: Set<string>; logins: Array<{ type: string; body: string }>; answers: number[] }
type Login = (token: string) => { status?: number; headers?: Record<string, string | string[]>; body?: unknown }

let t: TestApp
let source: Source
let editor: Person
let projectId: string
let api: Api
let login: Login
let tokenOf: (request: IncomingMessage) => string | undefined

beforeAll(async () => {
  source = await openSource()
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: source.host })
  await t.app.jobs.start()
  source.handle((request, response) => void serve(request, response))
})
afterAll(async () => {
  await t.close()
  await source.close()
})
beforeEach(async () => {
  projectId = await t.project()
  editor = await t.member(projectId, 'editor')
  api = { issued: [], taken: new Set(), logins: [], answers: [] }
  login = (token) => ({ body: { token } })
  tokenOf = ({ headers }) => headers.authorization?.replace('Bearer ', '')
})

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url !== '/login') {
    const isKnown = api.taken.has(tokenOf(request) ?? '')
    api.answers.push(isKnown ? 200 : 401)
    response.writeHead(isKnown ? 200 : 401, json).end(isKnown ? '[{"id": 1}]' : '{"message": "who are you"}')
    return
  }
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const body = Buffer.concat(parts).toString()
  api.logins.push({ type: request.headers['content-type'] ?? '', body })
  if (!decodeURIComponent(body.replaceAll('+', ' ')).includes(password)) {
    response.writeHead(400, json).end(`{"error": "no such person: ${body.replaceAll('"', '')}"}`)
    return
  }
  const token = `tok-${t.app.now()}-${api.issued.length}`
  api.issued.push(token)
  api.taken.add(token)
  const { status = 200, headers = {}, body: answer = {} } = login(token)
  response.writeHead(status, { ...json, ...headers }).end(JSON.stringify(answer))
}

const auth = (more: object = {}) => ({
  token_url: `http://${source.host}/login`,
  body: { identity: 'operator@shop.example', password },
  token_path: 'token',
  ...more,
})
const configuration = (more: object = {}) => ({
  url: source.url,
  method: 'GET',
  authType: 'Login Request',
  auth: auth(more),
})
const tryOut = async (config: Record<string, unknown>) =>
  (await expectStatus(200, editor.post('/v1/http/test-connection', config))).body as Record<string, unknown>

describe('a login request', () => {
  test('is made once, and its token goes with each call until it ends', async () => {
    login = (token) => ({ body: { data: { access: token, expires: 900_000 } } })
    const config = configuration({
      token_path: 'data.access',
      expires_path: 'data.expires',
      expires_unit: 'milliseconds',
    })
    for (let call = 0; call < 3; call += 1)
      expect(await tryOut(config)).toMatchObject({ success: true, data: [{ id: 1 }] })
    expect(api.logins).toEqual([
      { type: 'application/json', body: JSON.stringify({ identity: 'operator@shop.example', password }) },
    ])
    t.advance(840_000)
    await tryOut(config)
    expect(api.issued.length).toBe(1)
    // Renewed before its end, so that it does not expire on the way.
    t.advance(40_000)
    await tryOut(config)
    expect(api.issued.length).toBe(2)
    expect(api.answers).not.toContain(401)
  })

  test('is made once more where the API takes its token no longer, and once only', async () => {
    const config = configuration()
    await tryOut(config)
    api.taken.clear()
    expect(await tryOut(config)).toMatchObject({ success: true })
    expect(api.answers).toEqual([200, 401, 200])
    login = () => ({ body: { token: 'never-good' } })
    api.taken.clear()
    expect(await tryOut(config)).toMatchObject({ success: false, status: 401, problem: { code: 'unauthorized' } })
    expect(api.answers).toEqual([200, 401, 200, 401, 401])
  })

  test.each([
    ['a span of seconds', () => ({ expires_path: 'ends' }), () => 600],
    ['a moment in seconds', () => ({ expires_path: 'ends' }), (now: number) => Math.floor(now / 1_000) + 600],
    ['a moment in milliseconds', () => ({ expires_path: 'ends' }), (now: number) => String(now + 600_000)],
    ['a date', () => ({ expires_path: 'ends' }), (now: number) => new Date(now + 600_000).toISOString()],
    ['what its author says', () => ({ lifetime_seconds: 600 }), () => null],
  ] as const)('ends by %s', async (_what, wish, endsAt) => {
    login = (token) => ({ body: { token, ends: endsAt(t.app.now()) } })
    const config = configuration(wish())
    await tryOut(config)
    t.advance(560_000)
    await tryOut(config)
    expect(api.issued.length).toBe(1)
    t.advance(20_000)
    await tryOut(config)
    expect(api.issued.length).toBe(2)
  })

  test('ends when a JSON web token says so itself', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    login = () => {
      const token = `${part({ alg: 'none' })}.${part({ exp: Math.floor(t.app.now() / 1_000) + 7_200 })}.x${api.issued.length}`
      api.taken.add(token)
      return { body: { token } }
    }
    await tryOut(configuration())
    t.advance(7_100_000)
    await tryOut(configuration())
    expect(api.issued.length).toBe(1)
    t.advance(80_000)
    await tryOut(configuration())
    expect(api.issued.length).toBe(2)
    expect(api.answers).toEqual([200, 200, 200])
  })

  test('takes a form, a cookie for a session, and a header of the API for its token', async () => {
    login = (token) => ({
      headers: {
        'set-cookie': ['seen=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT', `session_id=${token}; Path=/; HttpOnly`],
        'x-subject-token': token,
      },
    })
    tokenOf = ({ headers }) => /(?:^|; )session_id=([^;]*)/.exec(headers.cookie ?? '')?.[1]
    const session = {
      body_type: 'form',
      token_from: 'cookie',
      token_path: 'session_id',
      in: 'cookie',
      key: 'session_id',
    }
    const own = { headers: { Cookie: 'language=de' } }
    expect(await tryOut({ ...configuration(session), ...own })).toMatchObject({ success: true })
    const [first] = api.logins
    expect(first?.type).toBe('application/x-www-form-urlencoded')
    expect(Object.fromEntries(new URLSearchParams(first?.body))).toEqual({
      identity: 'operator@shop.example',
      password,
    })
    tokenOf = ({ headers }) => String(headers['x-auth-token'])
    const header = { token_from: 'header', token_path: 'X-Subject-Token', key: 'X-Auth-Token' }
    expect(await tryOut(configuration(header))).toMatchObject({ success: true })
    // Names that every object has are no headers.
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect(await tryOut(configuration({ ...header, token_path: name }))).toMatchObject({
        error: { message: expect.stringContaining(`has no token in the header ${name}.`) },
      })
    }
  })

  test('that is refused says what to look at, and nothing that was sent', async () => {
    const wrong = await tryOut(configuration({ body: { identity: 'somebody', password: 'not theirs' } }))
    const { message } = wrong['error'] as { message: string }
    expect(wrong).toMatchObject({ success: false, error: { code: 'token_refused' } })
    expect(message).toContain('answered 400. Check auth.body')
    expect(JSON.stringify(wrong)).not.toContain('not theirs')
    expect(await tryOut(configuration({ token_path: 'data.jwt' }))).toMatchObject({
      error: { message: expect.stringContaining('has no token at data.jwt. Check auth.token_path.') },
    })
    const { body } = await expectStatus(
      400,
      editor.post('/v1/http/test-connection', {
        ...configuration(),
        auth: { token_url: `http://${source.host}/login` },
      }),
    )
    expect(body.details).toMatchObject([{ field: 'auth.body' }, { field: 'auth.token_path' }])
  })

  test('keeps its secrets sealed: they are shown as ***, and go to no other address', async () => {
    const path = `/v1/projects/${projectId}/datasources`
    const made = await expectStatus(
      201,
      editor.post(path, { name: 'Orders', kind: 'http_api', config: configuration() }),
    )
    expect(made.body.config.auth).toMatchObject({
      body: { identity: 'operator@shop.example', password: '***' },
      token_path: 'token',
    })
    expect(JSON.stringify(made.body)).not.toContain(password)
    await expectStatus(201, editor.post(`${path}/${made.body.id}/refresh`))
    await expect
      .poll(async () => (await editor.get(`${path}/${made.body.id}`)).body.status, { timeout: 15_000 })
      .toBe('ready')
    const { auth: shown } = made.body.config
    const elsewhere = { ...configuration(), auth: { ...shown, token_url: 'http://127.0.0.1:9/login' } }
    const asked = { ...elsewhere, project_id: projectId, datasource_id: made.body.id }
    const refused = await expectStatus(400, editor.post('/v1/http/test-connection', asked))
    expect(refused.body.details).toMatchObject([{ field: 'auth.body.password' }])
    expect(api.logins.length).toBe(1)
  })
})
