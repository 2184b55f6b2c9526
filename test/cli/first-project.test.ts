import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openCli, type Cli } from '../harness/cli.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { openSource, type Source } from '../harness/source.ts'

const rows = [
  { id: 1, status: 'open', owner: 'ada' },
  { id: 2, status: 'closed', owner: 'bob' },
]
const connection = `# The help desk.
config:
  url: \${SOURCE}
  method: GET
  headers: { Accept: {value: application/json} }   # theirs
  authType: Basic Auth
  auth: {username: etl, password: "\${HELPDESK_PASSWORD}"}
load: {mode: merge, primary_key: [id]}
`
const openTickets = `/*---
description: Tickets that are open
slots:
  owner: {type: string, description: "Whose", required: true}
examples:
  - {question: open tickets of ada, parameters: {owner: ada}}
---*/
select id, status, owner
from tickets
where status = 'open' and owner = $owner
`

let t: TestApp
let source: Source
let cli: Cli
let project: QueryProject
let url = ''
const file = (name: string): string => join(cli.folder, name)
const released = (...more: string[]) => cli.run('release', '--yes', ...more)

beforeAll(async () => {
  source = await openSource()
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: source.host })
  await t.app.jobs.start()
  url = await t.listen()
})
afterAll(async () => {
  await t.close()
  await source.close()
})

/** A project with a table that was made in the app, and two files that the service has never seen. */
beforeEach(async () => {
  project = await openQueryProject(t)
  const secrets = { SOURCE: source.url, HELPDESK_PASSWORD: 'open sesame' }
  cli = await openCli(url, { SLUICE_PROJECT: project.projectId, ...secrets })
  for (const folder of ['connections', 'queries']) await mkdir(file(folder))
  await writeFile(file('sluice.yaml'), 'definition: 1\n')
  await writeFile(file('connections/tickets.yaml'), connection)
  await writeFile(file('queries/open_tickets.sql'), openTickets)
  source.answer(rows)
  return () => cli.close()
})

const call = (environment = 'production') =>
  project.caller.post('/v1/queries/open_tickets', { owner: 'ada' }, { 'x-sluice-environment': environment })

describe('a release of a new connection with a query over it', () => {
  test('waits for the first load', async () => {
    const done = await released()
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('tickets is loaded.') })
    expect((await expectStatus(200, call())).body.data).toEqual([{ id: 1, status: 'open', owner: 'ada' }])
    expect(await released()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('production is as the files say'),
    })
  })

  test('says which table was not loaded, and goes on where it ended', async () => {
    source.answer({ error: 'closed for today' }, {}, 403)
    const failed = await released()
    expect(failed).toMatchObject({ code: 7, stderr: expect.stringContaining('tickets was not loaded') })
    expect(failed.stderr).toContain('connections/tickets.yaml')
    source.answer(rows)
    expect(await released()).toMatchObject({ code: 0 })
    await expectStatus(200, call())
  })

  test('names the file of a query that cannot run yet where nobody waits', async () => {
    const held = source.hold()
    const done = await released('--no-wait')
    expect(done.code).not.toBe(0)
    expect(done.stderr).toContain('queries/open_tickets.sql:9:6  There is no table tickets.')
    held.letGo(rows)
  })
})

describe('plan', () => {
  test('ends as the release would: refused SQL with file, line and column, and breaking changes', async () => {
    await released()
    await writeFile(file('queries/open_tickets.sql'), openTickets.replace('select id, status', 'select id, stat'))
    const wrong = await cli.run('plan')
    expect(wrong).toMatchObject({ code: 6, stderr: expect.stringContaining('queries/open_tickets.sql:8:12  ') })
    await writeFile(file('queries/open_tickets.sql'), openTickets.replace('select id, status', 'select id'))
    expect(await cli.run('plan')).toMatchObject({ code: 6, stderr: expect.stringContaining('would break callers') })
    expect(await released()).toMatchObject({ code: 6 })
    expect(await cli.run('plan', '--allow-breaking')).toMatchObject({ code: 0, stderr: '' })
    expect(await cli.run('plan', '--allow-breaking', '--detailed-exit-code')).toMatchObject({ code: 8 })
  })

  test('agrees with the release after a rollback', async () => {
    await released()
    await writeFile(file('queries/open_tickets.sql'), openTickets.replace('select id, status', 'select id'))
    await released('--force')
    await cli.run('rollback', '--yes')
    const planned = await cli.run('plan')
    expect(planned).toMatchObject({ code: 6, stdout: expect.stringMatching(/~ open_tickets +breaking/) })
    expect(await released()).toMatchObject({ code: 6, stderr: expect.stringContaining('would break callers') })
  })

  test('shows what differs inside a field by its path', async () => {
    await released()
    const moved = openTickets.replace('"Whose"', '"Whose they are"')
    await writeFile(file('queries/open_tickets.sql'), moved)
    const planned = await cli.run('plan')
    expect(planned.stdout).toContain('slots.properties.owner.description: Whose → Whose they are')
    const later = connection.replace('application/json', 'application/json;q=0.9')
    await writeFile(file('connections/tickets.yaml'), later)
    const second = await cli.run('plan')
    expect(second.stdout).toContain('config.headers.Accept.value: application/json → application/json;q=0.9')
  })
})

describe('other environments', () => {
  test('are named where a release changes a table that they read, and it takes saying so', async () => {
    await released()
    await writeFile(file('connections/tickets.yaml'), connection.replace('theirs', 'ours').replace('GET', 'POST'))
    const planned = await cli.run('plan', '--environment', 'staging')
    const first = planned.stdout.split('\n').find((line) => line.startsWith('  '))
    expect(first).toContain('A release to staging also changes tables that other environments read')
    expect(planned.stdout).toContain('tickets is read by production (open_tickets)')
    expect(planned).toMatchObject({ code: 6, stderr: expect.stringContaining('--shared') })
    expect(await cli.run('plan', '--environment', 'staging', '--shared')).toMatchObject({ code: 0 })
    const refused = await released('--environment', 'staging')
    expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('--shared') })
    expect(await released('--environment', 'staging', '--shared')).toMatchObject({ code: 0 })
  })
})

describe('a table that the files do not name', () => {
  test('keeps its data until --prune says that it goes', async () => {
    const planned = await cli.run('plan')
    expect(planned.stdout).toMatch(/! connection +orders +is not in the files and stays/)
    await released()
    const tables = async (): Promise<string[]> => {
      const listed = await t.operator.get(`/v1/projects/${project.projectId}/datasources`)
      return listed.body.data.map((each: { table_name: string }) => each.table_name)
    }
    expect(await tables()).toContain('orders')
    expect((await released('--prune')).stdout).toMatch(/- connection +orders/)
    expect(await tables()).toEqual(['tickets'])
  })
})

describe('files that say the same', () => {
  test('are not touched by pull, whatever their spelling, and diff ends with 0', async () => {
    await released('--prune')
    const before = await Promise.all(
      ['sluice.yaml', 'connections/tickets.yaml', 'queries/open_tickets.sql'].map((name) =>
        readFile(file(name), 'utf8'),
      ),
    )
    expect(await cli.run('diff')).toMatchObject({ code: 0, stdout: 'The files say what the service has.\n' })
    expect(await cli.run('pull', '--yes')).toMatchObject({ code: 0 })
    const after = await Promise.all(
      ['sluice.yaml', 'connections/tickets.yaml', 'queries/open_tickets.sql'].map((name) =>
        readFile(file(name), 'utf8'),
      ),
    )
    expect(after).toEqual(before)
  })

  test('get only what differs, and diff says who changed it and when', async () => {
    await released('--prune')
    const path = `${project.path}/open_tickets`
    await expectStatus(200, t.operator.put(path, { description: 'Tickets that wait' }))
    const sources = await t.operator.get(`/v1/projects/${project.projectId}/datasources`)
    const id = String(sources.body.data[0].id)
    await expectStatus(
      200,
      t.operator.patch(`/v1/projects/${project.projectId}/datasources/${id}`, { schedule: '0 5 * * *' }),
    )
    const differs = await cli.run('diff')
    expect(differs.code).toBe(1)
    expect(differs.stdout).toMatch(/queries\/open_tickets\.sql {2}\(changed by .+ on \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)/)
    expect(differs.stdout).toMatch(/connections\/tickets\.yaml {2}\(changed by .+ on /)
    await cli.run('pull', '--yes')
    expect(await readFile(file('queries/open_tickets.sql'), 'utf8')).toBe(
      openTickets.replace('Tickets that are open', 'Tickets that wait'),
    )
    expect(await readFile(file('connections/tickets.yaml'), 'utf8')).toBe(`${connection}schedule: 0 5 * * *\n`)
  })
})

describe('dev', () => {
  test('sees every save of an editor that puts a new file in the place of the old one', async () => {
    await released()
    const dev = cli.start('dev', '--yes')
    const path = file('queries/open_tickets.sql')
    await expect.poll(() => dev.said().stderr, { timeout: 30_000 }).toContain('Watching')
    for (const word of ['first', 'second', 'third']) {
      await writeFile(`${path}.tmp`, openTickets.replace('are open', `are open, ${word}`))
      await rename(`${path}.tmp`, path)
      const described = async (): Promise<unknown> =>
        (await t.operator.get(`${project.path}/open_tickets`)).body.description
      await expect.poll(described, { timeout: 30_000 }).toBe(`Tickets that are open, ${word}`)
    }
    await dev.interrupt()
  })
})

test('types make the folder they are written into', async () => {
  await released()
  expect(await cli.run('types', '-o', join('src', 'generated', 'sluice.ts'))).toMatchObject({ code: 0 })
  expect(await readFile(file('src/generated/sluice.ts'), 'utf8')).toContain('open_tickets')
})
