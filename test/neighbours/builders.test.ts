import { afterAll, beforeAll, expect, test } from 'vitest'
import { openInstallation, type Installation, type Project } from '../harness/installation.ts'
import { attacked, callers, crowd, programmed, type Attack } from './attack.ts'

/** What members of a project, assistants and strangers may set going, and what their neighbour notices of it. */

const count = {
  sql: 'SELECT count(*) AS orders FROM orders',
  description: 'How many orders there are',
  examples: [{ question: 'how many orders are there' }, { question: 'number of orders' }],
}
const manyQueries = 1_000
const json = { 'content-type': 'application/json' }

let stage: Installation
let bad: Project
let good: Project
/** An editor's of the bad project, and one of the good. */
let attacker: Record<string, string>
let neighbour: Record<string, string>
beforeAll(async () => {
  stage = await openInstallation()
  bad = await stage.project({ order_count: count })
  good = await stage.project({ order_count: count })
  ;[attacker, neighbour] = (await Promise.all([bad, good].map(editorOf))) as [typeof attacker, typeof neighbour]
  const [settings, many] = ['replay-settings', 'definition?prune=false'].map((page) => `${of(bad)}/${page}`)
  await stage.manage('PUT', settings ?? '', { recording: true })
  await stage.manage('PUT', many ?? '', { definition: 1, queries: drafts('') })
  for (const project of [bad, good]) {
    for (let at = 0; at < 5; at += 1) await (await stage.call(project, 'order_count')).text()
    await (await stage.ask(project, 'number of orders')).text()
  }
}, 300_000)
// Undefined where it did not start.
afterAll(() => (stage as Installation | undefined)?.close())

const of = ({ projectId }: Project): string => `/v1/projects/${projectId}`

async function editorOf({ projectId }: Project): Promise<Record<string, string>> {
  const token = await stage.manage('POST', '/v1/management-tokens', {
    name: 'x',
    role: 'editor',
    project_id: projectId,
  })
  return { authorization: `Bearer ${String(token['secret'])}` }
}

/** So many queries that each read something a little different. */
function drafts(more: string): object[] {
  return Array.from({ length: manyQueries }, (_, at) => ({
    name: `draft_${at}`,
    sql: `SELECT id${more}, region, ${at} AS n FROM orders WHERE id > ${at % 30}`,
    description: `The orders after the first ${at % 30}, as number ${at}`,
  }))
}

/** What the neighbour does meanwhile: calls, asks, and looks at the project. */
const neighbours = () => ({
  call: () => stage.call(good, 'order_count'),
  question: () => stage.ask(good, 'number of orders'),
  management: () => fetch(`${stage.url}${of(good)}/queries`, { headers: neighbour }),
})

test('nothing', async () => {
  expect(await attacked(stage, 'quiet', () => [], neighbours())).toEqual([])
}, 60_000)

test('large files, more than are received at once; the neighbour sends one too', async () => {
  const fileSource = async (project: Project, name: string): Promise<string> => {
    const made = await stage.manage('POST', `${of(project)}/datasources`, { name, kind: 'file' })
    return `${of(project)}/datasources/${String(made['id'])}/files`
  }
  const sources = await Promise.all(Array.from({ length: 12 }, (_, at) => fileSource(bad, `large_${at}`)))
  const own = await fileSource(good, 'small')
  const uploads = programmed('uploaders.ts', [stage.url, attacker['authorization'] ?? '', '12', ...sources])
  const sent: number[] = []
  const sending: Attack = (over) =>
    crowd(1, over, async () => {
      const headers = { ...neighbour, 'content-type': 'text/csv' }
      const answer = await fetch(stage.url + own, { method: 'POST', headers, body: 'id,name\n1,Ada\n' })
      sent.push(answer.status)
      await answer.text()
    })
  const both: Attack = (over) => [...uploads(over), ...sending(over)]
  expect(await attacked(stage, 'large files', both, neighbours())).toEqual([])
  // Making tables of the large ones goes on meanwhile, so it takes its time; but it is taken.
  process.stdout.write(`large files: the neighbour sent ${sent.length} small ones\n`)
  expect(sent.length).toBeGreaterThan(1)
  expect(sent.filter((status) => status !== 201)).toEqual([])
}, 120_000)

test('tools that are listed and called without end, and as many open streams as there may be', async () => {
  const headers = { authorization: `Bearer ${bad.secret}`, accept: 'application/json, text/event-stream', ...json }
  const asked = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const bodies = [asked('tools/list', {}), asked('tools/call', { name: 'order_count', arguments: {} })]
  const calls = bodies.map((body) => ({ url: `${stage.url}/mcp`, method: 'POST', headers, body }))
  const tools: Attack = (over) => [
    ...callers({ size: 40, calls })(over),
    ...Array.from({ length: 200 }, async () => {
      const answer = await fetch(`${stage.url}/mcp`, { headers, signal: over })
      for await (const chunk of answer.body ?? []) void chunk
    }),
  ]
  const tool = () =>
    fetch(`${stage.url}/mcp`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${good.secret}` },
      body: bodies[1] ?? '',
    })
  expect(await attacked(stage, 'tools', tools, { ...neighbours(), tool })).toEqual([])
}, 90_000)

test('strangers who register clients and try tokens', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const strangers = callers({
    size: 60,
    calls: [
      {
        url: `${stage.url}/oauth/register`,
        method: 'POST',
        headers: json,
        body: '{"redirect_uris":["https://client.example/back/{n}"]}',
      },
      {
        url: `${stage.url}/oauth/token`,
        method: 'POST',
        headers: form,
        body: 'grant_type=refresh_token&client_id=c&refresh_token={n}',
      },
    ],
  })
  expect(await attacked(stage, 'strangers', strangers, neighbours())).toEqual([])
}, 90_000)

test('definitions of 1,000 queries, as fast as they are taken, and queries that are made beside', async () => {
  const headers = { ...json, ...attacker }
  const put = (check: boolean, more: string) => ({
    url: `${stage.url}${of(bad)}/definition?prune=false&check=${check}`,
    method: 'PUT',
    headers,
    body: JSON.stringify({ definition: 1, queries: drafts(more) }),
  })
  // Whoever adds something to the project meanwhile waits for the definition that is being put.
  const made = {
    url: `${stage.url}${of(bad)}/queries`,
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'made_{n}', sql: count.sql }),
  }
  const definitions = callers({ size: 36, calls: [put(false, ''), put(true, ' + 1'), made, made] })
  expect(await attacked(stage, 'definitions', definitions, neighbours())).toEqual([])
}, 180_000)

test('releases of 1,000 queries, as fast as they are taken', async () => {
  const queries = Array.from({ length: manyQueries }, (_, at) => ({ name: `draft_${at}` }))
  const release = (check: boolean) => ({
    url: `${stage.url}${of(bad)}/releases`,
    method: 'POST',
    headers: { ...json, ...attacker },
    body: JSON.stringify({ environment: 'staging', queries, check, force: true }),
  })
  const releases = callers({ size: 6, calls: [release(false), release(true), release(true)] })
  expect(await attacked(stage, 'releases', releases, neighbours())).toEqual([])
}, 180_000)

test('replays, as many as are taken', async () => {
  for (let at = 0; at < 20; at += 1) await (await stage.call(bad, 'order_count')).text()
  const replay = {
    url: `${stage.url}${of(bad)}/replays`,
    method: 'POST',
    headers: { ...json, ...attacker },
    body: JSON.stringify({ queries: [{ name: 'order_count' }] }),
  }
  expect(await attacked(stage, 'replays', callers({ size: 12, calls: [replay] }), neighbours())).toEqual([])
}, 120_000)
