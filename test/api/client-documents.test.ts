import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type Person, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { certificate, openSecureServer, type SecureServer } from '../harness/tls.ts'

const back = 'https://assistant.example/back'

let t: TestApp
let q: QueryProject
let owner: Person
let published: SecureServer
let documents = 0
beforeAll(async () => {
  published = await openSecureServer()
  const bounds = { clientDocumentBytes: 2048, clientDocumentTimeoutMs: 500 }
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: published.host }, { bounds, outboundCa: certificate })
  q = await openQueryProject(t)
  owner = await t.member(q.projectId, 'owner')
})
// What one test has published is not what the next reads.
beforeEach(() => void (documents += 1))
afterAll(async () => {
  published.close()
  await t.close()
})

const address = (path = `/client-${documents}.json`): string => `https://${published.host}${path}`
const asked = (clientId: string, redirectUri = back) =>
  owner.get(`/v1/oauth/client?${new URLSearchParams({ client_id: clientId, redirect_uri: redirectUri }).toString()}`)
const publish = (more: Record<string, unknown> = {}): void =>
  published.answer({ client_id: address(), client_name: 'Hosted', redirect_uris: [back], ...more })

test('the metadata of the authorization server says that it reads them', async () => {
  const { body } = await t.anonymous.get('/.well-known/oauth-authorization-server')
  expect(body.client_id_metadata_document_supported).toBe(true)
})

test('a client is who its document says, read once for five minutes', async () => {
  publish()
  const before = published.requests
  const shown = { client_id: address(), client_name: 'Hosted', redirect_uri: back }
  expect((await asked(address())).body).toEqual(shown)
  expect((await asked(address())).body).toEqual(shown)
  expect(published.requests - before).toBe(1)
  publish({ client_name: 'Hosted, renamed' })
  t.advance(300_000)
  expect((await asked(address())).body.client_name).toBe('Hosted, renamed')
  expect(published.requests - before).toBe(2)
})

test('nobody who is not signed in makes the service read anything', async () => {
  publish()
  const before = published.requests
  const search = new URLSearchParams({ client_id: address(), redirect_uri: back }).toString()
  expect((await t.anonymous.get(`/v1/oauth/client?${search}`)).status).toBe(401)
  const body = new URLSearchParams({ grant_type: 'authorization_code', client_id: address(), code: 'x' }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  expect((await t.http.inject({ method: 'POST', url: '/oauth/token', headers, payload: body })).statusCode).toBe(400)
  expect(published.requests).toBe(before)
})

describe('400, and nothing is approved', () => {
  const refused = async (clientId: string, redirectUri = back): Promise<string> => {
    const { status, body } = await asked(clientId, redirectUri)
    expect(status).toBe(400)
    const approval = await owner.post('/v1/oauth/approvals', {
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: 'A'.repeat(43),
      code_challenge_method: 'S256',
      project_id: q.projectId,
      environment: 'production',
    })
    expect(approval.status).toBe(400)
    return body.message
  }

  test('where the document is about another client, or another address is asked for', async () => {
    publish({ client_id: 'https://bank.example/client.json' })
    expect(await refused(address())).toContain('about another client')
    documents += 1
    publish()
    expect(await refused(address(), 'https://evil.example/back')).toContain('has not registered')
  })

  test('where what it says is not right', async () => {
    for (const wrong of [
      { redirect_uris: [] },
      { redirect_uris: ['javascript:alert(1)'] },
      { redirect_uris: ['http://evil.example/'] },
      { client_name: 7 },
      { token_endpoint_auth_method: 'private_key_jwt' },
    ]) {
      documents += 1
      publish(wrong)
      expect(await refused(address()), JSON.stringify(wrong)).toContain('what it says of itself is not right')
    }
    documents += 1
    published.answer('<html>')
    expect(await refused(address())).toContain('it is no JSON')
  })

  test('where the address is odd', async () => {
    publish()
    const { host } = published
    for (const odd of [
      `https://${host}/`,
      `https://${host}/a/../client.json`,
      `https://${host}/c#x`,
      `https://a:b@${host}/c`,
    ]) {
      const before = published.requests
      expect(await refused(odd), odd).toContain('its address')
      expect(published.requests, odd).toBe(before)
    }
  })

  test('where the address is not for the world: guarded as every call that leaves', async () => {
    for (const inside of [
      'https://127.0.0.1/c',
      'https://10.0.0.1/c',
      'https://169.254.169.254/latest/c',
      'https://[::1]/c',
    ]) {
      expect(await refused(inside), inside).toContain('cannot be read there')
    }
    // By plain http nothing is named: it is looked up as any other id.
    expect((await asked(`http://${published.host}/c`)).status).toBe(404)
  })

  test('where it is too large, too late, elsewhere, or not there', async () => {
    publish({ client_uri: 'x'.repeat(3_000) })
    expect(await refused(address())).toContain('cannot be read there')
    documents += 1
    published.handle(() => undefined)
    expect(await refused(address())).toContain('cannot be read there')
    documents += 1
    published.handle((_request, response) => void response.writeHead(302, { location: address('/other.json') }).end())
    expect(await refused(address())).toContain('cannot be read there')
    documents += 1
    published.handle((_request, response) => void response.writeHead(404).end('{}'))
    expect(await refused(address())).toContain('status 404')
  })
})
