import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, operatorToken } from '../harness/app.ts'
import { openStage, waitMs, type Stage } from './stage.ts'

/** What is small by itself and spoils a page. */
let stage: Stage
beforeAll(async () => {
  stage = await openStage({})
  const long = 'x'.repeat(3000)
  const rows = Array.from({ length: 12_000 }, (_, id) => ({ id, note: id === 0 ? long : `${long}${id}`.slice(-400) }))
  const path = `/v1/projects/${stage.projectId}/datasources`
  const table = await expectStatus(201, stage.operator.post(path, { name: 'Letters', kind: 'file' }))
  const sent = await fetch(`${stage.origin}${path}/${table.body.id}/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(rows),
  })
  if (sent.status !== 201) throw new Error(await sent.text())
  await stage.app.jobs.start()
})
afterAll(() => stage.close())

const build = (page: string): string => `/p/${stage.projectId}/build/${page}`
const holds = '(each) => each.scrollWidth <= each.clientWidth'
const cardsHold = `[...document.querySelectorAll('[aria-label="Columns"] > li')].every(${holds})`
const numbersHold = `[...document.querySelectorAll('[role="rowheader"]')].every(${holds})`
const scrollDown = `document.querySelector('[role=grid][aria-label="Rows of letters"]').scrollTo(0, 10_000_000)`
const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

test('a page with long words does not scroll sideways, and the numbers of rows are whole', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, build('data/letters'))
  page.setDefaultTimeout(waitMs)
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    await page.getByRole('list', { name: 'Columns' }).getByText('note', { exact: true }).waitFor()
    expect(await page.evaluate(sideways), `at ${width}`).toBe(0)
    const inside = await page.evaluate(cardsHold)
    expect(inside).toBe(true)
  }
  await page.getByRole('tab', { name: 'Rows' }).click()
  const grid = page.getByRole('grid', { name: 'Rows of letters' })
  await grid.waitFor()
  await page.evaluate(scrollDown)
  const last = grid.getByRole('rowheader', { name: '12,000' })
  await last.waitFor()
  expect(await page.evaluate(numbersHold)).toBe(true)
  expect(complaints).toEqual([])
})

test('a slot that the SQL names is not said to be missing while the SQL has a mistake', async () => {
  const sql = 'select regio from orders where region = $region'
  const { page } = await stage.visitAs(stage.owner, build('queries/all_orders'))
  page.setDefaultTimeout(waitMs)
  await page.locator('.cm-content').click()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(sql)
  const slots = page.getByRole('form', { name: 'Slots' })
  await slots.getByText('$region').waitFor()
  await slots.getByText('Fix the SQL to fill in its slot.').waitFor()
  expect(await slots.getByText('No slots').count()).toBe(0)
})

test('for how long answers are kept is set where the query is written, and said on its endpoint', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, build('queries/sales_by_region'))
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByRole('combobox', { name: 'Cache' }).click()
  await page.getByRole('option', { name: '5 minutes' }).click()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText('The draft is saved.').waitFor()
  const saved = await expectStatus(200, stage.owner.get(`${stage.path}/sales_by_region`))
  expect(saved.body.cache_seconds).toBe(300)

  // A query and its endpoint are one page, in either tab.
  await page.getByRole('button', { name: 'Deploy…' }).click()
  await page.getByRole('button', { name: 'Deploy version 1' }).click()
  await page.getByText('Version 1 of sales_by_region now answers in production.').waitFor()
  await page.getByRole('link', { name: 'Open the endpoint' }).click()
  await page.getByRole('heading', { level: 1, name: 'sales_by_region' }).waitFor()
  await page.getByText('For up to 300 s, until the data changes').waitFor()
  const sql = page.getByRole('region', { name: 'SQL of sales_by_region' })
  await sql.getByText('$region').waitFor()
  expect(await sql.locator('span').count()).toBeGreaterThan(5)
  await page.getByRole('link', { name: 'orders', exact: true }).waitFor()
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.waitForURL('**/deploy/endpoints/sales_by_region/edit')
  await page.getByRole('textbox', { name: 'SQL' }).waitFor()
  await page.goto(build('queries'))
  await page.getByRole('link', { name: 'production v1, the endpoint' }).click()
  await page.waitForURL(`**${build('queries/sales_by_region/try')}`)
  await page.getByText('Live: v1 in production').waitFor()
  expect(complaints).toEqual([])
})

test('a table says which queries use it, and how much', async () => {
  await stage.deploy('sales_by_region')
  await stage.callWith(await stage.key('reader', { plan: 'unlimited' }), 'sales_by_region')
  const { page, complaints } = await stage.visitAs(stage.owner, build('data/orders'))
  page.setDefaultTimeout(waitMs)
  await page.getByText(/^Used by sales_by_region \(1 call in a day\)$/).waitFor()
  await page.getByRole('main').getByRole('link', { name: 'sales_by_region', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'sales_by_region' }).waitFor()
  expect(complaints).toEqual([])
})

test('an address that nothing is at shows a page to people and an error to programs', async () => {
  const { page } = await stage.visitAs(stage.owner, '/nowhere/at-all')
  await page.getByRole('heading', { level: 1, name: 'There is nothing here' }).waitFor()
  const asked = await page.context().request.get('/nowhere/at-all', { headers: { accept: 'text/html' } })
  expect(asked.status()).toBe(404)
  const program = await page.context().request.get('/nowhere/at-all', { headers: { accept: 'application/json' } })
  expect(program.status()).toBe(404)
  expect(await program.json()).toMatchObject({ error: 'not_found' })
  const api = await page.context().request.get('/v1/nowhere', { headers: { accept: 'text/html' } })
  expect(await api.json()).toMatchObject({ error: 'not_found' })
})

test('every tab has the same frame', async () => {
  const { page } = await stage.visitAs(stage.owner, build('queries'))
  await page.setViewportSize({ width: 1440, height: 900 })
  const widthOf = async (path: string): Promise<number> => {
    await page.goto(`/p/${stage.projectId}/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    const box = await page.getByRole('heading', { level: 1 }).locator('xpath=../../..').boundingBox()
    return Math.round(box?.width ?? 0)
  }
  const widths = [await widthOf('build/queries'), await widthOf('deploy/endpoints'), await widthOf('settings/members')]
  expect(new Set(widths).size).toBe(1)
})
