import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Person } from '../harness/app.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'
import { blocksOf } from '../docs/blocks.ts'

let t: TestWeb
let owner: Person
let projectId: string
beforeAll(async () => {
  t = await openTestWeb()
  projectId = await t.project('Corner shop')
  owner = await t.member(projectId, 'owner')
})
afterAll(() => t.close())

/** How far below the top of the window it stands. */
async function topOf(place: Locator): Promise<number> {
  return (await place.boundingBox())?.y ?? Infinity
}

const quickStart = readFileSync(join(import.meta.dirname, '../../docs/quick-start.md'), 'utf8')

test('who is not signed in reads the guides, goes from one to the next, and may sign in from there', async () => {
  const { page, complaints } = await t.visit('/docs')
  await page.getByRole('heading', { level: 1, name: 'Guides' }).waitFor()
  await page.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name: 'Quick start' }).click()
  await page.getByRole('heading', { level: 1, name: 'Quick start' }).waitFor()
  // A link within the text changes the page without loading the app anew.
  await page.evaluate('window.stays = true')
  await page.getByRole('article').getByRole('link', { name: 'Queries as tools' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'Queries as tools' }).waitFor()
  expect(await page.evaluate('window.stays')).toBe(true)
  expect(await page.evaluate('scrollY')).toBe(0)
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
  expect(new URL(page.url()).searchParams.get('next')).toBe('/docs/mcp')
  expect(complaints).toEqual([])
})

test('an address with an anchor shows that heading, also from another guide', async () => {
  const { page } = await t.visit('/docs/troubleshooting#rate_limit_exceeded')
  const heading = page.getByRole('heading', { name: 'rate_limit_exceeded' })
  await expect.poll(() => topOf(heading)).toBeLessThan(200)
  await page.getByRole('article').getByRole('link', { name: 'How often' }).click()
  const target = page.getByRole('heading', { level: 2, name: 'Rate limits and quotas' })
  await target.waitFor()
  await expect.poll(() => topOf(target)).toBeLessThan(200)
})

test('code is copied as it is written, with the address of this service', async () => {
  const { page } = await t.visit('/docs/quick-start')
  const { origin, port } = new URL(page.url())
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const shown = blocksOf('docs/quick-start.md', quickStart).find(({ text }) => text.includes('export SLUICE_URL'))
  const place = page.getByLabel(/^Code/).filter({ hasText: 'export SLUICE_URL' }).locator('..')
  await place.getByRole('button', { name: /^Copy code \d+$/ }).click()
  await place.getByRole('button', { name: 'Copied' }).waitFor()
  expect(`${String(await page.evaluate('navigator.clipboard.readText()'))}\n`).toBe(
    shown?.text.replaceAll('http://127.0.0.1:4400', origin),
  )
  await page.getByRole('article').getByText(`http://sample.localhost:${port}/sample/products`).first().waitFor()
  expect(await page.getByRole('article').textContent()).not.toContain('4400')
})

test('a search looks into every guide without asking the server, and forgives a typing error', async () => {
  const { page, complaints } = await t.visit('/docs')
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const field = page.getByLabel('Search the guides')
  const found = page.getByRole('list', { name: 'Found in the guides' }).getByRole('link')
  await field.fill('rotat secret')
  await found.filter({ hasText: 'Keys and limits: Rotate, disable and revoke' }).waitFor()
  await field.fill('canry')
  await found.filter({ hasText: 'Release safely' }).first().waitFor()
  expect(asked.filter((path) => !path.startsWith('/assets/'))).toEqual([])
  await field.fill('qwertzuiop')
  await page.getByText('Nothing found for').waitFor()
  await field.fill('backup restore')
  await found.filter({ hasText: 'Operate it: Backup and restore' }).click()
  await page.getByRole('heading', { level: 1, name: 'Operate it' }).waitFor()
  expect(new URL(page.url()).hash).toBe('#backup-and-restore')
  expect(complaints).toEqual([])
})

test('on a narrow screen the list of guides is folded, and folds again once one is chosen', async () => {
  const { page } = await t.visit('/docs/glossary')
  await page.setViewportSize({ width: 390, height: 844 })
  const list = page.getByRole('navigation', { name: 'Guides' })
  await expect.poll(() => list.isVisible()).toBe(false)
  await page.getByText('All guides').click()
  await list.getByRole('link', { name: 'Configuration' }).click()
  await page.getByRole('heading', { level: 1, name: 'Configuration' }).waitFor()
  await expect.poll(() => list.isVisible()).toBe(false)
})

test('who is signed in keeps the app around the guides; an error and an empty list lead to theirs', async () => {
  const { page, complaints } = await t.visitAs(owner, `/p/${projectId}/deploy/keys`)
  await page.getByRole('link', { name: 'How it works' }).click()
  await page.getByRole('heading', { level: 1, name: 'Keys and limits' }).waitFor()
  await page.getByRole('button', { name: 'Your account' }).waitFor()
  await page.goto(`/p/${projectId}/settings/environments`)
  await page.getByRole('button', { name: 'Add environment' }).first().click()
  await page.getByLabel('Name').fill('production')
  await page.keyboard.press('Enter')
  const advice = page.getByRole('alert').getByRole('link', { name: 'What to do about it' })
  const [opened] = await Promise.all([page.context().waitForEvent('page'), advice.click()])
  await opened.getByRole('heading', { level: 2, name: 'conflict' }).waitFor()
  expect(new URL(opened.url()).hash).toBe('#conflict')
  expect(complaints.filter((complaint) => !complaint.includes('409'))).toEqual([])
})
