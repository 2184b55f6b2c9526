import { afterAll, beforeAll, expect, test } from 'vitest'
import { orders, putTable } from '../harness/tables.ts'
import { longestBlock } from '../web/responsiveness.ts'
import { openStage, waitMs, type Stage } from '../web/stage.ts'

const rows = 100_000
/** A page that stands still for longer than this feels stuck. */
const mostBlockMs = 500

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  await putTable(stage.app, stage.projectId, { name: 'orders', rows: orders(rows) })
  await stage.deploy('all_orders')
}, 120_000)
afterAll(() => stage.close())

test('an answer of 100,000 rows scrolls from end to end without freezing the page', { timeout: 120_000 }, async () => {
  const secret = await stage.key('bulk', { plan: 'unlimited' })
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/try?query=all_orders`)
  page.setDefaultTimeout(waitMs)
  await page.getByText('With a key', { exact: true }).click()
  await page.getByLabel('API key', { exact: true }).fill(secret)
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByText('100,000 rows').waitFor({ timeout: 60_000 })
  const grid = page.getByRole('grid', { name: 'Rows of the answer' })
  const scrolled = await longestBlock(page, async () => {
    await grid.hover()
    for (let turn = 0; turn < 40; turn += 1) await page.mouse.wheel(0, 4_000)
    await grid.press('Control+End')
    await grid.getByRole('gridcell', { name: '100000', exact: true }).waitFor()
    await grid.press('PageUp')
    await grid.press('Control+Home')
    await grid.getByRole('gridcell', { name: '1', exact: true }).waitFor()
  })
  process.stdout.write(
    `100,000 rows of an answer: the page stood still for ${Math.round(scrolled)} ms at most while scrolling\n`,
  )
  expect(scrolled).toBeLessThan(mostBlockMs)
  expect(await grid.getByRole('row').count()).toBeLessThan(80)

  const firstRow = grid.locator('[role=row][aria-rowindex="2"]')
  const looked = await longestBlock(page, async () => {
    await grid.getByRole('button', { name: 'amount', exact: true }).click()
    await grid.getByRole('button', { name: 'amount', exact: true }).click()
    await firstRow.getByRole('gridcell', { name: '100000', exact: true }).waitFor()
    await page.getByRole('searchbox', { name: 'Search in Rows of the answer' }).fill('south')
    await page.getByText('33,333 of 100,000 rows').waitFor()
    await firstRow.getByRole('gridcell', { name: '99998', exact: true }).waitFor()
  })
  process.stdout.write(
    `100,000 rows of an answer: the page stood still for ${Math.round(looked)} ms at most while sorting and searching\n`,
  )
  expect(looked).toBeLessThan(mostBlockMs)
  expect(await grid.getByRole('row').count()).toBeLessThan(80)
  expect(complaints).toEqual([])
})

test('a table of 100,000 rows is fetched where one looks, and no further', { timeout: 120_000 }, async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/data/orders/rows`)
  page.setDefaultTimeout(waitMs)
  const grid = page.getByRole('grid', { name: 'Rows of orders' })
  await grid.getByRole('gridcell', { name: '2024-01-01' }).first().waitFor()
  const asked: string[] = []
  page.on('request', (request) => void (request.url().includes('/rows?') && asked.push(request.url())))
  const scrolled = await longestBlock(page, async () => {
    await grid.press('Control+End')
    await grid.getByRole('gridcell', { name: '100000', exact: true }).waitFor()
  })
  process.stdout.write(
    `100,000 rows of a table: the page stood still for ${Math.round(scrolled)} ms at most while scrolling\n`,
  )
  expect(scrolled).toBeLessThan(mostBlockMs)
  // Of 400 pages those in sight at the end, and the few that scrolling there passes by.
  expect(asked.length).toBeLessThan(20)
  expect(await grid.getByRole('row').count()).toBeLessThan(80)
  expect(complaints).toEqual([])
})
