import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openCli, type Cli } from '../harness/cli.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { openTerminal, type Terminal } from '../harness/terminal.ts'

const program = join(import.meta.dirname, '../../cli/main.ts')

let t: TestApp
let project: QueryProject
let cli: Cli
beforeAll(async () => {
  t = await openTestApp()
  const url = await t.listen()
  project = await openQueryProject(t)
  await project.deploy({
    name: 'orders_of_region',
    description: 'Orders of a region',
    sql: 'select id, region from orders where region = $region order by id',
    slots: { properties: { region: { type: 'string', enum: ['north', 'south'] } }, required: ['region'] },
    examples: [{ question: 'orders in the north', parameters: { region: 'north' } }],
  })
  cli = await openCli(url)
})
afterAll(async () => {
  await cli.close()
  await t.close()
})

const opened: Terminal[] = []
// One that a failed test has left would keep the run from ending.
afterEach(() => opened.splice(0).forEach((terminal) => terminal.close()))

function typed(...args: string[]): Terminal {
  const { folder: cwd, environment: env } = cli
  const terminal = openTerminal([process.execPath, '--no-warnings', program, ...args], { cwd, env })
  opened.push(terminal)
  return terminal
}

async function columnsNow(): Promise<string[]> {
  const answer = await project.caller.post('/v1/queries/orders_of_region', { region: 'north' })
  return Object.keys(answer.body.data[0])
}

// `script` of util-linux makes the terminal.
const isLinux = process.platform === 'linux'

describe.runIf(isLinux)('a project as files, in a terminal', () => {
  const file = (name: string): string => join(cli.folder, name)
  let release = ''

  test('is pulled', async () => {
    const terminal = typed('pull', '--project', project.projectId)
    expect(await terminal.exited).toBe(0)
    expect(terminal.screen()).toContain('+ queries/orders_of_region.sql')
    const sql = await readFile(file('queries/orders_of_region.sql'), 'utf8')
    expect(sql).toContain('description: Orders of a region')
    expect(sql.endsWith('---*/\nselect id, region from orders where region = $region order by id\n')).toBe(true)
    const again = typed('pull')
    expect(await again.exited).toBe(0)
    expect(again.screen()).toContain('The files say what the service has.')
    const nothing = typed('plan', '--detailed-exit-code')
    expect(await nothing.exited).toBe(0)
    expect(nothing.screen()).toContain('Nothing to change.')
  })

  test('is edited and planned, and the plan changes nothing', async () => {
    const path = file('queries/orders_of_region.sql')
    const sql = await readFile(path, 'utf8')
    await writeFile(path, sql.replace('select id, region', 'select id, region, id * 2 as twice'))
    await writeFile(
      file('queries/order_count.sql'),
      '/*---\ndescription: How many orders there are\n---*/\nselect count(*) as orders from orders\n',
    )
    const terminal = typed('plan', '--detailed-exit-code')
    expect(await terminal.exited).toBe(8)
    expect(terminal.screen()).toMatch(/\+ query {2}order_count +first version/)
    expect(terminal.screen()).toMatch(/~ query {2}orders_of_region +additive/)
    expect(terminal.screen()).toContain('1 to create, 1 to change')
    // A person looks: in colours.
    expect(terminal.raw()).toContain('\u001b[32m')
    expect(await columnsNow()).toEqual(['id', 'region'])
  })

  test('is not released by who says no', async () => {
    const terminal = typed('release')
    await terminal.until(/Release this to production\? \[y\/N\]/)
    terminal.type('n\r')
    expect(await terminal.exited).toBe(2)
    expect(terminal.screen()).toContain('Nothing was changed.')
    expect(await columnsNow()).toEqual(['id', 'region'])
  })

  test('is released as one by who says yes, and a second time nothing happens', async () => {
    const terminal = typed('release', '--message', 'twice as much')
    await terminal.until(/Release this to production\? \[y\/N\]/)
    terminal.type('y\r')
    expect(await terminal.exited).toBe(0)
    release = /Release (\S+) answers in production/.exec(terminal.screen())?.[1] ?? ''
    expect(release).not.toBe('')
    expect(await columnsNow()).toEqual(['id', 'region', 'twice'])
    expect((await project.caller.post('/v1/queries/order_count', {})).body.data).toEqual([{ orders: 30 }])
    const again = typed('release')
    expect(await again.exited).toBe(0)
    expect(again.screen()).toContain('production is as the files say.')
  })

  test('is in the history with its reason', async () => {
    const terminal = typed('releases')
    expect(await terminal.exited).toBe(0)
    expect(terminal.screen()).toContain('twice as much')
  })

  test('is refused where it breaks callers, before anything is changed', async () => {
    const path = file('queries/orders_of_region.sql')
    const sql = await readFile(path, 'utf8')
    await writeFile(path, sql.replace('select id, region, id * 2 as twice', 'select id'))
    const terminal = typed('release', '--yes')
    expect(await terminal.exited).toBe(6)
    expect(terminal.screen()).toContain('breaking')
    expect(terminal.screen()).toContain('--force')
    expect(await columnsNow()).toEqual(['id', 'region', 'twice'])
    const diff = typed('diff')
    expect(await diff.exited).toBe(1)
    expect(diff.screen()).toContain('+select id from orders')
    await writeFile(path, sql)
  })

  test('is rolled back as one', async () => {
    const terminal = typed('rollback')
    await terminal.until(/Roll production back\? \[y\/N\]/)
    expect(terminal.screen()).toContain(`Back before ${release}`)
    terminal.type('y\r')
    expect(await terminal.exited).toBe(0)
    expect(await columnsNow()).toEqual(['id', 'region'])
    expect((await project.caller.post('/v1/queries/order_count', {})).status).toBe(404)
  })

  test('is tried on recorded calls, and asked about once more where they would be answered otherwise', async () => {
    await t.app.jobs.start()
    const settings = `/v1/projects/${project.projectId}/replay-settings`
    await expectStatus(200, t.operator.put(settings, { recording: true }))
    await expect.poll(() => t.app.callWatch.isOn, { timeout: 10_000 }).toBe(true)
    for (const region of ['north', 'south']) await project.caller.post('/v1/queries/orders_of_region', { region })
    await t.app.recorder.flush()
    const path = file('queries/orders_of_region.sql')
    await writeFile(
      path,
      (await readFile(path, 'utf8')).replace(
        /select id.* from/,
        "select id + case when $region = 'north' then 100 else 0 end as id, region from",
      ),
    )
    const terminal = typed('release')
    await terminal.until(/Release this to production\? \[y\/N\]/)
    terminal.type('y\r')
    await terminal.until(/Of 2 calls 1 equal, 1 different[\s\S]*Release anyway\? \[y\/N\]/)
    terminal.type('n\r')
    expect(await terminal.exited).toBe(2)
    expect(await columnsNow()).toEqual(['id', 'region'])
    const strict = await cli.run('release', '--yes', '--stop-on-differences')
    expect(strict).toMatchObject({ code: 6, stderr: expect.stringContaining('Not released: Of 3 calls') })
    const detailed = await cli.run('replay', '--details')
    expect(detailed).toMatchObject({ code: 0, stdout: expect.stringMatching(/region=north\n +[~+-] .*\d/) })
  })

  test('answers a share of the keys first, then everyone, and is taken back as one', async () => {
    const firstId = async (): Promise<number> =>
      (await project.caller.post('/v1/queries/orders_of_region', { region: 'north' })).body.data[0].id
    const before = await firstId()
    const canary = typed(
      'release',
      '--yes',
      '--canary',
      '0.01',
      '--step',
      '50/1h',
      '--roll-back-on',
      'errors=0.5,p95=9',
    )
    expect(await canary.exited).toBe(0)
    expect(canary.screen()).toMatch(/Release \S+ takes a share of the calls of production/)
    const shown = typed('releases', /Release (\S+) takes/.exec(canary.screen())?.[1] ?? '')
    expect(await shown.exited).toBe(0)
    expect(shown.screen()).toContain('Serves 0.01 % of keys, 50 % more every 3600 s.')
    expect(await firstId()).toBe(before)
    // An option that is none is told before anything is planned.
    expect(await cli.run('release', '--yes', '--canary', '200')).toMatchObject({ code: 2, stdout: '' })
    const all = typed('continue')
    expect(await all.exited).toBe(0)
    expect(all.screen()).toMatch(/Release \S+ answers everyone in production/)
    expect(await firstId()).toBe(before + 100)
    const back = typed('rollback', '--yes')
    expect(await back.exited).toBe(0)
    expect(await firstId()).toBe(before)
  })

  test('says without colours what it says with them', async () => {
    const { code, stdout } = await cli.run('plan')
    expect(code).toBe(0)
    expect(stdout).not.toContain('\u001b[')
    const plain = openTerminal([process.execPath, '--no-warnings', program, 'plan'], {
      cwd: cli.folder,
      env: { ...cli.environment, NO_COLOR: '1' },
    })
    expect(await plain.exited).toBe(0)
    for (const colour of [31, 32, 33, 36]) expect(plain.raw()).not.toContain(`\u001b[${colour}m`)
  })
})

describe.runIf(isLinux)('dev', () => {
  const path = (): string => join(cli.folder, 'queries/order_count.sql')
  async function answerNow(): Promise<object[]> {
    const headers = { 'x-sluice-environment': 'development' }
    const answer = await project.caller.post('/v1/queries/order_count', {}, headers)
    return answer.body.data
  }
  async function leave(terminal: Terminal): Promise<void> {
    terminal.type('\u0003')
    expect(await terminal.exited).toBe(130)
  }

  test('releases to development at every save, and goes on after a mistake', async () => {
    await writeFile(path(), 'select count(*) as orders from orders\n')
    const terminal = typed('dev', '--yes')
    await terminal.until(/Watching/)
    await writeFile(path(), 'selec count(*) as orders from orders\n')
    await terminal.until(/✗/)
    await writeFile(path(), 'select count(*) as orders, 1 as one from orders\n')
    await terminal.until(/✗[\s\S]*✓ order_count/)
    expect(await answerNow()).toEqual([{ orders: 30, one: 1 }])
    await leave(terminal)
  })

  test('goes on after a mistake that was there when it began', async () => {
    await writeFile(path(), 'selec count(*) as orders from orders\n')
    const terminal = typed('dev', '--yes')
    await terminal.until(/✗[\s\S]*Watching/)
    await writeFile(path(), 'select count(*) as orders, 2 as two from orders\n')
    await terminal.until(/✓ order_count/)
    expect(await answerNow()).toEqual([{ orders: 30, two: 2 }])
    await leave(terminal)
  })

  test('releases what is saved while it makes the first release', async () => {
    await writeFile(path(), 'select count(*) as orders, 3 as three from orders\n')
    const terminal = typed('dev', '--yes')
    await terminal.until(/releasing/)
    await writeFile(path(), 'select count(*) as orders, 4 as four from orders\n')
    await terminal.until(/Watching[\s\S]*✓ order_count/)
    expect(await answerNow()).toEqual([{ orders: 30, four: 4 }])
    await leave(terminal)
  })
})
