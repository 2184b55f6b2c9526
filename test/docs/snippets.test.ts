import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { endService, killAll, postmasterTree, startService, type ServiceProcess } from '../harness/process.ts'
import { blocksOf, differenceOf, differenceOfText, root, type Block } from './blocks.ts'
import { checks } from './checks.ts'
import { notRun, runPages } from './pages.ts'
import { openShell, type Shell } from './shell.ts'

const run = new Set(['sh', 'bash', 'http'])
/** Shown and not run: pictures of folders, and what a person types elsewhere. */
const illustrations = new Set(['text', ''])

const token = 'choose-a-long-secret'
let folder = ''
let service: ServiceProcess
let upstream: Server
/** The four variables and two functions that every page begins with, as the quick start sets them. */
let variables = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-docs-'))
  // As root the database runs as someone else, who has to pass.
  await chmod(folder, 0o711)
  await writePrograms(join(folder, 'bin'))
  upstream = await serveUpstream()
  const quickStart = blocksOf('docs/quick-start.md').filter(({ language }) => language === 'sh')
  const start = quickStart.find(({ text }) => text.includes('sluice start'))
  variables = quickStart.find(({ text }) => text.includes('export SLUICE_URL'))?.text ?? ''
  const environment = {
    PATH: path(),
    SLUICE_EXAMPLE: 'on',
    SLUICE_LOG_LEVEL: 'error',
    SLUICE_OUTBOUND_ALLOW: new URL(upstreamUrl()).host,
  }
  service = await startService(join(folder, 'data'), environment, ['-c', start?.text ?? ''], 'bash')
  // The example project is made after the first answers.
  await vi.waitUntil(() => service.output().includes('Sluice runs at'), { timeout: 60_000, interval: 100 })
})
afterAll(async () => {
  try {
    await endService(service)
  } finally {
    killAll(postmasterTree(join(folder, 'data')))
    upstream.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
})

const shells: Shell[] = []
afterEach(() => shells.splice(0).forEach((shell) => shell.close()))

describe('every block of', () => {
  test.each(runPages)('%s runs as it is written, and prints what is shown', async (page) => {
    await expect(followPage(blocksOf(page))).resolves.toBeUndefined()
  })
})

describe('a block fails the test', () => {
  const page = (markdown: string): Promise<void> => followPage(blocksOf('docs/made-up.md', markdown))

  test('whose command fails', async () => {
    await expect(page('```sh\ncall /v1/queries/no_such_query -d "{}"\n```\n')).rejects.toThrow('query_not_found')
  })

  test('whose answer is not as shown', async () => {
    const wrong = '```sh\ncall /v1/key\n```\n\n```json answer\n{ "name": "Somebody else" }\n```\n'
    await expect(page(wrong)).rejects.toThrow('made-up.md:5')
    const text = '```sh\nsluice --help\n```\n\n```text answer\nsluice fly\n```\n'
    await expect(page(text)).rejects.toThrow('sluice fly')
  })

  test('whose types do not fit', async () => {
    const wrong =
      "```ts file=wrong.ts\nimport { createClient } from 'sluice/client'\ncreateClient({ address: 1 })\n```\n"
    await expect(page(wrong)).rejects.toThrow('address')
  })

  test('whose request is refused', async () => {
    await expect(page('```http\nPOST /v1/projects\n\n{"title": "Shop"}\n```\n')).rejects.toThrow('invalid_field')
  })

  test('that nobody knows how to check', async () => {
    await expect(page('```json\n{}\n```\n')).rejects.toThrow('neither run nor checked')
    await expect(page('```toml\na = 1\n```\n')).rejects.toThrow('neither run nor checked')
  })
})

test('what is not run is still on its page, and says why', () => {
  const known = runPages.flatMap((page) => blocksOf(page))
  for (const { page, begins, why } of notRun) {
    expect(
      known.filter((block) => block.page === page && block.text.startsWith(begins)),
      begins,
    ).toHaveLength(1)
    expect(why.length).toBeGreaterThan(20)
  }
  expect(notRun.length).toBeLessThan(14)
})

/** Follows a page from top to bottom in one shell and one folder. */
async function followPage(blocks: Block[]): Promise<void> {
  const home = await mkdtemp(join(folder, 'reader-'))
  await linkClient(home)
  const shell = openShell(home, {
    PATH: path(),
    HOME: home,
    PYTHONPATH: join(root, 'clients/python/src'),
    SLUICE_DATA_DIR: join(folder, 'data'),
  })
  shells.push(shell)
  const reader: Reader = { shell, home, last: '', datasource: null, table: 'orders' }
  await shell.run(local(variables))
  for (const block of blocks) {
    try {
      await follow(reader, block)
    } catch (error) {
      throw new Error(`${block.page}:${block.line}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })
    }
  }
  const programs = blocks.filter(({ language, note }) => language === 'ts' && note.startsWith('file='))
  await checkTypes(
    reader,
    programs.map(({ note }) => note.slice('file='.length)),
  )
}

type Reader = { shell: Shell; home: string; last: string; datasource: string | null; table: string }

/** Node runs TypeScript without looking at its types, which are half of what a page promises. */
async function checkTypes({ shell, home }: Reader, files: string[]): Promise<void> {
  const options =
    '--noEmit --strict --target es2024 --lib es2024,dom --module esnext --moduleResolution bundler --allowImportingTsExtensions'
  const types = `--skipLibCheck --types node --typeRoots '${join(root, 'node_modules/@types')}'`
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  for (const file of files)
    await shell.run(`'${process.execPath}' '${compiler}' ${options} ${types} '${join(home, file)}'`)
}

async function follow(reader: Reader, block: Block): Promise<void> {
  const { language, note, text } = block
  if (notRun.some(({ page, begins }) => page === block.page && text.startsWith(begins))) return
  if (note === 'answer') return checkAnswer(block, reader.last)
  if (note.startsWith('file=')) return writeShown(join(reader.home, note.slice('file='.length)), local(text))
  if (note === 'mcp') return useAsClient(text, await readVariable(reader, 'SLUICE_API_KEY'))
  if (run.has(language)) {
    reader.last = language === 'http' ? await send(reader, local(text)) : await reader.shell.run(local(text))
    return
  }
  const check = checks[note]
  if (check !== undefined) return check(language === 'yaml' ? parse(text) : JSON.parse(text))
  // test/clients/tools.test.ts runs these, where their tools are.
  if (illustrations.has(language) || note.startsWith('tool=')) return
  throw new Error(`This ${language} block is neither run nor checked: see test/docs/blocks.ts`)
}

function checkAnswer({ language, text }: Block, printed: string): void {
  const difference =
    language === 'json' ? differenceOf(JSON.parse(text), lastJson(printed)) : differenceOfText(local(text), printed)
  if (difference !== null) throw new Error(difference)
}

/** What the last command of a block answered: everything, or its last line. */
function lastJson(printed: string): unknown {
  for (const text of [printed, printed.split('\n').at(-1) ?? '', printed.slice(printed.lastIndexOf('}{') + 1)]) {
    try {
      return JSON.parse(text)
    } catch {
      // Several answers stand behind each other.
    }
  }
  throw new Error(`No JSON was printed: ${printed}`)
}

async function writeShown(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

async function readVariable({ shell }: Reader, name: string): Promise<string> {
  return shell.run(`printf '%s' "$${name}"`)
}

/** A request as the page shows it, with the management token. */
async function send(reader: Reader, text: string): Promise<string> {
  const [head = '', ...rest] = text.split('\n\n')
  const [method = '', path = ''] = head.split(' ')
  const project = await readVariable(reader, 'SLUICE_PROJECT')
  let address = path.trim().replace('{project_id}', project)
  if (address.includes('{datasource_id}')) {
    if (reader.datasource === null) Object.assign(reader, await makeDatasource(project))
    address = address.replace('{datasource_id}', reader.datasource ?? '')
  }
  // Pages call the table of their datasource orders, as the example project calls one of its own.
  const body = rest.join('\n\n').trim().replace('"table": "orders"', `"table": "${reader.table}"`)
  const { status, answer } = await manage(method, address, body)
  if (status >= 400) throw new Error(`${method} ${address} answered ${status}: ${answer}`)
  const made = /"id":"(ds_\w+)"/.exec(answer)?.[1]
  if (method === 'POST' && path.trim().endsWith('/datasources')) reader.datasource = made ?? null
  return answer
}

async function manage(method: string, address: string, body: string): Promise<{ status: number; answer: string }> {
  const response = await fetch(service.url + address, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== '' && { 'content-type': 'application/json' }) },
    ...(body !== '' && { body }),
  })
  return { status: response.status, answer: await response.text() }
}

/** For pages about a datasource that there is already: one that has been loaded once. */
async function makeDatasource(project: string): Promise<Pick<Reader, 'datasource' | 'table'>> {
  const config = { url: `${upstreamUrl()}/orders`, method: 'GET', responsePathExtractor: 'data.items' }
  const body = JSON.stringify({ name: `Orders ${crypto.randomUUID()}`, kind: 'http_api', config })
  const made = await manage('POST', `/v1/projects/${project}/datasources`, body)
  const { id, table_name: table } = JSON.parse(made.answer) as { id: string; table_name: string }
  const begun = await manage('POST', `/v1/projects/${project}/datasources/${id}/refresh`, '{}')
  const job = JSON.parse(begun.answer) as { id: string }
  for (let waited = 0; waited < 60; waited += 1) {
    const now = JSON.parse((await manage('GET', `/v1/jobs/${job.id}`, '')).answer) as { status: string }
    if (now.status === 'succeeded') return { datasource: id, table }
    await wait(500)
  }
  throw new Error(`The first load did not end: ${begun.answer}`)
}

/** Connects as the client would that has these settings, lists its tools and calls one. */
async function useAsClient(text: string, key: string): Promise<void> {
  const client = new Client({ name: 'reader', version: '1' })
  await client.connect(transportOf(local(text), key))
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['ask', 'shops_in_region']))
  const answer = await client.callTool({ name: 'shops_in_region', arguments: { region: 'north' } })
  expect(JSON.stringify(answer.structuredContent)).toContain('Harbour Hall')
  await client.close()
}

type Settings = {
  url?: string
  httpUrl?: string
  headers?: Record<string, string>
  command?: string
  args?: string[]
  env?: Record<string, string>
}

/** What a client's settings lead to. Each has its own way to name a variable of its environment. */
function transportOf(text: string, key: string): StreamableHTTPClientTransport | StdioClientTransport {
  const filled = text.replace(/\$\{(env:|input:)?(SLUICE_API_KEY|sluice-key)\}|\$SLUICE_API_KEY/g, key)
  const byHttp = (url: string, headers: Record<string, string>) =>
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  if (text.includes('[mcp_servers')) {
    expect(text).toContain('bearer_token_env_var = "SLUICE_API_KEY"')
    return byHttp(/^url = "(.*)"$/m.exec(text)?.[1] ?? '', { Authorization: `Bearer ${key}` })
  }
  const settings = JSON.parse(filled) as Record<string, Record<string, Settings>>
  const { url, httpUrl, headers, command, args, env } =
    (settings['mcpServers'] ?? settings['servers'])?.['sluice'] ?? {}
  if (command === undefined) return byHttp(url ?? httpUrl ?? '', headers ?? {})
  return new StdioClientTransport({ command, args: args ?? [], env: { ...env, PATH: path() } })
}

/** The addresses that pages show, where they are in this test. */
function local(text: string): string {
  const { port } = new URL(service.url)
  return text
    .replaceAll(/(127\.0\.0\.1|sample\.localhost):4400/g, `$1:${port}`)
    .replaceAll('https://api.example', upstreamUrl())
}

function path(): string {
  return `${join(folder, 'bin')}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
}

/** What the package puts onto the path, as it is in a checkout. */
async function writePrograms(bin: string): Promise<void> {
  await mkdir(bin)
  const program = `exec '${process.execPath}' --no-warnings '${join(root, 'cli/main.ts')}' "$@"`
  await writeFile(join(bin, 'sluice'), `#!/bin/sh\n${program}\n`, { mode: 0o755 })
  await writeFile(join(bin, 'npx'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 })
}

/** `sluice/client` as the package offers it, without packing it. */
async function linkClient(home: string): Promise<void> {
  const place = join(home, 'node_modules/sluice')
  await mkdir(place, { recursive: true })
  await symlink(join(root, 'clients/typescript'), join(place, 'client'))
  await writeFile(join(place, 'package.json'), '{"name": "sluice", "exports": {"./client": "./client/index.ts"}}')
}

const items = Array.from({ length: 5 }, (_, at) => ({
  id: at + 1,
  total: at * 10,
  updated_at: `2026-03-0${at + 1}T00:00:00Z`,
  lines: [{ product: 'tea', quantity: at + 1 }],
}))

/** What pages call `https://api.example`: orders in pages, the lines of each, and its own document. */
async function serveUpstream(): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://upstream')
    const from = Number(searchParams.get('cursor') ?? 0)
    const next = from + 2 < items.length ? String(from + 2) : null
    const orders = { data: { items: items.slice(from, from + 2) }, meta: { next_cursor: next } }
    const lines = { lines: [{ product: 'tea', quantity: 1 }] }
    const document = {
      openapi: '3.1.0',
      info: { title: 'Shop', version: '1' },
      servers: [{ url: upstreamUrl() }],
      paths: { '/orders': { get: { summary: 'Orders', responses: { 200: { description: 'Orders' } } } } },
    }
    const answer = pathname.endsWith('/lines') ? lines : pathname === '/openapi.json' ? document : orders
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

function upstreamUrl(): string {
  return `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
}
