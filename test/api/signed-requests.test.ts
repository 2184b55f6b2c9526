import { createHash, createHmac, generateKeyPairSync, verify } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type Person, type TestApp } from '../harness/app.ts'
import { openSource, type Source } from '../harness/source.ts'
import { certificate, privateKey } from '../harness/tls.ts'

const json = { 'content-type': 'application/json' }

let t: TestApp
let source: Source
let editor: Person
let projectId: string

beforeAll(async () => {
  source = await openSource()
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: '127.0.0.1,localhost' }, { outboundCa: certificate })
})
afterAll(async () => {
  await t.close()
  await source.close()
})
beforeEach(async () => {
  projectId = await t.project()
  editor = await t.member(projectId, 'editor')
  source.requests.length = 0
})

const tryOut = async (config: object) => {
  const body = { project_id: projectId, url: source.url, method: 'GET', ...config }
  return (await expectStatus(200, editor.post('/v1/http/test-connection', body))).body
}
/** Answers rows to whom it knows, and 401 with a challenge to others. */
function guarded(knows: (request: IncomingMessage) => boolean, challenge?: () => string): number[] {
  const answers: number[] = []
  source.handle((request, response) => {
    const status = knows(request) ? 200 : 401
    answers.push(status)
    response.writeHead(status, { ...json, ...(challenge && status === 401 && { 'www-authenticate': challenge() }) })
    response.end(status === 200 ? '[{"id":1}]' : '{}')
  })
  return answers
}
const md5 = (text: string) => createHash('md5').update(text).digest('hex')

describe('digest authentication', () => {
  test('answers the challenge, and not twice with a password that is wrong', async () => {
    const answers = guarded(
      ({ headers, method, url }) => {
        const of = (name: string) => new RegExp(`${name}="?([^",]+)`).exec(headers.authorization ?? '')?.[1] ?? ''
        const [first, second] = [md5('ada:shop, "north":s3cret'), md5(`${method}:${url}`)]
        const expected = md5(`${first}:n1:${of('nc')}:${of('cnonce')}:auth:${second}`)
        return of('response') === expected && of('uri') === url
      },
      () => 'Basic realm="x", Digest realm="shop, \\"north\\"", nonce="n1", qop="auth,auth-int", algorithm=MD5',
    )
    const auth = { username: 'ada', password: 's3cret' }
    expect(await tryOut({ authType: 'Digest', auth, parameters: { a: { value: 'b c' } } })).toMatchObject({
      success: true,
    })
    expect(answers).toEqual([401, 200])
    answers.length = 0
    const wrong = { ...auth, password: 'another' }
    expect(await tryOut({ authType: 'Digest Auth', auth: wrong })).toMatchObject({
      success: false,
      problem: { code: 'unauthorized' },
    })
    expect(answers).toEqual([401, 401])
  })

  test.each(['constructor', '__proto__', 'toString-sess', 'MD5\\", x="', 'sha-1'])(
    'a challenge for %s is none that can be answered',
    async (algorithm) => {
      const answers = guarded(
        () => false,
        () => `Digest realm="x", nonce="n", algorithm="${algorithm}"`,
      )
      const tried = await tryOut({ authType: 'Digest', auth: { username: 'ada', password: 's3cret' } })
      expect(tried).toMatchObject({ success: false, problem: { code: 'unauthorized' } })
      expect(answers).toEqual([401])
    },
  )
})

describe('a service account', () => {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const claimsOf = (token: string): Record<string, unknown> | null => {
    const [head = '', claims = '', signature = ''] = token.split('.')
    const isGood = verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      keys.publicKey,
      Buffer.from(signature, 'base64url'),
    )
    return isGood ? (JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>) : null
  }

  test('sends its token, or exchanges it for another', async () => {
    guarded(({ headers }) => claimsOf(headers.authorization?.replace('Bearer ', '') ?? '')?.['iss'] === 'loader')
    const auth = { private_key: pem, issuer: 'loader' }
    expect(await tryOut({ authType: 'Signed JWT', auth })).toMatchObject({ success: true })

    const asked: URLSearchParams[] = []
    source.handle((request, response) => {
      if (request.url !== '/token') {
        const isKnown = request.headers.authorization === 'Bearer exchanged'
        response.writeHead(isKnown ? 200 : 401, json).end('[]')
        return
      }
      let body = ''
      request.on('data', (piece: Buffer) => (body += piece.toString()))
      request.on('end', () => {
        const parameters = new URLSearchParams(body)
        asked.push(parameters)
        const claims = claimsOf(parameters.get('assertion') ?? '')
        const isGood = claims?.['aud'] === `http://${source.host}/token` && claims['scope'] === 'read'
        const answer = isGood ? { access_token: 'exchanged', expires_in: 3600 } : { error: 'invalid_grant' }
        response.writeHead(isGood ? 200 : 400, json).end(JSON.stringify(answer))
      })
    })
    const tokenUrl = `http://${source.host}/token`
    const exchange = { ...auth, audience: tokenUrl, scope: 'read', token_url: tokenUrl }
    for (const _ of [1, 2]) expect(await tryOut({ authType: 'jwt', auth: exchange })).toMatchObject({ success: true })
    expect(asked).toHaveLength(1)
    expect(Object.fromEntries(asked[0] ?? [])).toMatchObject({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    })
    expect(asked[0]?.has('client_id')).toBe(false)
  })

  test('its key is sealed, shown to nobody, and goes nowhere else', async () => {
    const auth = { private_key: pem, issuer: 'loader' }
    const config = { url: source.url, method: 'GET', authType: 'Signed JWT', auth }
    const path = `/v1/projects/${projectId}/datasources`
    const { body } = await expectStatus(201, editor.post(path, { name: 'Orders', kind: 'http_api', config }))
    expect(body.config.auth).toEqual({ private_key: '***', issuer: 'loader' })
    const kept = { ...config, auth: { private_key: '***', issuer: 'loader' } }
    await expectStatus(200, editor.patch(`${path}/${body.id}`, { config: kept }))
    // Whoever may edit cannot have it sign for another address, nor be exchanged there.
    for (const other of [
      { ...kept, url: 'http://127.0.0.1:9/' },
      { ...kept, auth: { ...kept.auth, token_url: 'http://127.0.0.1:9/token' } },
    ]) {
      expect(await editor.patch(`${path}/${body.id}`, { config: other })).toMatchObject({
        status: 400,
        body: { details: [{ field: 'auth.private_key' }] },
      })
    }
  })
})

test('an HMAC is made anew for each page', async () => {
  const seen: string[] = []
  source.handle((request, response) => {
    const time = String(request.headers['x-time'])
    const expected = createHmac('sha512', 'k').update(`${time}GET${request.url}`).digest('hex')
    const isGood = request.headers['x-sign'] === expected
    seen.push(request.url ?? '')
    const page = Number(new URL(request.url ?? '/', 'http://x').searchParams.get('page'))
    response.writeHead(isGood ? 200 : 401, json).end(page < 3 ? `[{"id":${page}}]` : '[]')
  })
  const template = '{timestamp}{method}{path_and_query}'
  const auth = { secret: 'k', algorithm: 'sha512', template, header: 'X-Sign', timestamp_header: 'X-Time' }
  const config = { url: source.url, method: 'GET', authType: 'HMAC', auth }
  const made = await editor.post(`/v1/projects/${projectId}/datasources`, { name: 'Orders', kind: 'http_api', config })
  const executed = await editor.post('/v1/http/execute-request', {
    project_id: projectId,
    datasource_id: made.body.id,
    connect_spec: { name: 'Orders', id: 'http_api', config },
    url: source.url,
    method: 'GET',
    pagination: { type: 'page' },
  })
  expect(executed.status).toBe(200)
  expect(seen.map((url) => url.split('page=')[1])).toEqual(['1', '2', '3'])
})

test('a client certificate opens what only its owner may see', async () => {
  const server = createServer(
    { cert: certificate, key: privateKey, ca: certificate, requestCert: true, rejectUnauthorized: true },
    (_request, response) => void response.writeHead(200, json).end('[{"id":1}]'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`
  try {
    expect(await tryOut({ url })).toMatchObject({ success: false })
    const auth = { certificate, private_key: privateKey }
    expect(await tryOut({ url, authType: 'Client Certificate', auth })).toMatchObject({ success: true })
    // What is known of one client is not used for another.
    expect(await tryOut({ url })).toMatchObject({ success: false })
    const wrong = { project_id: projectId, url, method: 'GET', authType: 'Client Certificate' }
    const refused = await editor.post('/v1/http/test-connection', { ...wrong, auth: { ...auth, private_key: 'x' } })
    expect(refused).toMatchObject({ status: 400, body: { details: [{ field: 'auth.private_key' }] } })
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
})

describe('an API that sends its caller elsewhere', () => {
  const proofs: Array<[string, Record<string, unknown>]> = [
    [
      'AWS Signature',
      { access_key_id: 'AKIDEXAMPLE', secret_access_key: 's', region: 'eu-1', service: 'x', session_token: 't0ken' },
    ],
    ['HMAC', { secret: 'k', template: '{method}{path}', header: 'X-Sign', nonce_header: 'X-Nonce' }],
    ['Client Certificate', { certificate, private_key: privateKey }],
  ]
  test.each(proofs)(
    'takes no proof of %s along to another origin, by a redirect or as the next page',
    async (authType, auth) => {
      const seen: Array<Record<string, unknown>> = []
      const note = (request: IncomingMessage) => {
        const { authorized } = request.socket as TLSSocket
        seen.push({
          ...request.headers,
          proved: authorized,
          peer: Object.keys((request.socket as TLSSocket).getPeerCertificate()),
        })
      }
      const secure = {
        cert: certificate,
        key: privateKey,
        ca: certificate,
        requestCert: true,
        rejectUnauthorized: false,
      }
      const other = createServer(secure, (request, response) => {
        note(request)
        response.writeHead(200, json).end('{"data":[{"id":2}],"next":null}')
      })
      const first = createServer(secure, (request, response) => {
        const to = `https://localhost:${(other.address() as AddressInfo).port}/`
        if (request.url?.startsWith('/redirect') === true) response.writeHead(302, { location: to }).end()
        else response.writeHead(200, json).end(JSON.stringify({ data: [{ id: 1 }], next: `${to}?page=2` }))
      })
      const listen = (server: typeof other) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      await Promise.all([listen(other), listen(first)])
      const origin = `https://localhost:${(first.address() as AddressInfo).port}`
      try {
        await tryOut({ url: `${origin}/redirect`, authType, auth })
        const config = { url: `${origin}/pages`, method: 'GET', authType, auth, responsePathExtractor: 'data' }
        await editor.post('/v1/http/execute-request', {
          project_id: projectId,
          datasource_id: `ds_${projectId}`,
          connect_spec: { name: 'Orders', id: 'http_api', config },
          url: config.url,
          method: 'GET',
          pagination: { type: 'next_link', path: 'next' },
        })
        expect(seen.length).toBeGreaterThanOrEqual(1)
        for (const { proved, peer, ...headers } of seen) {
          expect([proved, peer]).toEqual([false, []])
          expect(Object.keys(headers).filter((name) => /sign|nonce|auth|amz|token/i.test(name))).toEqual([])
        }
      } finally {
        for (const server of [first, other]) {
          server.closeAllConnections()
          server.close()
        }
      }
    },
  )
})
