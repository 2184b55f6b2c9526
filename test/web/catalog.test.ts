import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, type Person } from '../harness/app.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'
import { waitMs } from './stage.ts'

let t: TestWeb
let projectId: string
let editor: Person
beforeAll(async () => {
  t = await openTestWeb()
  projectId = await t.project('Catalog')
  editor = await t.member(projectId, 'editor')
})
afterAll(() => t.close())

test('an API of the catalog is found, asked for what it needs, and connected', async () => {
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('link', { name: 'Choose from the catalog' }).click()
  await page.getByRole('heading', { level: 1, name: 'Connect' }).waitFor()
  expect(
    await page
      .getByRole('listitem')
      .filter({ has: page.getByRole('link') })
      .count(),
  ).toBeGreaterThanOrEqual(40)
  await page.getByLabel(/^Search the catalog/).fill('no such API')
  await page.getByRole('link', { name: 'Connect it by its address' }).waitFor()
  await page.getByLabel(/^Search the catalog/).fill('pull requests commits')
  await page.getByRole('link', { name: /^GitHub/ }).click()

  await page.getByRole('heading', { level: 1, name: 'GitHub' }).waitFor()
  const connect = page.getByRole('button', { name: 'Connect', exact: true })
  expect(await connect.isDisabled()).toBe(true)
  await page.getByLabel('Owner').fill('octo-org')
  await page.getByLabel('Repository').fill('hello-world')
  await page.getByLabel('Token').fill('ghp-of-a-test')
  await connect.click()

  await page.getByRole('table', { name: 'Tables' }).getByRole('link', { name: 'github_issues' }).waitFor()
  // Nothing has loaded here, so there is nothing to ask yet.
  expect(await page.getByRole('button', { name: 'Add these queries' }).isDisabled()).toBe(true)
  const { body } = await expectStatus(200, editor.get(`/v1/projects/${projectId}/definition`))
  expect(body.apis).toMatchObject([{ name: 'github', config: { url: 'https://api.github.com' } }])
  expect(body.connections.map((each: { table_name: string }) => each.table_name)).toEqual([
    'github_commits',
    'github_issues',
    'github_pulls',
    'github_releases',
  ])
  expect(JSON.stringify(body)).not.toContain('ghp-of-a-test')
  expect(complaints).toEqual([])
})
