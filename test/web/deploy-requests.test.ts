import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { findBarriers } from './barriers.ts'
import { openStage, waitMs, type Stage } from './stage.ts'

let stage: Stage
let secret: string
beforeAll(async () => {
  stage = await openStage({})
  await stage.deploy('all_orders', 'sales_by_region')
  secret = await stage.key('Dashboard', { plan: 'unlimited' })
})
afterAll(() => stage.close())

const at = (page: string): string => `/p/${stage.projectId}/deploy/${page}`

test('a call tells all that is known of it, is tried again, found by its address and exported', async () => {
  const caller = stage.withToken(secret)
  const other = stage.withToken(await stage.key('Batch', { plan: 'unlimited' }))
  await caller.post('/v1/queries/sales_by_region', { region: 'north' })
  await caller.post('/v1/queries/sales_by_region', {})
  await other.post('/v1/queries/all_orders', {})
  const question = 'revenue in the south'
  const asked = await expectStatus(
    200,
    caller.post('/v1/query', { query: question, project_id: stage.projectId, parameters: { region: 'south' } }),
  )
  const id = String(asked.headers['x-request-id'])

  const { page, complaints } = await stage.visitAs(stage.owner, at(`requests?request=${id}`))
  page.setDefaultTimeout(waitMs)
  const drawer = page.getByRole('dialog', { name: 'Call' })
  await drawer.getByText(id).waitFor()
  await drawer.getByText(`“${question}”`).waitFor()
  await drawer.getByText(/^Answered by sales_by_region(, [\d.]+ % sure)?\.$/).waitFor()
  await drawer.getByRole('row', { name: 'region south' }).waitFor()
  await drawer.getByRole('list', { name: 'Where the time went' }).getByText('Running the SQL').waitFor()
  await drawer.getByRole('link', { name: 'Dashboard' }).waitFor()
  expect(await findBarriers(page, 'request-drawer', drawer.getByText(id))).toEqual([])

  // What is chosen is in the address, and holds for the list and what comes.
  await drawer.getByRole('button', { name: 'Its other calls' }).click()
  await drawer.waitFor({ state: 'detached' })
  const table = page.getByRole('region', { name: 'Requests' })
  await expect.poll(() => table.getByRole('row').count()).toBe(4)
  expect(await table.getByText('all_orders').count()).toBe(0)
  await page.getByRole('combobox', { name: 'Result' }).click()
  await page.getByRole('option', { name: 'Failed' }).click()
  await expect.poll(() => table.getByRole('row').count()).toBe(2)
  await page.waitForURL(/key=key_.*outcome=failed/)
  await page.reload()
  await expect.poll(() => table.getByRole('row').count()).toBe(2)
  await table.getByText('400 missing_slots').waitFor()

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  const csv = await readFile(await download.path(), 'utf8')
  expect(csv.split('\r\n')).toHaveLength(3)
  expect(csv).toMatch(/^id,at,environment,query.*\r\nreq_.*,sales_by_region,.*,400,.*missing_slots/)

  await page.getByRole('button', { name: 'All calls' }).click()
  await page.getByRole('combobox', { name: 'Call type' }).click()
  await page.getByRole('option', { name: 'By question' }).click()
  await table.getByRole('button', { name: `open call ${id.slice(-4)}` }).click()
  await drawer.getByRole('link', { name: 'Open in Ask' }).click()
  expect(await page.getByRole('textbox', { name: 'Question' }).inputValue()).toBe(question)
  expect(complaints).toEqual([])
})

test('a key shows how much it is used, what it was refused, and a call that works with it', async () => {
  const limited = await stage.key('Night run', { rate_limit: { per_minute: 2, burst: 2 } })
  for (let count = 0; count < 6; count += 1) await stage.callWith(limited, 'sales_by_region')
  const { page, complaints } = await stage.visitAs(stage.owner, at('keys'))
  page.setDefaultTimeout(waitMs)
  const list = page.getByRole('table', { name: 'API keys' })
  await list.getByRole('row').filter({ hasText: 'Night run' }).getByText('2 calls, 4 rejected').waitFor()
  await page.getByRole('textbox', { name: 'Find a key' }).fill('night')
  await expect.poll(() => list.locator('tbody').getByRole('row').count()).toBe(1)
  await list.getByRole('link', { name: 'Night run' }).click()
  await page.getByRole('heading', { level: 1, name: 'Night run' }).waitFor()
  const tiles = page.getByRole('main').locator('dl').nth(1)
  await expect.poll(() => tiles.textContent()).toMatch(/^Calls24 rejected/)
  await page.getByRole('region', { name: 'Popular queries' }).getByRole('link', { name: 'sales_by_region' }).waitFor()
  await page
    .getByRole('region', { name: 'What went wrong' })
    .getByRole('row', { name: /429 rate_limit_exceeded 4/ })
    .waitFor()
  await page.getByRole('region', { name: 'Snippet' }).getByText('/v1/queries/all_orders').waitFor()
  expect(await findBarriers(page, 'key-usage', page.getByText('Usage in Corner shop'))).toEqual([])
  await page.getByRole('link', { name: 'Its calls, one by one' }).click()
  await expect.poll(() => page.getByRole('region', { name: 'Requests' }).getByRole('row').count()).toBe(7)

  // The keys whose calls were rejected are named where they are counted.
  await page.goto(at('metrics'))
  const row = page.getByRole('region', { name: 'Keys' }).getByRole('row').filter({ hasText: 'Night run' })
  await expect.poll(() => row.textContent()).toMatch(/^Night run20 %4\d/)
  expect(complaints).toEqual([])
})
