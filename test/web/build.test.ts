import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, type Person } from '../harness/app.ts'
import { openSource, type Source } from '../harness/source.ts'
import { openTestWeb, type TestWeb, type Visitor } from '../harness/web.ts'
import { latestOrders, shopOrders } from './shop.ts'
import { waitMs } from './stage.ts'
import { moveTo } from './navigate.ts'

let t: TestWeb
let source: Source
let projectId: string
let editor: Person
let viewer: Person
/** Signed in once: signing in is slow on purpose. */
let desk: Visitor

beforeAll(async () => {
  source = await openSource()
  source.answer({ meta: { page: 1 }, data: { items: shopOrders, total: shopOrders.length } })
  t = await openTestWeb({ SLUICE_OUTBOUND_ALLOW: source.host })
  await t.app.jobs.start()
  projectId = await t.project('Corner shop')
  editor = await t.member(projectId, 'editor')
  viewer = await t.member(projectId, 'viewer')
  desk = await t.visitAs(editor, `/p/${projectId}`)
  desk.page.setDefaultTimeout(waitMs)
})
afterAll(async () => {
  await t.close()
  await source.close()
})

const at = (path: string): string => `/p/${projectId}/build/${path}`
const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

async function lineagePath(): Promise<string> {
  const { body } = await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/data-objects`))
  return `/v1/projects/${projectId}/data-objects/${body.data[0].id}/lineage`
}

async function typeSql(page: Page, sql: string): Promise<void> {
  await page.getByRole('textbox', { name: 'SQL' }).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(sql)
}

test('from an address to a deployed query, step by step', { timeout: 120_000 }, async () => {
  const { page, complaints } = desk
  await heading(page, 'Home')
  await page.getByRole('list', { name: 'Steps to a first answer' }).getByText('Bring data in').waitFor()
  await page.getByRole('link', { name: 'Use your own' }).click()

  await page.getByRole('button', { name: 'More for the connection' }).click()
  await page.getByRole('menuitem', { name: 'Paste curl or OpenAPI…' }).click()
  await page
    .getByRole('textbox', { name: 'curl command' })
    .fill(`curl '${source.url}?since=2026-01-01' -H 'X-Team: shop'`)
  // Filled and tested, with its rows in use.
  await page.getByRole('button', { name: 'Fill the form' }).click()
  await expect.poll(() => page.getByLabel('Address').inputValue()).toContain(source.host)
  await page.getByLabel('Name', { exact: true }).fill('Orders')

  await page.getByText('application/json').waitFor()
  const rows = page.getByRole('button', { name: /^items .* the rows/ })
  await page.getByRole('button', { name: 'Open data' }).click()
  await rows.waitFor()
  await page.getByRole('button', { name: 'Close data' }).click()
  await rows.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Open data' }).click()
  await rows.waitFor()
  await page.getByText('As a table: 1,200 rows, 6 columns').waitFor()
  await page.getByRole('tab', { name: 'Rows and pages' }).click()
  expect(await page.getByLabel('Rows are at').inputValue()).toBe('data.items')

  await page.getByRole('button', { name: 'Fetch data' }).click()
  await heading(page, 'orders')
  expect(new URL(page.url()).pathname).toBe(at('data/orders/columns'))
  await page.getByRole('list', { name: 'Commonest values of region' }).getByText('north').waitFor()
  expect(source.requests.at(-1)?.headers['x-team']).toBe('shop')
  await page.getByRole('img', { name: /^How total is spread: 20 to \d/ }).waitFor()
  await page.getByRole('list', { name: 'Columns' }).getByText('20 % missing (240)').waitFor()

  await page.getByRole('tab', { name: 'Rows' }).click()
  const grid = page.getByRole('grid', { name: 'Rows of orders' })
  await grid.getByText('order 1', { exact: true }).waitFor()
  await page.getByRole('grid', { name: 'Rows of orders' }).press('Control+End')
  await grid.getByText('order 1199').waitFor()
  expect(await grid.getByRole('row').count()).toBeLessThan(80)

  await page.getByRole('link', { name: 'Query it' }).click()
  await heading(page, 'New query')
  await typeSql(page, 'select regio from orders')
  await page.locator('.cm-lintRange-error').waitFor()
  expect(await page.locator('.cm-lintRange-error').textContent()).toBe('regio')
  await page.getByText('No column regio. Did you mean region?').first().waitFor()

  await typeSql(page, 'select region, sum(total) as revenue from orders where region = $region group by region')
  const slot = page.getByRole('form', { name: 'Slots' }).getByLabel('region', { exact: false }).first()
  await slot.fill('north')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+Enter')
  const result = page.getByRole('grid', { name: 'Rows of the result' })
  await result.getByRole('gridcell', { name: 'north' }).waitFor()
  // Few values in the column: they are offered, to callers and to questions.
  await page.getByRole('button', { name: 'Offer these values of orders.region for region' }).click()
  await slot.fill('')
  await slot.click()
  await page.getByRole('option', { name: 'west' }).click()
  await page.getByRole('button', { name: 'Save…' }).click()
  await page.getByLabel('Name', { exact: true }).fill('sales_by_region')
  await page.getByRole('button', { name: 'Create query' }).click()
  await heading(page, 'sales_by_region')
  await slot.fill('north')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+Enter')
  await result.getByRole('gridcell', { name: 'north' }).waitFor()
  await page.getByRole('tab', { name: 'Plan' }).click()
  await page.getByRole('list', { name: 'Steps' }).getByText('Read orders').waitFor()
  await page.getByText('As the engine draws it').click()
  await page.getByRole('region', { name: 'Plan' }).waitFor()

  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByLabel('Description').fill('Revenue of one region.')
  await page.getByRole('button', { name: 'Example questions' }).click()
  await page.getByLabel('Another question').fill('revenue in the north')
  // The Run form says north, too; what is added is what was read, or typed, for this question.
  await slot.fill('west')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Add as an example…' }).click()
  const added = page.getByRole('region', { name: 'New example' })
  await added.getByLabel('region').fill('')
  expect(await added.getByRole('button', { name: 'Add this example' }).isDisabled()).toBe(true)
  await added.getByText('region needs a value.').waitFor()
  await added.getByLabel('region').fill('south')
  await page.keyboard.press('Escape')
  await added.getByRole('button', { name: 'Add this example' }).click()
  await added.waitFor({ state: 'detached' })
  // The values of an example can be put right later.
  await page.getByRole('button', { name: 'Edit values of question 1' }).click()
  await page
    .getByRole('textbox', { name: 'Question 1' })
    .locator('xpath=../../../..')
    .getByLabel('region')
    .fill('north')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText('The draft is saved.').waitFor()
  const saved = await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/queries/sales_by_region`))
  expect(saved.body.examples).toEqual([{ question: 'revenue in the north', parameters: { region: 'north' } }])

  await page.getByLabel('Another question').fill('revenue in the south')
  await page.getByRole('button', { name: 'Ask it' }).click()
  await page.getByText('Nearest in sales_by_region: “revenue in the north”').waitFor()

  await page.getByRole('button', { name: 'Deploy…' }).click()
  const sheet = page.getByRole('dialog', { name: 'Deploy sales_by_region to production' })
  await sheet.getByText('no caller is affected').waitFor()
  await sheet.getByRole('button', { name: 'Deploy version 1' }).click()
  await page.getByText('Version 1 of sales_by_region now answers in production.').waitFor()
  await page.getByText('Live: v1 in production, 0 calls today').waitFor()

  // The copy that is served is made after the load has ended.
  const nodesOf = async (): Promise<number> => (await t.operator.get(await lineagePath())).body.nodes.length
  await expect.poll(nodesOf, { timeout: waitMs }).toBe(5)
  await moveTo(page, at('data/orders/lineage'))
  await page.getByRole('tab', { name: 'Columns', selected: true }).waitFor()
  await page.getByRole('link', { name: 'See it in the map' }).click()
  await page.getByRole('complementary', { name: 'Table orders' }).getByText('1 endpoint of 1 query').waitFor()
  expect(complaints.splice(0)).toEqual([])
})

test('a change that breaks callers says so and asks twice', async () => {
  const { page } = desk
  await moveTo(page, at('queries/sales_by_region'))
  await heading(page, 'sales_by_region')
  await typeSql(page, 'select region, count(*) as orders from orders where region = $region group by region')
  await page.getByText('gives region, orders').waitFor()
  await page.getByRole('button', { name: 'Deploy…' }).click()
  await page.getByText('Existing callers would break.').waitFor()
  await page.getByRole('region', { name: 'What changes' }).waitFor()
  const deploy = page.getByRole('button', { name: 'Deploy version 2' })
  expect(await deploy.isDisabled()).toBe(true)
  await page.getByLabel('The callers above know').check()
  // What was agreed to was for one environment.
  await page.getByRole('combobox', { name: 'Environment' }).click()
  await page.getByRole('option', { name: 'staging' }).click()
  await page.getByText('no caller is affected').waitFor()
  await page.getByRole('combobox', { name: 'Environment' }).click()
  await page.getByRole('option', { name: 'production' }).click()
  await page.getByText('Existing callers would break.').waitFor()
  expect(await deploy.isDisabled()).toBe(true)
  await page.getByLabel('The callers above know').check()
  await deploy.click()
  await page.getByText('Live: v2 in production').waitFor()
})

test('a refresh that loses a column waits, and names the queries that read it', async () => {
  const { page } = desk
  source.answer({ data: { items: latestOrders } })
  await moveTo(page, at('connections'))
  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await page.getByRole('button', { name: 'Fetch data' }).click()
  await heading(page, 'orders')
  const notice = page.getByRole('status').filter({ hasText: 'Version 2 waits, version 1 serves' })
  await notice.getByRole('link', { name: 'sales_by_region' }).waitFor()
  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await page.getByRole('tab', { name: 'History' }).click()
  await page.getByText('Version 2: 900 rows').waitFor()
  expect(await page.getByText('lost region').count()).toBeGreaterThan(0)
})

test('what cannot be reached is said in words, and the form keeps what was typed', async () => {
  const { page } = desk
  await moveTo(page, at('connections/new'))
  await page.getByLabel('Address').fill('http://10.1.2.3/private')
  await page.getByRole('button', { name: 'Test' }).click()
  // What was said of earlier acts stands beside the page for some seconds.
  await page.getByRole('main').getByRole('alert').waitFor()
  expect(await page.getByLabel('Address').inputValue()).toBe('http://10.1.2.3/private')
})

test('a viewer reads everything and is offered nothing that changes it', async () => {
  const { page } = await t.visitAs(viewer, at('connections'))
  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await heading(page, 'Orders')
  expect(await page.getByLabel('Address').isDisabled()).toBe(true)
  for (const name of ['Test', 'Fetch data', 'Save', 'More for']) {
    expect(await page.getByRole('button', { name }).count(), name).toBe(0)
  }
  await moveTo(page, at('queries/sales_by_region'))
  await heading(page, 'sales_by_region')
  for (const name of ['Save draft', 'Deploy…', 'Run', 'More for']) {
    expect(await page.getByRole('button', { name }).count(), name).toBe(0)
  }
})
