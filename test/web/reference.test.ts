import { afterAll, beforeAll, expect, test } from 'vitest'
import { findBarriers } from './barriers.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage({})
  await stage.deploy('sales_by_region', 'all_orders')
})
afterAll(() => stage.close())

test('who has a key for everything reads what is deployed as its callers see it, and calls it', async () => {
  const permissions = [{ project_id: stage.projectId, environments: '*' }]
  const { page, complaints } = await stage.visit(`/reference/${stage.projectId}`)
  await page.getByLabel('API key').fill(await stage.key('All', { permissions }))
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByText('/v1/queries/sales_by_region').click()
  const slots = page.getByRole('region', { name: 'Slots of sales_by_region' })
  await slots.getByRole('row').filter({ hasText: 'region' }).filter({ hasText: 'required' }).waitFor()
  await page.getByRole('region', { name: 'Columns of sales_by_region' }).getByText('revenue').waitFor()
  await page.getByText('how much did we sell in the south').first().waitFor()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByRole('columnheader', { name: 'revenue' }).waitFor()
  expect(await findBarriers(page, 'reference')).toEqual([])
  expect(complaints).toEqual([])
})

test('who has a key and no account is shown by the link what it reaches, and calls it with that key', async () => {
  const permissions = [{ project_id: stage.projectId, environments: ['production'], queries: ['sales_by_region'] }]
  const key = await stage.key('Partner', { permissions })
  const { page, complaints } = await stage.visit(`/reference/${stage.projectId}`)
  const field = page.getByLabel('API key')
  await field.fill('slc_live_wrong')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByRole('alert').waitFor()
  complaints.splice(0)
  await field.fill(key)
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Corner shop, production' }).waitFor()
  await page.getByText('/v1/queries/sales_by_region').click()
  expect(await page.getByText('/v1/queries/all_orders').count()).toBe(0)
  await page.getByRole('textbox', { name: 'region' }).fill('south')
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByRole('columnheader', { name: 'revenue' }).waitFor()
  // A snippet is passed on: the key is read from the environment.
  expect(await page.getByRole('region', { name: 'Snippet' }).innerText()).toContain('$SLUICE_API_KEY')
  expect(await page.getByRole('region', { name: 'Snippet' }).innerText()).not.toContain(key)
  expect(await findBarriers(page, 'reference-shared')).toEqual([])
  expect(complaints).toEqual([])
})

test('without a key nothing of the project is told', async () => {
  const { page } = await stage.visit(`/reference/${stage.projectId}`)
  await page.getByRole('heading', { level: 1, name: 'Reference' }).waitFor()
  expect(await page.getByText('Corner shop').count()).toBe(0)
  const answer = await stage.anonymous.get(`/v1/projects/${stage.projectId}/openapi.json`)
  expect(answer.status).toBe(401)
})

test('an owner shares it by a link: read without a key, called with one, and gone when it is ended', async () => {
  const owner = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/reference`)
  await owner.page.getByRole('button', { name: 'Share by link' }).click()
  const link = await owner.page.getByRole('textbox', { name: 'Link to the reference' }).inputValue()
  expect(await findBarriers(owner.page, 'reference-link')).toEqual([])
  const { page, complaints } = await stage.visit('/')
  await page.goto(link)
  await page.getByRole('heading', { level: 1, name: 'Corner shop, production' }).waitFor()
  await page.getByText('/v1/queries/sales_by_region').click()
  await page.getByRole('region', { name: 'Slots of sales_by_region' }).getByText('region', { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Call', exact: true }).count()).toBe(0)
  await page.getByText('Enter an API key above to call it here.').waitFor()
  const permissions = [{ project_id: stage.projectId, environments: ['production'] }]
  await page.getByLabel('API key').fill(await stage.key('Reader', { permissions }))
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByRole('textbox', { name: 'region' }).fill('south')
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByRole('columnheader', { name: 'revenue' }).waitFor()
  expect(complaints).toEqual([])
  await owner.page.getByRole('button', { name: 'I have stored it' }).click()
  await owner.page.getByRole('button', { name: 'Stop sharing' }).click()
  const asking = owner.page.getByRole('dialog', { name: 'Stop sharing the reference' })
  await asking.getByRole('button', { name: 'Stop sharing' }).click()
  await owner.page.getByText('Private: readers need an API key.').waitFor()
  await page.reload()
  await page.getByRole('alert').getByText('leads nowhere').waitFor()
})
