import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { certificate, privateKey } from '../harness/tls.ts'

const token = 'a-token-of-gitea-1f9a'
const issues = Array.from({ length: 3 }, (_, at) => ({
  id: at + 1,
  number: at + 1,
  title: `Issue ${at + 1}`,
  state: at === 0 ? 'closed' : 'open',
  comments: at,
  created_at: '2026-01-02T08:00:00Z',
  updated_at: `2026-01-0${at + 3}T08:00:00Z`,
  closed_at: at === 0 ? '2026-01-03T08:00:00Z' : null,
  html_url: `https://gitea.example/${at + 1}`,
}))

let t: TestApp
let gitea: Server
let host: string
let url: string
let projectId: string
let secret: string
beforeAll(async () => {
  gitea = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://localhost')
    const isKnown = request.headers.authorization === `token ${token}`
    const rows = pathname.endsWith('/issues')
      ? issues
      : [{ id: 1, name: 'v1', tag_name: 'v1', created_at: '2026-01-02T08:00:00Z' }]
    const page = Number(searchParams.get('page') ?? '1')
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isKnown ? (page > 1 ? [] : rows) : { message: 'token is required' }))
  })
  await new Promise<void>((resolve) => gitea.listen(0, '127.0.0.1', resolve))
  host = `localhost:${(gitea.address() as AddressInfo).port}`
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: 'localhost,127.0.0.1' }, { outboundCa: certificate })
  await t.app.jobs.start()
  url = await t.listen()
  projectId = await t.project('Built by an agent')
  const made = await t.operator.post('/v1/management-tokens', { name: 'agent', role: 'editor', project_id: projectId })
  secret = made.body.secret
}, 120_000)
afterAll(async () => {
  gitea.closeAllConnections()
  gitea.close()
  await t.close()
})

async function connect(bearer = secret): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp/build', url), {
      requestInit: { headers: { authorization: `Bearer ${bearer}` } },
    }),
  )
  return client
}

/** What every answer of the session said, to be searched for secrets. */
let said = ''
// oxlint-disable-next-line typescript/no-explicit-any -- what a tool gives is looked at as a client does
type Used = Record<string, any> & { isError: boolean }
async function use(client: Client, name: string, given: Record<string, unknown> = {}): Promise<Used> {
  const result = await client.callTool({ name, arguments: given })
  said += JSON.stringify(result)
  return { isError: result.isError === true, ...(result.structuredContent as object) }
}

describe('the server to build with', () => {
  test('lists tools that say whether they write', async () => {
    const { tools } = await (await connect()).listTools()
    const marks = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]))
    expect(marks['look_at_rows']).toMatchObject({ readOnlyHint: true, destructiveHint: false })
    expect(marks['draft_query']).toMatchObject({ readOnlyHint: false, destructiveHint: false })
    expect(marks['release']).toMatchObject({ readOnlyHint: false, destructiveHint: true })
    const older = new OlderClient({ name: 'older', version: '1' })
    await older.connect(
      new OlderTransport(new URL('/mcp/build', url), {
        requestInit: { headers: { authorization: `Bearer ${secret}` } },
      }),
    )
    expect((await older.listTools()).tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
  })

  test('an agent goes from an entry of the catalog to a query that answers', async () => {
    const agent = await connect()
    const { entries } = await use(agent, 'list_catalog', { search: 'gitea' })
    expect(entries).toMatchObject([{ entry: 'gitea' }])
    expect(entries[0].inputs).toContainEqual({ name: 'token', label: 'Token', secret: true })

    const inputs = { host, owner: 'acme', repo: 'website' }
    expect(await use(agent, 'connect_from_catalog', { entry: 'gitea', inputs: { ...inputs, token } })).toMatchObject({
      isError: true,
      details: [{ field: 'inputs.token', message: 'is a secret: a person sets it in the app' }],
    })
    const waiting = await use(agent, 'connect_from_catalog', { entry: 'gitea', inputs })
    expect(waiting).toMatchObject({
      connected: false,
      needs_secrets: [{ variable: 'gitea_token', sent_to: [`https://${host}`] }],
    })
    // A person sets it.
    const variable = { name: 'gitea_token', secret: true, value: token, origins: [`https://${host}`] }
    expect((await t.operator.post(`/v1/projects/${projectId}/variables`, variable)).status).toBe(201)
    const connected = await use(agent, 'connect_from_catalog', { entry: 'gitea', inputs })
    expect(connected).toMatchObject({
      connected: true,
      tables: expect.arrayContaining([expect.objectContaining({ table: 'gitea_issues', status: 'succeeded' })]),
      drafts: expect.arrayContaining(['gitea_issues_by_state']),
    })

    const { tables } = await use(agent, 'list_tables')
    expect(tables.find((each: { table: string }) => each.table === 'gitea_issues')).toMatchObject({ rows: 3 })
    const looked = await use(agent, 'look_at_rows', { sql: 'select title from gitea_issues order by number', rows: 2 })
    expect(looked['data']).toEqual([{ title: 'Issue 1' }, { title: 'Issue 2' }])

    const drafted = await use(agent, 'draft_query', {
      name: 'talked_about',
      sql: 'select number, title, comments from gitea_issues where comments >= $least order by comments desc',
      description: 'Issues with at least so many comments',
      slots: { properties: { least: { type: 'integer', description: 'The least comments' } }, required: ['least'] },
    })
    expect(drafted['columns']).toMatchObject([{ name: 'number' }, { name: 'title' }, { name: 'comments' }])
    await use(agent, 'add_examples', {
      name: 'talked_about',
      examples: [{ question: 'which issues have at least 2 comments', parameters: { least: 2 } }],
    })
    expect(
      (await use(agent, 'preview_query', { name: 'talked_about', parameters: { least: 1 } }))['data'],
    ).toHaveLength(2)
    expect(
      JSON.stringify(await use(agent, 'explain_query', { name: 'talked_about', parameters: { least: 1 } })),
    ).toContain('gitea_issues')

    const planned = await use(agent, 'plan_release', { queries: ['talked_about'] })
    expect(planned).toMatchObject({ isError: false, queries: [{ name: 'talked_about' }] })
    expect((await t.operator.get(`/v1/projects/${projectId}/deployments`)).body.data).toEqual([])
    const released = await use(agent, 'release', { queries: ['talked_about'], message: 'A first query' })
    expect(released['isError']).toBe(false)

    const permissions = [{ project_id: projectId, environments: '*' }]
    const key = (await t.operator.post('/v1/api-keys', { name: 'caller', permissions })).body.secret
    const called = await t.withToken(key).post('/v1/queries/talked_about', { least: 2 })
    expect(called.body.data).toEqual([{ number: 3, title: 'Issue 3', comments: 2 }])
  }, 120_000)

  test('a release that breaks callers is refused as anywhere, and cannot be forced', async () => {
    const agent = await connect()
    await use(agent, 'draft_query', {
      name: 'talked_about',
      sql: 'select number from gitea_issues where comments >= $most',
      slots: { properties: { most: { type: 'integer' } }, required: ['most'] },
      examples: [],
    })
    expect(await use(agent, 'release', { queries: ['talked_about'] })).toMatchObject({
      isError: true,
      error: 'conflict',
      reason: 'breaking_change',
    })
    expect(await use(agent, 'release', { queries: ['talked_about'], force: true })).toMatchObject({
      isError: true,
      reason: 'invalid_field',
    })
  })

  test('by a curl command, whose secret comes back as ***', async () => {
    const agent = await connect()
    const command = `curl https://${host}/api/v1/repos/acme/website/issues -H 'Authorization: token ${token}'`
    expect(await use(agent, 'connect_from_curl', { command, table: 'by_curl' })).toMatchObject({
      table: 'by_curl',
      status: 'succeeded',
    })
    expect((await use(agent, 'look_at_rows', { sql: 'select count(*) as n from by_curl' }))['data']).toEqual([{ n: 3 }])
  })

  test('no answer held a secret, and every act is in the audit log under the token', async () => {
    expect(said).not.toContain(token)
    const { body } = await t.operator.get(`/v1/audit?project_id=${projectId}&limit=200`)
    const acts = (body.data as Array<{ action: string; caller?: string }>).map(({ action }) => action)
    expect(acts).toEqual(expect.arrayContaining(['query.created', 'release.made', 'datasource.created']))
    expect(JSON.stringify(body)).not.toContain(token)
  })

  test('a viewer looks and does not build, and a key is no token', async () => {
    const made = await t.operator.post('/v1/management-tokens', { name: 'eyes', role: 'viewer', project_id: projectId })
    const agent = await connect(made.body.secret)
    expect((await use(agent, 'list_tables'))['isError']).toBe(false)
    expect(await use(agent, 'draft_query', { name: 'mine', sql: 'select 1 as one' })).toMatchObject({
      isError: true,
      error: 'permission_denied',
      reason: 'role_too_small',
    })
    for (const authorization of [undefined, 'Bearer slc_live_x', `Bearer ${secret}x`]) {
      const answer = await fetch(`${url}/mcp/build`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
        body: '{}',
      })
      expect(answer.status).toBe(401)
    }
  })
})
