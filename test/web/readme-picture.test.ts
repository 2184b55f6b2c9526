import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { exampleModel } from '../../server/example/models.ts'
import { exampleQueries } from '../../server/example/queries.ts'
import { ordersUntil, products, shops } from '../../server/example/sample.ts'
import { expectStatus, type Person } from '../harness/app.ts'
import { putTable } from '../harness/tables.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'
import { waitMs } from './stage.ts'

/** The picture of the README, and the page that it shows: what stands on it, and how it looks. */
const picture = join(import.meta.dirname, '../../docs/images/question.png')
const stamp = join(import.meta.dirname, '../../docs/images/question.txt')
/** Orders of the example end with this day, so that the figures stay. */
const lastDay = new Date('2026-06-30')

let t: TestWeb
let owner: Person
let projectId: string
beforeAll(async () => {
  t = await openTestWeb()
  projectId = await t.project('Example shop')
  owner = await t.member(projectId, 'owner')
  await owner.patch('/v1/session/user', { name: 'Ada Lindqvist' })
  for (const [name, rows] of Object.entries({ shops, products, orders: ordersUntil(lastDay) }))
    await putTable(t.app, projectId, { name, rows })
  await t.app.jobs.start()
  const models = `/v1/projects/${projectId}/models`
  await expectStatus(201, owner.post(models, { name: exampleModel.name, sql: exampleModel.sql }))
  const isBuilt = async () => (await owner.get(`${models}/${exampleModel.name}`)).body.row_count !== null
  await vi.waitUntil(isBuilt, { timeout: 60_000, interval: 50 })
  for (const query of exampleQueries) {
    await expectStatus(201, owner.post(`/v1/projects/${projectId}/queries`, query))
    await expectStatus(200, owner.post(`/v1/projects/${projectId}/queries/${query.name}/deploy`, { force: true }))
  }
})
afterAll(() => t.close())

test('the picture of the README shows the page as it is: TEST_PICTURES=yes takes it anew', async () => {
  const { page, complaints } = await t.visitAs(owner, `/p/${projectId}/ask`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('textbox', { name: 'Question' }).fill('revenue by month in 2026')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByRole('button', { name: 'year: 2026. Change' }).waitFor()
  await page.getByText('revenue by month', { exact: true }).waitFor()
  await page.locator('[data-shape=bar]').nth(5).waitFor()
  await page.mouse.move(0, 0)
  await page.evaluate('document.activeElement?.blur(); document.fonts.ready.then(() => scrollTo(0, 0))')
  if (process.env['TEST_PICTURES'] === 'yes') {
    const bytes = await page.screenshot({ path: picture })
    writeFileSync(stamp, `picture ${hashOf(bytes)}\n${await describe(page)}\n`)
  }
  // A picture that somebody replaced by hand has another hash than the page it was taken of.
  const [head = '', ...described] = readFileSync(stamp, 'utf8').trimEnd().split('\n')
  expect(head).toBe(`picture ${hashOf(readFileSync(picture))}`)
  expect(await describe(page)).toBe(described.join('\n'))
  expect(complaints).toEqual([])
})

test('a page with another word, column or colour has another description', async () => {
  const { page } = await t.visitAs(owner, `/p/${projectId}/ask`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'Ask', exact: true }).waitFor()
  const changes = [
    `document.querySelector('h1').textContent += '!'`,
    `document.querySelector('main button').remove()`,
    `document.body.style.backgroundColor = 'rgb(1, 2, 3)'`,
  ]
  const seen = [await describe(page)]
  for (const change of changes) {
    await page.evaluate(change)
    seen.push(await describe(page))
  }
  expect(new Set(seen).size).toBe(seen.length)
})

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/**
 * Roles, names and texts of the page in their order, and the looks of its main parts. Ids, times and shares differ each
 * time or by the processor.
 */
async function describe(page: Page): Promise<string> {
  const looks = await page.evaluate(styles)
  const tree = await page.locator('body').ariaSnapshot()
  return `${String(looks)}\n${tree}`
    .replaceAll(/\bprj_\w+/g, 'prj_…')
    .replaceAll(/\breq_\w+/g, 'req_…')
    .replaceAll(/\b[\d.,]+ ms\b/g, '… ms')
    .replaceAll(/\b\d+ %/g, '… %')
    .replaceAll(/\b(?:\d+|an?|last|next) (?:seconds?|minutes?|hours?|days?) ago\b|\bnow\b|\bthis minute\b/g, '… ago')
    .replaceAll(/\d{1,2} \w{3} 20\d\d(?:, | at )\d\d:\d\d(?::\d\d)?/g, '…')
    .replaceAll(/(?:https?:\/\/)?(?:127\.0\.0\.1|localhost):\d+/g, 'http://…')
}

const styles = `['body', 'header', 'nav', 'main', 'main h1', 'main section', 'main textarea', 'main button']
  .map((selector) => {
    const element = document.querySelector(selector)
    if (element === null) return selector + ': none'
    const { backgroundColor, color, fontFamily, fontSize, borderRadius } = getComputedStyle(element)
    return selector + ': ' + [backgroundColor, color, fontFamily, fontSize, borderRadius].join('; ')
  })
  .join('\\n')`
