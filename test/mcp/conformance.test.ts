import { execFile } from 'node:child_process'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { biggest, inRegion } from '../harness/questions.ts'

const installed = join(process.env['TEST_MCP'] ?? '', 'npm/node_modules')

/** What the suite asks of any server, whatever its tools are. */
const general = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'dns-rebinding-protection',
  'server-sse-multiple-streams',
]
/** What it asks of a server made for it, with tools, prompts and resources by names of its own. */
const ofItsOwnServer = [
  'completion-complete',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
  'json-schema-2020-12',
  'logging-set-level',
  'prompts-get-embedded-resource',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-with-image',
  'prompts-list',
  'resources-read-binary',
  'resources-read-text',
  'resources-subscribe',
  'resources-templates-read',
  'resources-unsubscribe',
  'server-sse-polling',
  'tools-call-audio',
  'tools-call-elicitation',
  'tools-call-embedded-resource',
  'tools-call-error',
  'tools-call-image',
  'tools-call-mixed-content',
  'tools-call-sampling',
  'tools-call-simple-text',
  'tools-call-with-logging',
  'tools-call-with-progress',
]

let t: TestApp
let q: QueryProject
let origin: string
let withKey: { url: string; close: () => void }
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
  await q.deploy(inRegion)
  await q.deploy(biggest)
  origin = await t.listen()
  withKey = await addKey(origin, q.secret)
})
afterAll(async () => {
  withKey.close()
  await t.close()
})

/** The suite cannot send a credential, so a proxy does. */
async function addKey(target: string, secret: string): Promise<{ url: string; close: () => void }> {
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${secret}` }
    const passed = httpRequest(new URL(incoming.url ?? '/', target), { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, close: () => proxy.close() }
}

type Ran = { code: number; output: string }

function run(bin: string, args: string[], cwd = tmpdir()): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(join(installed, '.bin', bin), args, { cwd, timeout: 120_000, maxBuffer: 10_000_000 }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: `${out}\n${err}` }),
    )
  })
}

test('the conformance suite finds nothing in what it asks of any server', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-conformance-'))
  const results: Array<{ scenario: string; passed: boolean; output: string }> = []
  for (const scenario of general) {
    const { code, output } = await run('conformance', ['server', '--url', withKey.url, '--scenario', scenario], folder)
    results.push({ scenario, passed: code === 0, output })
  }
  await rm(folder, { recursive: true, force: true })
  const lines = results.map(({ scenario, passed }) => `${passed ? 'passed' : 'FAILED'}  ${scenario}`)
  // What `npm test -- mcp` is run for.
  // oxlint-disable-next-line no-console
  console.log([...lines, `not asked (of a server made for the suite): ${ofItsOwnServer.length} scenarios`].join('\n'))
  expect(results.filter(({ passed }) => !passed)).toEqual([])
})

test('the suite can fail: a picture that no tool of ours gives', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-conformance-'))
  const scenario = ['--scenario', 'tools-call-image']
  const { code } = await run('conformance', ['server', '--url', withKey.url, ...scenario], folder)
  await rm(folder, { recursive: true, force: true })
  expect(code).not.toBe(0)
})

test('every scenario of the suite is accounted for', async () => {
  const { output } = await run('conformance', ['list', '--server'])
  const listed = [...output.matchAll(/^\s*-\s*([a-z0-9-]+)/gm)].map(([, name = '']) => name)
  const known = new Set([...general, ...ofItsOwnServer])
  expect(listed.length).toBeGreaterThan(general.length)
  expect(listed.filter((name) => !known.has(name))).toEqual([])
})

// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts on whatever came back
const inspect = async (...args: string[]): Promise<any> => {
  const common = ['--cli', `${origin}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${q.secret}`]
  const { code, output } = await run('mcp-inspector', [...common, ...args])
  expect(code, output).toBe(0)
  return JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1))
}

test('the inspector lists and calls the tools and reads the resources', async () => {
  const { tools } = await inspect('--method', 'tools/list')
  expect(tools.map(({ name }: { name: string }) => name)).toEqual(['ask', 'biggest_orders', 'orders_in_region'])
  const call = ['--method', 'tools/call', '--tool-name', 'orders_in_region', '--tool-arg', 'region=north']
  expect((await inspect(...call)).structuredContent).toMatchObject({ row_count: 10 })
  const { resources } = await inspect('--method', 'resources/list')
  expect(resources.map(({ name }: { name: string }) => name)).toContain('orders')
})
