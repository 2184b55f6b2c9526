import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openCli, type Cli } from '../harness/cli.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { openTerminal } from '../harness/terminal.ts'
import type { Person } from '../harness/app.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'
import { findBarriers } from './barriers.ts'

const root = join(import.meta.dirname, '../..')

let t: TestWeb
let q: QueryProject
let owner: Person
let cli: Cli
beforeAll(async () => {
  t = await openTestWeb()
  q = await openQueryProject(t)
  owner = await t.member(q.projectId, 'owner')
})
afterAll(() => t.close())
beforeEach(async () => {
  cli = await openCli(t.origin, { SLUICE_TOKEN: '' })
})
afterEach(() => cli.close())

const credentials = () => readFile(join(cli.environment['HOME'] ?? '', '.config/sluice/credentials.yaml'), 'utf8')
const tokenIn = (text: string): string => /slc_mgmt_\w+/.exec(text)?.[0] ?? ''

test('a person signs the command line in with the browser of the machine, and out again', async () => {
  // The browser of the machine: it notes where it was sent.
  const [browser, sent] = [join(cli.folder, 'browser.sh'), join(cli.folder, 'sent')]
  await writeFile(browser, `#!/bin/sh\necho "$1" > '${sent}'\n`)
  await chmod(browser, 0o755)
  const terminal = openTerminal([process.execPath, '--no-warnings', join(root, 'cli/main.ts'), 'login'], {
    cwd: cli.folder,
    env: { ...cli.environment, BROWSER: browser },
  })
  await expect.poll(() => readFile(sent, 'utf8').catch(() => '')).toContain('\n')
  const asked = new URL((await readFile(sent, 'utf8')).trim())
  const { page, complaints } = await t.visitAs(owner, `${asked.pathname}${asked.search}`)
  await page.getByRole('heading', { name: 'Let the command line in?' }).waitFor()
  expect(await findBarriers(page, 'let-the-command-line-in')).toEqual([])
  await page.getByLabel('It may').selectOption('editor')
  await page.getByRole('button', { name: 'Let it in' }).click()
  await page.getByText('Signed in. You can close this page.').waitFor()
  expect(complaints.filter((each) => !each.includes('/signed-in') && !each.includes('favicon'))).toEqual([])
  await terminal.until(/takes it; kept in/)
  expect(await terminal.exited).toBe(0)
  const token = tokenIn(await credentials())
  expect((await cli.json('projects')).map(({ id }: { id: string }) => id)).toEqual([q.projectId])
  const { body: tokens } = await owner.get('/v1/management-tokens')
  expect(tokens.data[0]).toMatchObject({ role: 'editor', status: 'active' })

  expect((await cli.run('logout')).stdout).toContain('the token is revoked')
  expect(await credentials()).not.toContain(token)
  expect((await t.withToken(token).get('/v1/projects')).body).toMatchObject({ reason: 'revoked' })
  expect(await cli.run('projects')).toMatchObject({ code: 5 })
})

test('a person signs in a command line without a browser by the code that it shows', async () => {
  const started = cli.start('login', '--device')
  await expect.poll(() => started.said().stderr).toMatch(/enter [B-Z]{4}-[B-Z]{4}/)
  const code = /enter ([B-Z]{4}-[B-Z]{4})/.exec(started.said().stderr)?.[1] ?? ''
  const { page, complaints } = await t.visitAs(owner, '/device')
  await page.getByRole('heading', { name: 'Enter the code' }).waitFor()
  await page.getByLabel('Code').fill('BBBB-BBBB')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Belongs to no device that waits').waitFor()
  expect(await findBarriers(page, 'enter-the-code')).toEqual([])
  await page.getByLabel('Code').fill(code.toLowerCase())
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Let the command line in?' }).waitFor()
  expect(await findBarriers(page, 'let-the-device-in')).toEqual([])
  await page.getByRole('button', { name: 'Let it in' }).click()
  await page.getByRole('heading', { name: 'It is signed in' }).waitFor()
  expect(complaints.filter((each) => !each.includes('400'))).toEqual([])
  await expect.poll(() => started.said().stdout, { timeout: 30_000 }).toContain('takes it; kept in')
  expect((await cli.json('whoami')).url).toBe(t.origin)
})

test('a person refuses, and the command line says so', async () => {
  const started = cli.start('login', '--device')
  await expect.poll(() => started.said().stderr).toMatch(/open http\S+/)
  const complete = new URL(/or open (\S+)/.exec(started.said().stderr)?.[1] ?? '')
  const { page } = await t.visitAs(owner, `${complete.pathname}${complete.search}`)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Refuse' }).click()
  await page.getByRole('heading', { name: 'It was refused' }).waitFor()
  expect((await started.ended).code).toBe(5)
  expect(started.said().stderr).toContain('The person refused.')
})

test('an assistant that was given the address of the building tools alone is let in, and builds', async () => {
  const returned: URL[] = []
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (url.pathname === '/back') returned.push(url)
    response.end('Back at the assistant')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const back = `http://127.0.0.1:${(server.address() as AddressInfo).port}/back`
  const kept: { client?: StoredOAuthClientInformation; tokens?: StoredOAuthTokens; verifier?: string; sent?: URL } = {}
  const authProvider: OAuthClientProvider = {
    redirectUrl: back,
    clientMetadata: { client_name: 'Assistant', redirect_uris: [back], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (url) => void (kept.sent = url),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? '',
  }
  try {
    const address = new URL('/mcp/build', t.origin)
    const transport = new StreamableHTTPClientTransport(address, { authProvider })
    await expect(new Client({ name: 'a', version: '1' }).connect(transport)).rejects.toThrow(UnauthorizedError)
    expect(kept.sent?.searchParams.get('resource')).toBe(address.href)
    const { page } = await t.visitAs(owner, `${kept.sent?.pathname}${kept.sent?.search}`)
    await page.getByText('connect APIs, write queries and release them').waitFor()
    await page.getByLabel('Project').selectOption(q.projectId)
    await page.getByLabel('It may').selectOption('editor')
    await page.getByRole('button', { name: 'Let it in' }).click()
    await page.waitForURL(`${back}**`)
    await transport.finishAuth(new URLSearchParams(returned.at(-1)?.search))
    expect(kept.tokens).toMatchObject({ access_token: expect.stringMatching(/^slc_mgmt_/), scope: 'manage' })

    const client = new Client({ name: 'a', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(address, { authProvider }))
    const drafted = await client.callTool({
      name: 'draft_query',
      arguments: { name: 'built', description: 'One.', sql: 'select 1 as n' },
    })
    expect(drafted.isError ?? false).toBe(false)
    await client.close()
    expect((await owner.get(`/v1/projects/${q.projectId}/queries/built`)).status).toBe(200)
    // The tools of callers take an API key, not this.
    const answer = await fetch(new URL('/mcp', t.origin), {
      method: 'POST',
      headers: { authorization: `Bearer ${kept.tokens?.access_token}`, 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    })
    expect(answer.status).toBe(401)
  } finally {
    server.close()
  }
})
