import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSource, type Source } from '../harness/source.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'
import { rail, waitMs } from './stage.ts'

const cities = ['Lund', 'Gent', 'Porto']
const stays = Array.from({ length: 300 }, (_, index) => ({
  id: index + 1,
  city: cities[index % 3],
  nights: 1 + (index % 7),
  guest: { name: `Guest ${index % 50}` },
}))

let t: TestWeb
let source: Source
beforeAll(async () => {
  source = await openSource()
  source.answer({ meta: { page: 1 }, result: { stays } })
  t = await openTestWeb({ SLUICE_OUTBOUND_ALLOW: source.host })
})
afterAll(async () => {
  await t.close()
  await source.close()
})

test('from the address of an API to a call that is seen in the metrics, in one go', { timeout: 180_000 }, async () => {
  const projectId = await t.project('Hostels')
  const owner = await t.member(projectId, 'owner')
  const { page, complaints } = await t.visitAs(owner, `/p/${projectId}`)
  page.setDefaultTimeout(waitMs)

  await page.getByRole('link', { name: 'Use your own' }).click()
  await page.getByLabel('Address').fill(source.url)
  await page.getByLabel('Name', { exact: true }).fill('Stays')
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByText('application/json').waitFor()
  await page.getByText('As a table: 300 rows, 4 columns').waitFor()
  await page.getByRole('button', { name: 'Fetch data' }).click()
  // Nobody works on it yet, so that it can be seen; then it is done before one's eyes.
  await page.getByText('Looking at the columns… waiting').waitFor()
  await page.getByRole('progressbar', { name: 'Progress', exact: true }).waitFor()
  await t.app.jobs.start()
  await page.getByRole('heading', { level: 1, name: 'stays' }).waitFor()

  await page.getByRole('link', { name: 'Query it' }).click()
  await page.getByRole('heading', { level: 1, name: 'New query' }).waitFor()
  await page.getByRole('textbox', { name: 'SQL' }).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('select city, sum(nights) as nights from stays where city = $city group by city')
  await page.getByRole('form', { name: 'Slots' }).getByLabel('city', { exact: false }).first().fill('Gent')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('grid', { name: 'Rows of the result' }).getByRole('gridcell', { name: 'Gent' }).waitFor()
  await page.getByRole('button', { name: 'Deploy…' }).click()
  await page.getByLabel('Name', { exact: true }).fill('nights_in_city')
  await page.getByRole('button', { name: 'Create query' }).click()
  await page.getByRole('button', { name: 'Deploy version 1' }).click()
  await page.getByText('Live: v1 in production').waitFor()

  await page.getByRole('link', { name: 'Deploy', exact: true }).click()
  await rail(page, 'Keys').click()
  await page.getByRole('button', { name: 'New API key' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('front desk')
  await page.getByRole('button', { name: 'Create key' }).click()
  const secret = await page.getByRole('dialog').getByLabel('API key', { exact: true }).inputValue()
  await page.getByRole('button', { name: 'I have stored it' }).click()

  await rail(page, 'Endpoints').click()
  await page.getByRole('link', { name: 'nights_in_city' }).click()
  await page.getByText('With a key', { exact: true }).click()
  await page.getByLabel('API key', { exact: true }).fill(secret)
  await page.getByRole('textbox', { name: 'city' }).fill('Porto')
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByRole('grid', { name: 'Rows of the answer' }).getByRole('gridcell', { name: 'Porto' }).waitFor()

  await rail(page, 'Usage').click()
  const popular = page.getByRole('region', { name: 'Popular queries' })
  await popular.getByRole('row').filter({ hasText: 'nights_in_city' }).waitFor()
  await rail(page, 'Endpoints').click()
  await page.getByRole('link', { name: '1 call in a week' }).waitFor()
  expect(complaints).toEqual([])
})
