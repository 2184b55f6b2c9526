import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest'
import { openTestApp, operatorToken, type TestApp } from '../harness/app.ts'
import { openCli, type Cli } from '../harness/cli.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { openTerminal } from '../harness/terminal.ts'

let t: TestApp
let url: string
let project: QueryProject
let cli: Cli
beforeAll(async () => {
  t = await openTestApp()
  url = await t.listen()
  project = await openQueryProject(t)
  await project.deploy({
    name: 'orders_of_region',
    description: 'Orders of a region',
    sql: 'select id, region from orders where region = $region order by id limit $most',
    slots: {
      properties: {
        region: { type: 'string', enum: ['north', 'south'] },
        most: { type: 'integer', default: 2 },
      },
      required: ['region'],
    },
    examples: [{ question: 'orders in the north', parameters: { region: 'north' } }],
  })
})
afterAll(() => t.close())
beforeEach(async () => {
  cli = await openCli(url, { SLUICE_PROJECT: project.projectId, SLUICE_API_KEY: project.secret })
})
afterEach(() => cli.close())

describe('what scripts rely on', () => {
  test('the engine is told; moving to one that is not there is refused with 6, and what is written wrongly with 2', async () => {
    expect(await cli.run('projects', 'engine')).toMatchObject({ code: 0, stdout: 'duckdb\n' })
    for (const words of [
      ['check', 'trino'],
      ['switch', 'trino', '--yes', '--exclude', 'orders_of_region'],
    ]) {
      const refused = await cli.run('projects', 'engine', ...words)
      expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('SLUICE_TRINO_URL') })
    }
    const wrong = await cli.run('projects', 'engine', 'check', 'trino', '--rewrite', 'orders_of_region')
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('query=') })
    const values = await cli.run('projects', 'engine', 'check', 'trino', '--values', 'orders_of_region={')
    expect(values).toMatchObject({ code: 2, stderr: expect.stringContaining('no JSON') })
  })

  test('help and version end well, and a wrong command with 2', async () => {
    expect(await cli.run('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
    expect(await cli.run('release', '--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('--force') })
    expect(await cli.run('relaese')).toMatchObject({ code: 2, stderr: expect.stringContaining('release') })
  })

  test('4 where nobody is, 5 without a good token, 3 for wrong files', async () => {
    expect(await cli.run('jobs', '--url', 'http://127.0.0.1:1')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('sluice start'),
    })
    await cli.close()
    cli = await openCli(url, { SLUICE_TOKEN: '', SLUICE_PROJECT: project.projectId })
    expect(await cli.run('jobs')).toMatchObject({ code: 5, stderr: expect.stringContaining('sluice login') })
    await cli.close()
    cli = await openCli(url, { SLUICE_TOKEN: 'slc_mgmt_wrong', SLUICE_PROJECT: project.projectId })
    expect(await cli.run('jobs')).toMatchObject({ code: 5, stderr: expect.stringContaining('SLUICE_TOKEN') })
    await writeFile(join(cli.folder, 'sluice.yaml'), 'definition: 2\n')
    expect(await cli.run('plan')).toMatchObject({ code: 3, stderr: expect.stringContaining('sluice.yaml:1:1') })
    const told = await cli.run('plan', '--json')
    expect(JSON.parse(told.stderr)).toMatchObject({ error: 'files', problems: [{ file: 'sluice.yaml', line: 1 }] })
  })
})

test('who names no project is told which there are, or how to make one', async () => {
  const alone = await openTestApp()
  const first = await openCli(await alone.listen())
  try {
    expect(await first.run('tables')).toMatchObject({ code: 2, stderr: expect.stringContaining('projects create') })
    const made = await first.json('projects', 'create', 'Corner shop')
    expect(await first.run('tables')).toMatchObject({ code: 0 })
    await first.run('projects', 'create', 'Garage')
    expect(await first.run('tables')).toMatchObject({ code: 2, stderr: expect.stringContaining(`${made.id}  Corner`) })
  } finally {
    await first.close()
    await alone.close()
  }
})

describe('init', () => {
  test('begins a project that editors can check, and only once', async () => {
    expect(await cli.run('init')).toMatchObject({ code: 0, stdout: expect.stringContaining('sluice pull') })
    const written = await readFile(join(cli.folder, 'sluice.yaml'), 'utf8')
    expect(written).toBe('# yaml-language-server: $schema=.sluice/schemas/project.json\ndefinition: 1\n')
    for (const name of ['project', 'connection', 'query', 'evaluations', 'alert']) {
      const schema = JSON.parse(await readFile(join(cli.folder, `.sluice/schemas/${name}.json`), 'utf8')) as object
      expect(schema).toHaveProperty('$schema')
    }
    expect(await cli.run('init')).toMatchObject({ code: 2 })
  })
})

describe('login', () => {
  test('keeps a token that works in a file of its owner, and uses it', async () => {
    await cli.close()
    cli = await openCli(url, { SLUICE_TOKEN: '', SLUICE_PROJECT: project.projectId })
    expect(await cli.runWith('slc_mgmt_wrong\n', 'login')).toMatchObject({ code: 5 })
    expect(await cli.runWith(`${operatorToken}\n`, 'login')).toMatchObject({ code: 0 })
    const file = join(cli.environment['HOME'] ?? '', '.config/sluice/credentials.yaml')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await cli.json('jobs')).toBeInstanceOf(Array)
    const { chmod } = await import('node:fs/promises')
    await chmod(file, 0o644)
    expect(await cli.run('jobs')).toMatchObject({ code: 5, stderr: expect.stringContaining('chmod 600') })
  })
})

describe('call', () => {
  test('takes values as text and shows a table, or what it is asked for', async () => {
    const shown = await cli.run('call', 'orders_of_region', 'region=north', 'most=1')
    expect(shown.stdout).toMatch(/^id +region\n +\d+ +north\n1 row, \d+ ms, version 1/)
    expect((await cli.json('call', 'orders_of_region', 'region=north')).data).toHaveLength(2)
    const csv = await cli.run('call', 'orders_of_region', 'region=north', '--format', 'csv')
    expect(csv.stdout.split(/\r?\n/)[0]).toBe('id,region')
    const body = await cli.runWith('{"region":"south"}', 'call', 'orders_of_region', '--data', '-', '--json')
    expect(JSON.parse(body.stdout)).toMatchObject({ row_count: 2 })
  })

  test('ends with what is wrong', async () => {
    expect(await cli.run('call', 'orders_of_region', 'region=west')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('region'),
    })
    expect(await cli.run('call', 'orders_of_region', 'north')).toMatchObject({ code: 2 })
  })
})

describe('ask', () => {
  test('answers as a caller, and as a trial without a key', async () => {
    const answer = await cli.run('ask', 'orders', 'in', 'the', 'south')
    expect(answer.stdout).toContain('orders_of_region  region = south')
    await cli.close()
    cli = await openCli(url, { SLUICE_PROJECT: project.projectId })
    expect(await cli.json('ask', 'orders in the south')).toMatchObject({ outcome: 'answered', row_count: 2 })
  })

  test('ends with 7 where the answer is no', async () => {
    const refused = await cli.run('ask', 'who won the match yesterday')
    expect(refused).toMatchObject({ code: 7, stdout: '' })
  })
})

describe('keys', () => {
  test('are made, listed, looked at and ended', async () => {
    const made = await cli.run('keys', 'create', 'ci', '--environment', 'staging', '--save')
    expect(made.stdout).toContain('kept in')
    const keys: Array<{ name: string; permissions: unknown[] }> = await cli.json('keys')
    expect(keys.find(({ name }) => name === 'ci')).toMatchObject({ permissions: [{ environments: ['staging'] }] })
    expect((await cli.run('keys', 'reach', 'ci')).stdout).toContain('staging')
    expect(await cli.json('keys', 'disable', 'ci')).toMatchObject({ status: 'disabled' })
    expect(await cli.json('keys', 'enable', 'ci')).toMatchObject({ status: 'active' })
    expect(await cli.json('keys', 'rotate', 'ci')).toMatchObject({ secret: expect.stringMatching(/^slc_test_/) })
    expect(await cli.run('keys', 'revoke', 'ci')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    expect(await cli.json('keys', 'revoke', 'ci', '--yes')).toMatchObject({ status: 'revoked' })
  })
})

describe('evaluate', () => {
  test('ends with 7 where a case does not pass, and says which', async () => {
    await t.operator.post(`/v1/projects/${project.projectId}/evaluations`, {
      question: 'orders in the north',
      expected_query: 'orders_of_region',
    })
    expect(await cli.run('evaluate')).toMatchObject({ code: 0, stdout: expect.stringContaining('All 1 pass') })
    await t.operator.post(`/v1/projects/${project.projectId}/evaluations`, {
      question: 'orders in the south',
      expected_query: null,
    })
    expect(await cli.run('evaluate')).toMatchObject({
      code: 7,
      stdout: expect.stringContaining('expected a refusal'),
      stderr: expect.stringContaining('1 of 2'),
    })
  })
})

describe('types', () => {
  test('are those of what is deployed, and can be checked', async () => {
    const file = join(cli.folder, 'queries.ts')
    expect(await cli.run('types', '--output', file)).toMatchObject({ code: 0 })
    const text = await readFile(file, 'utf8')
    expect(text).toContain('region: "north" | "south"')
    expect(text).toContain('most?: number | string | null')
    expect(await cli.run('types', '--output', file, '--check')).toMatchObject({ code: 0 })
    await writeFile(file, 'export type Queries = {}\n')
    expect(await cli.run('types', '--output', file, '--check')).toMatchObject({ code: 7 })
  })
})

describe('logs', () => {
  test('show the calls that were made', async () => {
    await cli.run('call', 'orders_of_region', 'region=north')
    await expect.poll(async () => (await cli.run('logs')).stdout).toContain('orders_of_region')
    const failed = await cli.run('logs', '--failed', '--query', 'nothing')
    expect(failed.stdout).toBe('There are no such calls.\n')
  })

  test('follow those that come, each once, until they are interrupted', async () => {
    await project.caller.post('/v1/queries/orders_of_region', { region: 'north' })
    await expect.poll(async () => (await cli.json('logs')).length, { timeout: 30_000 }).toBeGreaterThan(0)
    const followed = cli.start('logs', '--follow', '--json', '--limit', '1')
    const entries = (): Array<{ id: string; status: number; reason: string | null }> =>
      followed
        .said()
        .stdout.split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as never]))
    await expect.poll(entries, { timeout: 60_000 }).toHaveLength(1)
    // Those that come while it listens. One that came before it did would be among the first.
    await expect
      .poll(
        async () => {
          await project.caller.post('/v1/queries/orders_of_region', { region: 'west' })
          return entries().filter(({ status }) => status === 400).length
        },
        { timeout: 60_000, interval: 500 },
      )
      .toBeGreaterThan(1)
    expect(new Set(entries().map(({ id }) => id)).size).toBe(entries().length)
    // Nothing went wrong on the way: who ends it has had enough.
    expect(await followed.interrupt()).toEqual({ code: 130, signal: null })
    expect(followed.said().stderr).toBe('')
  })
})

describe.runIf(process.platform === 'linux')('a folder below', () => {
  test('belongs to the project above it', async () => {
    await cli.close()
    cli = await openCli(url)
    await writeFile(join(cli.folder, 'sluice.yaml'), `definition: 1\nproject: ${project.projectId}\n`)
    const deep = join(cli.folder, 'queries')
    await mkdir(deep)
    const program = join(import.meta.dirname, '../../cli/main.ts')
    const command = [process.execPath, '--no-warnings', program, 'types']
    const terminal = openTerminal(command, { cwd: deep, env: cli.environment })
    expect(await terminal.exited).toBe(0)
    expect(terminal.screen()).toContain('orders_of_region: {')
  })
})
