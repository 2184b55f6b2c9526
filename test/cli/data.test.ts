import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openCli, type Cli } from '../harness/cli.ts'
import { openSource, type Source } from '../harness/source.ts'

const rows = [
  { id: 1, region: 'north' },
  { id: 2, region: 'south' },
]

let t: TestApp
let source: Source
let cli: Cli
beforeAll(async () => {
  source = await openSource()
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: source.host })
  await t.app.jobs.start()
  const url = await t.listen()
  cli = await openCli(url, { SLUICE_PROJECT: await t.project(), SOURCE: source.url })
  await writeFile(join(cli.folder, 'sluice.yaml'), 'definition: 1\n')
  await mkdir(join(cli.folder, 'connections'))
  await mkdir(join(cli.folder, 'queries'))
  await writeFile(join(cli.folder, 'connections/orders.yaml'), 'config:\n  url: ${SOURCE}\n  method: GET\n')
  source.answer(rows)
})
afterAll(async () => {
  await cli.close()
  await t.close()
  await source.close()
})

/** Nothing of these is released: the service does not know them. */
async function tryWithSecrets(): Promise<void> {
  const { origin } = new URL(source.url)
  const secret = (origins: string) =>
    `definition: 1\nvariables:\n  - { name: region, value: north & south }\n  - { name: shop_key, secret: true, value: '\${SHOP_KEY}', origins: [${origins}] }\n`
  const request = `config:
  url: \${SOURCE}?region={{var:region}}
  method: GET
  headers: { X-Api-Key: '{{secret:shop_key}}' }
`
  await writeFile(join(cli.folder, 'connections/guarded.yaml'), request)
  cli.environment['SHOP_KEY'] = 'key-of-the-files'
  await writeFile(join(cli.folder, 'sluice.yaml'), secret(origin))
  expect(await cli.run('test-connection', 'guarded')).toMatchObject({ code: 0 })
  expect(source.requests.at(-1)).toMatchObject({
    url: expect.stringContaining('region=north%20%26%20south'),
    headers: { 'x-api-key': 'key-of-the-files' },
  })
  // One that may go elsewhere only does not leave.
  const sent = source.requests.length
  await writeFile(join(cli.folder, 'sluice.yaml'), secret('https://shop.example'))
  expect((await cli.run('test-connection', 'guarded')).code).not.toBe(0)
  expect(source.requests.length).toBe(sent)
  await rm(join(cli.folder, 'connections/guarded.yaml'))
  await writeFile(join(cli.folder, 'sluice.yaml'), 'definition: 1\n')
}

describe('a connection in a file', () => {
  test('is tried, and nothing is stored', async () => {
    const tried = await cli.run('test-connection', 'orders')
    expect(tried).toMatchObject({ code: 0, stdout: expect.stringMatching(/✓ 200[\s\S]*id +region/) })
    source.answer({ error: 'closed' }, {}, 503)
    expect(await cli.run('test-connection', 'orders')).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('503'),
    })
    source.answer({ message: 'who are you' }, {}, 401)
    expect(await cli.run('test-connection', 'orders')).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('does not accept these credentials'),
    })
    source.handle((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title>')
    })
    expect(await cli.run('test-connection', 'orders')).toMatchObject({
      code: 7,
      stdout: '',
      stderr: expect.stringContaining('answered with a web page, not with data'),
    })
    source.answer(rows)
    await tryWithSecrets()
    expect(await cli.run('execute', 'orders')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no table orders'),
    })
  })

  test('is released, loaded, and loaded again when it is asked for', async () => {
    expect(await cli.run('release', '--yes')).toMatchObject({ code: 0, stderr: '' })
    const loaded = await cli.json('execute', 'orders')
    expect(loaded).toMatchObject({ status: 'succeeded' })
    const [newest]: Array<{ id: string }> = await cli.json('jobs')
    const watched = await cli.run('jobs', 'watch', newest?.id ?? '')
    expect(watched).toMatchObject({ code: 0, stdout: expect.stringContaining('succeeded') })
  })

  test('says why what came may not be all, and that it is held where rows would be lost', async () => {
    source.answer({ count: 9, results: rows })
    const whole = 'config:\n  url: ${SOURCE}\n  method: GET\n  responsePathExtractor: results\n'
    await writeFile(join(cli.folder, 'connections/bikes.yaml'), whole)
    expect(await cli.run('release', '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/bikes is loaded\.\n! The API says that it has 9 rows, and 2 came\./),
    })
    expect(await cli.run('execute', 'bikes')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /✓ bikes is loaded: 2 rows on 1 page\.\n! The API says that it has 9 rows, and 2 came\./,
      ),
    })
    source.answer({ results: [] })
    expect(await cli.run('execute', 'bikes')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/! Version \d+ is held: 0 rows came where the version before has 2\./),
    })
    source.answer(rows)
    await rm(join(cli.folder, 'connections/bikes.yaml'))
    expect(await cli.run('release', '--yes')).toMatchObject({ code: 0 })
  })

  test('jobs are watched as they come, until it is interrupted', async () => {
    const watched = cli.start('jobs', 'watch')
    await expect.poll(() => watched.said().stderr, { timeout: 60_000 }).toContain('Watching jobs; Ctrl-C ends it.')
    await expect
      .poll(
        async () => {
          await cli.run('execute', 'orders')
          return watched.said().stdout
        },
        { timeout: 60_000 },
      )
      .toMatch(/refresh_datasource {2}queued[\s\S]*refresh_datasource {2}running[\s\S]*refresh_datasource {2}succeeded/)
    const lines = watched.said().stdout.trim().split('\n')
    expect(new Set(lines).size).toBe(lines.length)
    expect(await watched.interrupt()).toEqual({ code: 130, signal: null })
  })

  test('serves queries that go from one environment to another as one', async () => {
    await writeFile(join(cli.folder, 'queries/all_orders.sql'), 'select id, region from orders order by id\n')
    expect(await cli.run('release', '--yes', '--environment', 'staging')).toMatchObject({ code: 0 })
    expect(await cli.json('promote', 'staging', 'production', '--check')).toMatchObject({ status: 'checked' })
    expect(await cli.json('promote', 'staging', 'production', '--yes')).toMatchObject({
      environment: 'production',
      queries: [{ name: 'all_orders', previous_version: null }],
    })
    const again = await cli.run('promote', 'staging', 'production', '--yes')
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('production has what staging has') })
    // What the files say is what is there, the value of ${SOURCE} and all.
    expect((await cli.json('plan')).plan.filter((each: { action: string }) => each.action !== 'unchanged')).toEqual([])
  })
})
