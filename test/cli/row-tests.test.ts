import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openCli, type Cli } from '../harness/cli.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { openTerminal, type Terminal } from '../harness/terminal.ts'

const program = join(import.meta.dirname, '../../cli/main.ts')
const sql = 'select id, region from orders where region = $region order by id limit 2'

let t: TestApp
let project: QueryProject
let cli: Cli
beforeAll(async () => {
  t = await openTestApp()
  const url = await t.listen()
  project = await openQueryProject(t)
  const slots = { properties: { region: { type: 'string' } }, required: ['region'] }
  await project.deploy({ name: 'orders_of_region', description: 'Orders of a region', sql, slots })
  cli = await openCli(url)
})
afterAll(async () => {
  await cli.close()
  await t.close()
})

const opened: Terminal[] = []
// One that a failed test has left would keep the run from ending.
afterEach(() => opened.splice(0).forEach((terminal) => terminal.close()))

async function typed(...args: string[]): Promise<{ exit: number | null; screen: string }> {
  const { folder: cwd, environment: env } = cli
  const terminal = openTerminal([process.execPath, '--no-warnings', program, ...args], { cwd, env })
  opened.push(terminal)
  const exit = await terminal.exited
  return { exit, screen: terminal.screen() }
}

// `script` of util-linux makes the terminal.
describe.runIf(process.platform === 'linux')('tests with rows, in a terminal', () => {
  const file = (name: string): string => join(cli.folder, name)

  test('there is nothing to make one of before a call is recorded, which is said with what to do', async () => {
    expect((await typed('pull', '--project', project.projectId)).exit).toBe(0)
    const none = await typed('test')
    expect([none.exit, none.screen]).toEqual([0, expect.stringContaining('sluice test --from-call <query>')])
    const off = await typed('test', '--from-call', 'orders_of_region')
    expect(off.exit).not.toBe(0)
    expect(off.screen).toContain('The project records no calls.')
    const unknown = await typed('test', '--from-call', 'nothing')
    expect(unknown.exit).not.toBe(0)
    expect(unknown.screen).toContain('nothing')
  })

  test('the last call becomes a file in one step, which passes, and fails with what differs once the query is changed', async () => {
    const settings = `/v1/projects/${project.projectId}/replay-settings`
    await expectStatus(200, t.operator.put(settings, { recording: true }))
    await expect.poll(() => t.app.callWatch.isOn, { timeout: 10_000 }).toBe(true)
    const { body } = await expectStatus(200, project.caller.post('/v1/queries/orders_of_region', { region: 'north' }))
    const made = await typed('test', '--from-call', 'orders_of_region')
    expect(made.screen).toContain('✓ tests/orders_of_region_call.yaml is written.')
    expect(made.exit).toBe(0)
    const text = await readFile(file('tests/orders_of_region_call.yaml'), 'utf8')
    expect(text).toContain('query: orders_of_region')
    for (const { id } of body.data as Array<{ id: number }>) expect(text).toContain(`id: ${id}`)
    // A second one takes another name.
    expect((await typed('test', '--from-call', 'orders_of_region')).screen).toContain('orders_of_region_call_2.yaml')

    const passed = await typed('test')
    expect(passed.screen).toContain('✓ 2 tests passed.')
    expect(passed.exit).toBe(0)

    const path = file('queries/orders_of_region.sql')
    await writeFile(path, (await readFile(path, 'utf8')).replace('limit 2', 'limit 1'))
    const failed = await typed('test', 'orders_of_region_call')
    expect(failed.exit).toBe(7)
    expect(failed.screen).toContain('✗ orders_of_region_call')
    expect(failed.screen).toMatch(/- \{"id":\d+,"region":"north"\}/)
    expect(failed.screen).toContain('1 of 1 test did not pass.')
  })
})
