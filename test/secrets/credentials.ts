import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { canary, type Json, type Stage } from './stage.ts'

/** A person's headers: the owner of a session. */
export async function actAsPeople(
  { secrets, service, call, made }: Stage,
  projectId: string,
): Promise<Record<string, string>> {
  const invitation = await made(`/v1/projects/${projectId}/invitations`, { role: 'owner' }, true)
  const token = String(invitation['link']).split('#')[1] ?? ''
  secrets['an invitation'] = token
  const origin = { origin: service().url }
  const email = 'person@example.org'
  const password = secrets['a password']
  await call('POST', '/v1/invitations/read', { body: { token }, headers: {} })
  const joined = await call('POST', '/v1/invitations/accept', {
    body: { token, name: 'P', email, password },
    headers: origin,
  })
  expect(joined.status).toBe(201)
  await call('POST', '/v1/invitations/accept', { body: { token, name: 'P', email, password }, headers: origin })
  const wrong = secrets['a wrong password']
  await call('POST', '/v1/session', { body: { email, password: wrong }, headers: origin })
  const session = await call('POST', '/v1/session', { body: { email, password }, headers: origin })
  const cookie = (session.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  secrets['a cookie'] = decodeURIComponent(cookie.split('=')[1] ?? '').split('.')[0] ?? ''
  expect(secrets['a cookie'].length).toBeGreaterThan(15)
  const change = { password: secrets['a second password'], current_password: password }
  const changed = await call('PATCH', '/v1/session/user', { body: change, headers: { ...origin, cookie } })
  expect(changed.status).toBe(200)
  await call('GET', '/v1/session', { headers: { cookie } })
  return { ...origin, cookie }
}

/** A client registers, a person lets it in, and it calls; then others come with what it has. */
export async function letClientIn(
  { secrets, call, made }: Stage,
  projectId: string,
  person: Record<string, string>,
): Promise<void> {
  const redirectUri = 'https://client.example/back'
  const registered = await made('/oauth/register', { client_name: 'c', redirect_uris: [redirectUri] })
  const verifier = secrets['the verifier of a client'] ?? ''
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const clientId = String(registered['client_id'])
  const approved = await call('POST', '/v1/oauth/approvals', {
    body: {
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      project_id: projectId,
      environment: 'production',
    },
    headers: person,
    shows: true,
  })
  expect(approved.status).toBe(201)
  const code = new URL(approved.body['redirect_to']).searchParams.get('code') ?? ''
  secrets['the code of a client'] = code
  const exchange = async (form: Record<string, string>, shows?: true): Promise<Json> => {
    const body = new URLSearchParams({ client_id: clientId, ...form }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return (await call('POST', '/oauth/token', { body, headers, ...(shows && { shows }) })).body
  }
  const byCode = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  const first = await exchange(byCode, true)
  secrets['an access token of a client'] = first['access_token']
  secrets['a refresh token of a client'] = first['refresh_token']
  const second = await exchange({ grant_type: 'refresh_token', refresh_token: first['refresh_token'] }, true)
  secrets['a renewed access token of a client'] = second['access_token']
  secrets['a renewed refresh token of a client'] = second['refresh_token']
  for (const token of [first['access_token'], second['access_token']]) {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' }
    expect((await call('POST', `/v1/queries/${canary}`, { body: {}, headers })).status).toBe(200)
    const asked = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
    expect((await call('POST', '/mcp', { body: asked, headers })).status).toBe(200)
  }
  // A code that comes twice ends what it gave.
  await exchange(byCode)
  await exchange({ grant_type: 'refresh_token', refresh_token: second['refresh_token'] })
  const headers = { authorization: `Bearer ${second['access_token']}` }
  expect((await call('POST', `/v1/queries/${canary}`, { body: {}, headers })).status).toBe(401)
}

export async function useCredentials({ secrets, call, made }: Stage, projectId: string): Promise<void> {
  const token = await made('/v1/management-tokens', { name: 'CI', role: 'viewer', project_id: projectId }, true)
  secrets['a management token'] = token['secret']
  await call('GET', `/v1/projects/${projectId}`, { headers: { authorization: `Bearer ${token['secret']}` } })
  await call('DELETE', `/v1/projects/${projectId}`, { headers: { authorization: `Bearer ${token['secret']}` } })
  const permissions = [{ project_id: projectId, environments: '*' }]
  const key = await made('/v1/api-keys', { name: 'k', plan: 'unlimited', permissions }, true)
  secrets['a key'] = key['secret']
  const rotated = await made(`/v1/api-keys/${key['id']}/rotate`, { grace_seconds: 60 }, true)
  secrets['a rotated key'] = rotated['secret']
  for (const secret of [key['secret'], rotated['secret'], `${key['secret']}x`]) {
    const headers = { authorization: `Bearer ${secret}` }
    await call('POST', `/v1/queries/${canary}`, { body: {}, headers })
    await call('POST', '/v1/query', { body: { query: 'how many rows are there', project_id: projectId }, headers })
    await call('GET', '/v1/key', { headers })
    await call('GET', `/v1/projects/${projectId}`, { headers })
    await call('POST', `/v1/queries/${canary}?api_key=${secret}`, { body: {}, headers: {} })
    await call('GET', `/nowhere?key=${secret}`, { headers: {} })
    const basic = Buffer.from(`x:${secret}`).toString('base64')
    await call('POST', `/v1/queries/${canary}`, { body: {}, headers: { authorization: `Basic ${basic}` } })
  }
}
