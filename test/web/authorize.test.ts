import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { certificate, openSecureServer, type SecureServer } from '../harness/tls.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'

let t: TestWeb
let q: QueryProject
let returned: URL[]
let assistant: Server
let back: string
let published: SecureServer
beforeAll(async () => {
  published = await openSecureServer()
  t = await openTestWeb({ SLUICE_OUTBOUND_ALLOW: published.host }, { outboundCa: certificate })
  q = await openQueryProject(t)
  await q.deploy({ name: 'only_in_staging', sql: 'SELECT 1 AS n' }, 'staging')
  returned = []
  assistant = createServer((request, response) => {
    const url = new URL(request.url ?? '/', back)
    // A full browser also asks this origin for an icon.
    if (url.pathname === '/back') returned.push(url)
    response.end('Back at the assistant')
  })
  await new Promise<void>((resolve) => assistant.listen(0, '127.0.0.1', resolve))
  back = `http://127.0.0.1:${(assistant.address() as AddressInfo).port}/back`
})
afterAll(async () => {
  assistant.close()
  published.close()
  await t.close()
})

/** Keeps what a client must keep, and notes where it sends the person. */
function providerOf(sent: URL[], more: Partial<OAuthClientProvider> = {}): OAuthClientProvider {
  const kept: {
    client?: StoredOAuthClientInformation
    tokens?: StoredOAuthTokens
    verifier?: string
  } = {}
  return {
    redirectUrl: back,
    clientMetadata: { client_name: 'Assistant', redirect_uris: [back], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (url) => void sent.push(url),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? '',
    ...more,
  }
}

test('an assistant that was given the address alone is let in by an owner, and calls what they chose', async () => {
  const owner = await t.member(q.projectId, 'owner')
  const sent: URL[] = []
  const authProvider = providerOf(sent)
  const address = new URL('/mcp', t.origin)
  const transport = new StreamableHTTPClientTransport(address, { authProvider })
  const options = { versionNegotiation: { mode: { pin: '2026-07-28' as const } } }
  await expect(new Client({ name: 'a', version: '1' }, options).connect(transport)).rejects.toThrow(UnauthorizedError)
  const asked = sent[0]
  expect(asked?.searchParams.get('code_challenge_method')).toBe('S256')

  const { page, complaints } = await t.visitAs(owner, `${asked?.pathname}${asked?.search}`)
  await page.getByRole('heading', { name: 'Let Assistant in?' }).waitFor()
  await page.getByLabel('Environment').selectOption('staging')
  await page.getByRole('button', { name: 'Let it in' }).click()
  await page.waitForURL(`${back}**`)
  // The browser complains of nothing but leaving us, which is meant.
  expect(complaints.filter((complaint) => !complaint.includes(back))).toEqual([])
  const code = returned.at(-1)?.searchParams.get('code') ?? ''
  await transport.finishAuth(new URLSearchParams(returned.at(-1)?.search))
  expect(code).not.toBe('')

  const client = new Client({ name: 'a', version: '1' }, options)
  await client.connect(new StreamableHTTPClientTransport(address, { authProvider }))
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['ask', 'only_in_staging'])
  const result = await client.callTool({ name: 'only_in_staging', arguments: {} })
  expect(result.structuredContent).toMatchObject({ data: [{ n: 1 }] })
  await client.close()
})

test('an assistant that says at its own address who it is needs no registration', async () => {
  const owner = await t.member(q.projectId, 'owner')
  const clientMetadataUrl = `https://${published.host}/oauth/client.json`
  published.answer({ client_id: clientMetadataUrl, client_name: 'Hosted assistant', redirect_uris: [back] })
  const sent: URL[] = []
  const authProvider = providerOf(sent, { clientMetadataUrl })
  const address = new URL('/mcp', t.origin)
  const transport = new StreamableHTTPClientTransport(address, { authProvider })
  const options = { versionNegotiation: { mode: { pin: '2026-07-28' as const } } }
  await expect(new Client({ name: 'a', version: '1' }, options).connect(transport)).rejects.toThrow(UnauthorizedError)
  const asked = sent[0]
  expect(asked?.searchParams.get('client_id')).toBe(clientMetadataUrl)
  const { page } = await t.visitAs(owner, `${asked?.pathname}${asked?.search}`)
  await page.getByRole('heading', { name: 'Let Hosted assistant in?' }).waitFor()
  await page.getByText(`It is known by its address, ${clientMetadataUrl}.`).waitFor()
  await page.getByLabel('Environment').selectOption('staging')
  await page.getByRole('button', { name: 'Let it in' }).click()
  await page.waitForURL(`${back}**`)
  await transport.finishAuth(new URLSearchParams(returned.at(-1)?.search))
  const client = new Client({ name: 'a', version: '1' }, options)
  await client.connect(new StreamableHTTPClientTransport(address, { authProvider }))
  const result = await client.callTool({ name: 'only_in_staging', arguments: {} })
  expect(result.structuredContent).toMatchObject({ data: [{ n: 1 }] })
  await client.close()
  expect(published.requests).toBe(1)
})

test('a person may refuse, and is shown nothing to agree to where the request is not as it should be', async () => {
  const owner = await t.member(q.projectId, 'owner')
  const body = { client_name: 'Another', redirect_uris: [back] }
  const { body: client } = await t.anonymous.post('/oauth/register', body)
  const search = (more: Record<string, string> = {}) =>
    new URLSearchParams({
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: back,
      code_challenge: 'A'.repeat(43),
      code_challenge_method: 'S256',
      state: 'mine',
      ...more,
    }).toString()
  const { page } = await t.visitAs(owner, `/oauth/authorize?${search()}`)
  await page.getByRole('button', { name: 'Refuse' }).click()
  await page.waitForURL(`${back}**`)
  expect(Object.fromEntries(returned.at(-1)?.searchParams ?? [])).toEqual({ error: 'access_denied', state: 'mine' })
  for (const wrong of [
    { redirect_uri: 'https://evil.example/' },
    { code_challenge_method: 'plain' },
    { client_id: 'cli_0' },
  ]) {
    await page.goto(`${t.origin}/oauth/authorize?${search(wrong)}`)
    await page.getByRole('heading', { name: 'This cannot be connected' }).waitFor()
  }
  const editor = await t.member(q.projectId, 'editor')
  const { page: theirs } = await t.visitAs(editor, `/oauth/authorize?${search()}`)
  await theirs.getByText('You own no project').waitFor()
})

test('a stranger signs in first and comes back to the question', async () => {
  const { page } = await t.visit('/oauth/authorize?response_type=code&client_id=x')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(new URL(page.url()).searchParams.get('next')).toContain('client_id=x')
})
