import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Command } from 'commander'
import { examples } from '../../cli/examples.ts'
import { buildProgram } from '../../cli/program.ts'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openCli, type Cli, type CliRun } from '../harness/cli.ts'
import { endService, startService } from '../harness/process.ts'
import { openSource, type Source } from '../harness/source.ts'

const main = join(import.meta.dirname, '../../cli/main.ts')
const rows = [
  { id: 1, region: 'north' },
  { id: 2, region: 'south' },
]
const files: Record<string, string> = {
  'sluice.yaml': 'definition: 1\nsettings: { replay: { recording: true } }\n',
  'connections/orders.yaml': 'config:\n  url: ${SHOP_URL}/orders\n  method: GET\n',
  'queries/orders_of_region.sql': `/*---
description: Orders of a region.
slots:
  region:
    type: string
    enum: [ north, south ]
    required: true
examples:
  - question: which orders came from the north
    parameters: { region: north }
---*/
select id, region from orders where region = $region order by id
`,
  'models/regions.sql':
    '/*---\nload: { mode: merge, primary_key: [id] }\n---*/\nselect id, region from {{new rows of orders}}\n',
  'tests/north_only.yaml':
    'query: orders_of_region\nparameters: { region: north }\ngiven:\n  orders:\n    - { id: 1, region: north }\n    - { id: 2, region: south }\nexpect:\n  - { id: 1, region: north }\n',
  'evaluations/orders_of_region.yaml':
    '-   question: which orders came from the south\n    expected_query: orders_of_region\n    expected_parameters: { region: south }\n',
}

let t: TestApp
let source: Source
let cli: Cli
const ran = new Set<string>()

/** A command as a shell runs it, in the folder of the project or in another one. */
function type(line: string, folder = cli.folder, variables: Record<string, string> = {}): Promise<CliRun> {
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', line], {
      cwd: folder,
      env: { ...cli.environment, ...variables },
      timeout: 120_000,
    })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()))
    child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()))
    child.stdin.end()
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

/** Runs the example of a command. */
async function runs(words: string, code = 0, folder?: string): Promise<CliRun> {
  const line = examples[words] ?? ''
  const answer = await type(line, folder)
  expect({ line, ...answer }).toMatchObject({ line, code })
  ran.add(words)
  return answer
}

beforeAll(async () => {
  source = await openSource()
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: source.host })
  await t.app.jobs.start()
  const projectId = await t.project()
  const permissions = [{ project_id: projectId, environments: '*' }]
  const key = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'shop', permissions }))
  cli = await openCli(await t.listen(), {
    SLUICE_PROJECT: projectId,
    SLUICE_API_KEY: key.body.secret,
    SHOP_URL: `http://${source.host}`,
  })
  source.answer(rows)
  const home = cli.environment['HOME'] ?? ''
  const bin = join(home, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'sluice'), `#!/bin/sh\nexec "${process.execPath}" --no-warnings "${main}" "$@"\n`)
  await chmod(join(bin, 'sluice'), 0o755)
  cli.environment['PATH'] = `${bin}:${cli.environment['PATH']}`
  for (const [path, text] of Object.entries(files)) await write(path, text)
})
afterAll(async () => {
  await cli.close()
  await t.close()
  await source.close()
})

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(cli.folder, path)), { recursive: true })
  await writeFile(join(cli.folder, path), text)
}

test('files are checked, run, tested, released, promoted and taken back', async () => {
  await runs('validate')
  await runs('fmt', 7)
  expect((await type('sluice fmt')).stdout).toContain('evaluations/orders_of_region.yaml')
  await runs('fmt')
  await runs('test-connection')
  expect(await type('sluice release --environment staging --yes')).toMatchObject({ code: 0 })
  await runs('execute')
  expect((await runs('tables')).stdout).toMatch(/orders +2 /)
  expect((await runs('models rebuild')).stdout).toContain('regions has 2 rows.')
  expect((await runs('models')).stdout).toMatch(/regions +ready +2 /)
  await runs('models list')
  expect((await runs('models check')).stdout).toContain('2 rows, as a full build gives them')
  expect((await runs('describe')).stdout).toContain('region')
  expect((await runs('sql')).stdout).toContain('south')
  expect((await runs('run')).stdout).toContain('north')
  await runs('test')
  await write(
    'queries/orders_of_region.sql',
    (files['queries/orders_of_region.sql'] ?? '').replace('by id', 'by id desc'),
  )
  expect((await runs('plan')).stdout).toContain('orders_of_region')
  await runs('release')
  expect((await runs('releases')).stdout.match(/rel_/g)?.length).toBeGreaterThanOrEqual(2)
  await runs('promote')
  await runs('evaluate')
  expect((await runs('call')).stdout).toContain('id,region')
  await runs('replay')
  expect((await runs('ask')).stdout).toContain('orders_of_region')
  await runs('types')
  await runs('logs')
  await runs('pull')
  await runs('diff')
  await runs('rollback')
  await write(
    'queries/orders_of_region.sql',
    (files['queries/orders_of_region.sql'] ?? '').replace('by id', 'by region'),
  )
  const canary = await type('sluice release --environment staging --canary 10 --yes')
  expect(canary).toMatchObject({ code: 0 })
  await runs('continue')
}, 300_000)

test('a wrong file is told by its place, without a service', async () => {
  const right = files['queries/orders_of_region.sql'] ?? ''
  await write('queries/orders_of_region.sql', right.replace('from orders', 'from from orders'))
  const away = { SLUICE_URL: 'http://127.0.0.1:1', SLUICE_TOKEN: '' }
  const wrong = await type('sluice validate', cli.folder, away)
  expect(wrong).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('queries/orders_of_region.sql:12:24  syntax error'),
  })
  await write(
    'queries/orders_of_region.sql',
    right.replace('= $region', '= $place').replace('region: north }', 'region: west }'),
  )
  const slots = await type('sluice validate', cli.folder, away)
  expect(slots.stderr).toContain('the SQL names $place, and slots: do not say what it is')
  expect(slots.stderr).toContain('the slot region is not in the SQL')
  expect(slots.stderr).toContain('which is no choice')
  await write('queries/orders_of_region.sql', right)
  expect(await type('sluice validate', cli.folder, away)).toMatchObject({ code: 0 })
})

test('what is not there is told with what is', async () => {
  expect(await type('sluice describe nothing')).toMatchObject({ code: 2, stderr: expect.stringContaining('orders') })
  expect(await type('sluice run nothing')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('orders_of_region'),
  })
  expect(await type('sluice release --only nothing --yes')).toMatchObject({ code: 2 })
  expect(await type('sluice sql "select"')).toMatchObject({ code: expect.any(Number) as number })
  expect(await type('sluice sql "select 1" --rows none')).toMatchObject({ code: 2 })
})

test('an API comes from the catalog, from curl and from its own document, without its secrets', async () => {
  const folder = await mkdtemp(join(cli.environment['HOME'] ?? '', 'begun-'))
  expect((await runs('init', 0, folder)).stdout).toContain('connections/orders.yaml')
  const text = await readFile(join(folder, 'connections/orders.yaml'), 'utf8')
  expect(text).toContain('{{secret:orders_auth}}')
  expect(text).not.toContain('123')
  expect(await readFile(join(folder, 'sluice.yaml'), 'utf8')).toContain('${ORDERS_AUTH}')
  await runs('add', 0, folder)
  const document = {
    openapi: '3.0.3',
    info: { title: 'Shop', version: '1' },
    servers: [{ url: `http://${source.host}` }],
    paths: {
      '/shops': { get: { operationId: 'listShops', responses: { 200: { description: 'Shops' } } } },
      '/goods': { get: { operationId: 'listGoods', responses: { 200: { description: 'Goods' } } } },
    },
  }
  await writeFile(join(folder, 'shop.json'), JSON.stringify(document))
  const asked = await type('sluice add shop.json', folder)
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('--operation') })
  const listed = await type('sluice add shop.json --json', folder)
  const { operations } = JSON.parse(listed.stderr) as { operations: Array<{ id: string; url: string }> }
  const id = operations.find(({ url }) => url.endsWith('/shops'))?.id ?? ''
  expect(await type(`sluice add shop.json --operation "${id}" --as shops`, folder)).toMatchObject({ code: 0 })
  expect(await readFile(join(folder, 'connections/shops.yaml'), 'utf8')).toContain('/shops')
  // Values in .env count, and none of them is needed elsewhere.
  await writeFile(join(folder, '.env'), 'ORDERS_AUTH=123\nGITHUB_TOKEN=ghp-one\n')
  expect(await type('sluice validate', folder)).toMatchObject({ code: 0 })
})

test('projects, environments, keys, jobs and credentials', async () => {
  await runs('projects')
  await runs('projects list')
  expect((await runs('projects create')).stdout).toContain('Corner shop')
  await runs('environments')
  await runs('environments create')
  expect((await runs('environments list')).stdout).toContain('preview')
  await runs('environments delete')
  await runs('keys create')
  const keys: Array<{ id: string; name: string }> = await cli.json('keys')
  cli.environment['KEY'] = keys.find(({ name }) => name === 'website')?.id ?? ''
  for (const words of [
    'keys',
    'keys list',
    'keys rotate',
    'keys disable',
    'keys enable',
    'keys reach',
    'keys revoke',
  ]) {
    await runs(words)
  }
  for (const words of ['links on', 'links create', 'links', 'links list']) await runs(words)
  const links: Array<{ id: string }> = await cli.json('links')
  cli.environment['LINK'] = links[0]?.id ?? ''
  for (const words of ['links revoke', 'links off']) await runs(words)
  const held = source.hold()
  const begun = await cli.json('execute', 'orders', '--no-wait')
  cli.environment['JOB'] = String(begun.id)
  await expect.poll(held.asked).toBe(1)
  await runs('jobs cancel')
  await runs('jobs watch', 7)
  source.answer(rows)
  await runs('jobs retry')
  await runs('jobs')
  await runs('jobs list')
  await runs('projects engine')
  await runs('projects engine show')
  await runs('projects engine check', 6)
  await runs('projects engine switch', 6)
  expect((await runs('open')).stdout).toContain('/build/queries/orders_of_region')
  await runs('login')
  expect((await runs('whoami')).stdout).toContain('owner')
  await runs('logout')
  expect((await type('sluice logout')).stdout).toContain('Nothing was kept')
  await runs('completion')
  expect(await runs('mcp')).toMatchObject({ stdout: '' })
}, 300_000)

test('dev releases at a save until it is ended', async () => {
  const started = cli.start(...(examples['dev'] ?? '').split(' ').slice(1))
  await expect.poll(() => started.said().stderr).toContain('Watching')
  expect(await started.interrupt()).toMatchObject({ code: 130 })
  ran.add('dev')
})

test('a service is started, copied while it answers, and made again of the copy', async () => {
  const folder = await mkdtemp(join(cli.environment['HOME'] ?? '', 'service-'))
  const [, ...words] = (examples['start'] ?? '').split(' ')
  const service = await startService(join(folder, 'data'), {}, [main, ...words])
  try {
    await runs('backup', 0, folder)
  } finally {
    await endService(service)
  }
  await runs('restore', 0, folder)
  expect(await readdir(join(folder, 'restored'))).not.toEqual([])
  ran.add('start')
}, 300_000)

test('every command has an example, and each was run', async () => {
  const all = commandsOf(await buildProgram())
  expect(Object.keys(examples).toSorted()).toEqual(all.toSorted())
  expect([...ran].toSorted()).toEqual(all.toSorted())
})

function commandsOf(command: Command, above = ''): string[] {
  return command.commands.flatMap((each) => {
    const words = `${above}${each.name()}`
    return [words, ...commandsOf(each, `${words} `)]
  })
}
