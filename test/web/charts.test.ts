import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { findBarriers } from './barriers.ts'
import { openStage, waitMs, type Stage } from './stage.ts'

/** A result is drawn where it is written, where it is tried, and where a question is answered. */
let stage: Stage
let page: Page
let complaints: string[]
const sql =
  'select day, region, sum(amount) as revenue, count(*) as orders from orders group by all order by day, region'

beforeAll(async () => {
  stage = await openStage({})
  const query = {
    name: 'revenue_by_day',
    sql,
    description: 'Revenue of each day and region.',
    examples: [{ question: 'revenue of each day and region', parameters: {} }],
  }
  await expectStatus(201, stage.owner.post(stage.path, query))
  ;({ page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/queries/revenue_by_day`))
  page.setDefaultTimeout(waitMs)
}, 120_000)
afterAll(() => stage.close())

const choices = () => page.getByRole('group', { name: 'Chart' })
const choose = async (label: string, option: string): Promise<void> => {
  await choices().getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}
const drawn = (shape: string) => page.locator(`figure svg ${shape}`)

test('a result is drawn by what its columns are, changed by hand, and kept with the query', async () => {
  await page.getByRole('form', { name: 'Slots' }).getByRole('button', { name: 'Run' }).click()
  await page.getByRole('tab', { name: 'Chart' }).click()
  // Days repeat for each region: a line for each of them.
  await page.getByText('revenue by day, one for each region').waitFor()
  await expect.poll(() => drawn('[data-shape=line]').count()).toBe(3)
  await page.getByText('Chosen by what the rows are.').waitFor()
  expect(await findBarriers(page, 'chart-lines', page.locator('figure'))).toEqual([])
  await page.setViewportSize({ width: 1440, height: 900 })
  await choose('Drawn as', 'Bars')
  await choose('Along', 'region')
  await expect.poll(() => drawn('[data-shape=bar]').count()).toBeGreaterThan(2)
  for (const [type, shape] of [
    ['Areas', '[data-shape=area]'],
    ['Points', '[data-shape=point]'],
    ['Shares', '[data-shape=part]'],
  ] as const) {
    await choose('Drawn as', type)
    await expect.poll(() => drawn(shape).count()).toBeGreaterThan(0)
  }
  expect(await findBarriers(page, 'chart-shares', page.locator('figure'))).toEqual([])
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText('The draft is saved.').waitFor()
  const saved = await expectStatus(200, stage.owner.get(`${stage.path}/revenue_by_day`))
  expect(saved.body.chart).toMatchObject({ type: 'pie', x: 'region', y: ['revenue'] })
  await page.getByRole('button', { name: 'Choose for me' }).click()
  await page.getByText('revenue by day, one for each region').waitFor()
  await page.getByRole('button', { name: 'Discard changes' }).click()
  await page.getByText('Sum of revenue by region').waitFor()
  expect(complaints).toEqual([])
})

test('what is deployed is drawn as its author set it: on the endpoint, and in the answer to a question', async () => {
  await stage.deploy('revenue_by_day')
  await page.goto(`/p/${stage.projectId}/deploy/endpoints/revenue_by_day/try`)
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByText('As its author set it.').waitFor()
  await expect.poll(() => drawn('[data-shape=part]').count()).toBe(3)
  await choose('Drawn as', 'Bars')
  await page.getByText('For this look only.').waitFor()
  await page.getByText('Table', { exact: true }).click()
  await page.getByRole('grid', { name: 'Rows of the answer' }).getByText('north').first().waitFor()

  await page.goto(`/p/${stage.projectId}/ask`)
  await page.getByRole('textbox', { name: 'Question' }).fill('revenue of each day and region')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await expect.poll(() => drawn('[data-shape=part]').count(), { timeout: waitMs }).toBe(3)
  const coming = page.waitForEvent('download')
  await page.getByText('Table', { exact: true }).click()
  await page.getByRole('button', { name: 'Download', exact: true }).click()
  await page.getByRole('dialog', { name: 'Download' }).getByRole('button', { name: 'Parquet' }).click()
  expect((await coming).suggestedFilename()).toBe('revenue_by_day.parquet')
  expect(complaints).toEqual([])
})
