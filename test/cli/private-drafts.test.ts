import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openCli, type Cli, type Started } from '../harness/cli.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

const draft = (sql: string): string => `/*---
description: Orders of a region
slots:
  region: { type: string, required: true }
  most: { type: integer, default: 5 }
---*/
${sql}
`

let t: TestApp
let project: QueryProject
let cli: Cli
let started: Started
let address = ''
beforeAll(async () => {
  t = await openTestApp()
  project = await openQueryProject(t)
  await project.deploy({ name: 'mine', sql: 'select 0 as n' })
  cli = await openCli(await t.listen(), { SLUICE_PROJECT: project.projectId })
  await mkdir(join(cli.folder, 'queries'))
  await writeFile(join(cli.folder, 'sluice.yaml'), 'definition: 1\n')
  await save('select id, region from orders where region = $region order by id limit $most')
  started = cli.start('dev', '--private', '--port', '0')
  await vi.waitUntil(() => started.said().stdout.includes('✓ mine  2 columns'), { timeout: 60_000 })
  address = /answer at (http:\S+)\/v1\/queries/.exec(started.said().stderr)?.[1] ?? ''
})
afterAll(async () => {
  await started.interrupt()
  await cli.close()
  await t.close()
})

/** As editors save: a new file in the place of the old one. */
async function save(sql: string): Promise<void> {
  const file = join(cli.folder, 'queries/mine.sql')
  await writeFile(`${file}.new`, draft(sql))
  await rename(`${file}.new`, file)
}

const call = async (path: string, options: RequestInit = {}) => {
  const answer = await fetch(`${address}${path}`, options)
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}
const post = (body: unknown, headers = {}) =>
  call('/v1/queries/mine', { method: 'POST', body: JSON.stringify(body), headers })

test('drafts answer on this machine at every save, and nobody else sees them', async () => {
  expect(await post({ region: 'north', most: 2 })).toMatchObject({ status: 200, body: { row_count: 2 } })
  expect((await call('/v1/queries/mine?region=north&most=1')).body).toMatchObject({ row_count: 1 })
  await save('select count(*) as orders from orders where region = $region and id <= $most')
  await expect.poll(() => started.said().stdout).toContain('✓ mine  1 column')
  expect((await post({ region: 'north', most: 30 })).body['data']).toEqual([{ orders: expect.any(Number) }])

  // On the service everything is as it was: the draft, what is deployed, and the history.
  const { body: kept } = await expectStatus(200, t.operator.get(`${project.path}/mine`))
  expect(kept.sql).toBe('select 0 as n')
  const { body: answered } = await expectStatus(200, project.caller.post('/v1/queries/mine', {}))
  expect(answered.data).toEqual([{ n: 0 }])
  const { body: audit } = await t.operator.get(`/v1/audit?project_id=${project.projectId}`)
  const { body: before } = await t.operator.get(`${project.path}/mine/versions`)
  expect(before.data).toHaveLength(1)
  expect(audit.data.filter(({ action }: { action: string }) => action.startsWith('definition'))).toEqual([])
})

test('a mistake is named in its file, and the next save goes on', async () => {
  await save('select colour from orders where region = $region limit $most')
  await expect.poll(() => started.said().stderr).toMatch(/✗ .*queries\/mine\.sql:\d+[\s\S]*colour/)
  expect(await post({ region: 'north' })).toMatchObject({ status: 400 })
  const run = await cli.run('run', 'mine', 'region=north')
  expect(run.stderr).toMatch(/^\S*.*queries\/mine\.sql:7:8 {2}No column colour\.\n/)
  await save('select id from orders where region = $region limit $most')
  await expect.poll(async () => (await post({ region: 'north' })).status).toBe(200)
})

test('pages of other sites and names that lead here are refused, as is what is not there', async () => {
  expect(await post({ region: 'north' }, { origin: 'https://evil.example' })).toMatchObject({ status: 403 })
  expect(await call('/v1/queries/other')).toMatchObject({
    status: 404,
    body: { message: expect.stringContaining('/v1/queries/mine') },
  })
  const malformed = await call('/v1/queries/mine', { method: 'POST', body: '{' })
  expect(malformed.status).toBe(400)
  const large = await call('/v1/queries/mine', { method: 'POST', body: `"${'x'.repeat(1_100_000)}"` })
  expect(large.status).toBe(400)
})
