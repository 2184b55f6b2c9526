import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { join } from 'node:path'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openCli, type Cli } from '../harness/cli.ts'

let t: TestApp
let cli: Cli
beforeAll(async () => {
  t = await openTestApp()
  const projectId = await t.project('Catalog')
  cli = await openCli(await t.listen(), { SLUICE_PROJECT: projectId })
})
afterAll(async () => {
  await cli.close()
  await t.close()
})

const read = (path: string): Promise<string> => readFile(join(cli.folder, path), 'utf8')

test('lists the catalog, all of it or what a word finds', async () => {
  const all = await cli.json('add')
  expect(all.data.length).toBeGreaterThanOrEqual(40)
  const { stdout } = await cli.run('add', 'commits')
  expect(stdout).toMatch(/^github +code +Issues, pull requests, commits/m)
  expect(await cli.run('add', 'no such thing')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('The catalog has no no such thing.'),
  })
})

test('asks for what an entry needs, and takes no secret on the command line', async () => {
  const missing = await cli.run('add', 'github')
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('GitHub needs owner and repo.') })
  expect(missing.stderr).toContain('sluice add github owner=octo-org repo=hello-world')
  const secret = await cli.run('add', 'github', 'token=abc')
  expect(secret).toMatchObject({ code: 2, stderr: expect.stringContaining('token is a secret') })
  expect((await cli.run('add', 'github', 'branch=main')).stderr).toContain('it takes owner, repo, token')
})

test('writes an API with its connections and queries, which a plan then takes', async () => {
  const added = await cli.json('add', 'github', 'owner=octo-org', 'repo=hello-world')
  expect(added.environment).toEqual(['GITHUB_TOKEN'])
  expect(added.written).toContain('connections/github_issues.yaml')
  expect(await read('connections/github_issues.yaml')).toContain('url: /repos/octo-org/hello-world/issues')
  expect(await read('sluice.yaml')).toContain('value: ${GITHUB_TOKEN}')
  const again = await cli.run('add', 'github', 'owner=octo-org', 'repo=other')
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('--as github_2') })
  await cli.json('add', 'github', 'owner=octo-org', 'repo=other', '--as', 'other')
  expect(await read('queries/other_open_issues.sql')).toContain('from other_issues')
  expect(await read('sluice.yaml')).toContain('value: ${OTHER_TOKEN}')

  cli.environment['GITHUB_TOKEN'] = 'ghp-one'
  cli.environment['OTHER_TOKEN'] = 'ghp-two'
  const { plan } = await cli.json('plan')
  const created = (plan as Array<{ kind: string; name: string; action: string }>).filter(
    ({ action }) => action === 'create',
  )
  expect(created.map(({ kind, name }) => `${kind} ${name}`)).toEqual(
    expect.arrayContaining([
      'variable github_token',
      'api github',
      'connection github_issues',
      'query github_open_issues',
      'api other',
    ]),
  )
})
