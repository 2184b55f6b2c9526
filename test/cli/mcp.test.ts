import { Client, type ClientOptions } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openCli, type Cli } from '../harness/cli.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { inRegion } from '../harness/questions.ts'

const root = join(import.meta.dirname, '../..')
const endless = 'SELECT count(*) AS n FROM range(100000000000) AS a(i) WHERE i % 7 = 3'
const info = { name: 'test', version: '1' }

let t: TestApp
let q: QueryProject
let cli: Cli
beforeAll(async () => {
  t = await openTestApp()
  q = await openQueryProject(t)
  await q.deploy(inRegion)
  await q.deploy({ name: 'endless', sql: endless })
  cli = await openCli(await t.listen(), { SLUICE_API_KEY: q.secret })
})
afterAll(async () => {
  await cli.close()
  await t.close()
})

/** As a program that starts its servers itself has it in its settings. */
const command = (more: Record<string, string> = {}) => ({
  command: process.execPath,
  args: ['--no-warnings', join(root, 'cli/main.ts'), 'mcp'],
  env: { ...cli.environment, ...more },
  stderr: 'pipe' as const,
})

async function connect(more: Record<string, string> = {}, options: ClientOptions = {}): Promise<Client> {
  const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } }, ...options })
  onTestFinished(() => client.close())
  await client.connect(new StdioClientTransport(command(more)))
  return client
}

async function connectOlder(more: Record<string, string> = {}): Promise<OlderClient> {
  const client = new OlderClient(info)
  onTestFinished(() => client.close())
  await client.connect(new OlderTransport(command(more)))
  return client
}

const north = { name: 'orders_in_region', arguments: { region: 'north' } }
const isCalm = () => t.app.engine.health().executors.every(({ calls }) => calls === 0)

describe('sluice mcp', () => {
  test('lists the tools of the key, calls them and asks, for clients of either protocol', async () => {
    for (const client of [await connect(), await connectOlder()]) {
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name)).toEqual(['ask', 'endless', 'orders_in_region'])
      expect((await client.callTool(north)).structuredContent).toMatchObject({ row_count: 10 })
      const question = 'Which orders came from the south?'
      expect((await client.callTool({ name: 'ask', arguments: { question } })).structuredContent).toMatchObject({
        query_used: 'orders_in_region',
        parameters: { region: 'south' },
      })
    }
  })

  test('asks the client back for a slot that is missing', async () => {
    const client = await connect({}, { capabilities: { elicitation: { form: {} } } })
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { region: 'east' } }))
    const answer = await client.callTool({ name: 'orders_in_region', arguments: {} })
    expect(answer.structuredContent).toMatchObject({ row_count: expect.any(Number) })
  })

  test.each([
    ['2026', connect],
    ['2025', connectOlder],
  ])('a call that a client of %s cancels stops running', async (_protocol, open) => {
    const client = await open()
    const leaving = new AbortController()
    const asked = { name: 'endless', arguments: {} }
    const { signal } = leaving
    // The older client takes a schema in between.
    const call =
      client instanceof Client ? client.callTool(asked, { signal }) : client.callTool(asked, undefined, { signal })
    await expect.poll(isCalm).toBe(false)
    leaving.abort()
    await expect(call).rejects.toThrow(/abort/i)
    await expect.poll(isCalm).toBe(true)
    expect((await client.callTool(north)).structuredContent).toMatchObject({ row_count: 10 })
  })

  test('tells a client that the tools have changed', async () => {
    let changes = 0
    const client = await connectOlder()
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (changes += 1))
    // The stream of changes opens by itself, after the handshake.
    await expect
      .poll(
        async () => {
          await q.deploy({ name: `later_${changes}_${Date.now()}`, sql: 'SELECT 1 AS one' })
          return changes
        },
        { timeout: 30_000, interval: 500 },
      )
      .toBeGreaterThan(0)
  })

  test('answers every call with what the service says, or that it is not there', async () => {
    await expect(connectOlder({ SLUICE_API_KEY: 'slc_live_wrong' })).rejects.toThrow(/401/)
    await expect(connectOlder({ SLUICE_URL: 'http://127.0.0.1:9' })).rejects.toThrow(/cannot be reached/)
  })

  test('without a key says how to get one, and ends when its client closes', async () => {
    const { code, stdout, stderr } = await cli.runWith('', 'mcp')
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' })
    const other = await openCli(cli.environment['SLUICE_URL'] ?? '')
    onTestFinished(() => other.close())
    const refused = await other.run('mcp')
    expect(refused).toMatchObject({ code: 5, stdout: '' })
    expect(refused.stderr).toContain('SLUICE_API_KEY')
  })
})
