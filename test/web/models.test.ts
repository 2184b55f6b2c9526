import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { openModelProject, type ModelProject } from '../harness/models.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'
import { findBarriers, takePicture } from './barriers.ts'
import { waitMs } from './stage.ts'

let t: TestWeb
let project: ModelProject
beforeAll(async () => {
  t = await openTestWeb()
  await t.app.jobs.start()
  project = await openModelProject(t)
  await project.load('orders', [
    { id: 1, country: 'DE', total: 10 },
    { id: 2, country: 'DE', total: 20 },
    { id: 3, country: 'FR', total: 5 },
  ])
})
afterAll(() => t.close())

const sql = 'select country, sum(total)::int as revenue from orders group by country'

test('a model is written, previewed, built, changed after a look at what that moves, and deleted', async () => {
  await project.settled()
  const owner = await t.member(project.projectId, 'owner')
  const { page, complaints } = await t.visitAs(owner, `/p/${project.projectId}/build/data`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('link', { name: 'New model' }).click()
  await page.getByRole('heading', { name: 'New model' }).waitFor()
  const editor = page.getByRole('textbox', { name: 'SQL' })
  await editor.fill(sql)
  await page.getByText('Reads orders').waitFor()
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByRole('region', { name: 'Preview' }).getByRole('gridcell', { name: 'FR' }).waitFor()
  await page.getByRole('button', { name: 'Create and build' }).click()
  await page.locator('input[aria-invalid=true]').waitFor()
  await page.getByLabel('Name').fill('revenue_by_country')
  await page.getByLabel('Description').fill('Revenue of each country')
  await page.getByRole('button', { name: 'Create and build' }).click()
  await page.getByRole('heading', { name: 'revenue_by_country' }).waitFor()
  await project.settled()
  expect(await project.rows('select * from revenue_by_country order by country')).toEqual([
    { country: 'DE', revenue: 30 },
    { country: 'FR', revenue: 5 },
  ])

  await page.reload()
  await page.getByText('Built from the newest data of its tables.').waitFor()
  await page.getByRole('list', { name: 'Built from' }).getByText('orders, version 1').waitFor()
  await editor.fill(sql.replace('group by', "where country <> 'FR' group by"))
  await page.getByRole('button', { name: 'Compare with what serves' }).click()
  await page.getByText('0 rows added, 1 removed, 0 changed, 1 equal.').waitFor()
  await takePicture(page, 'model-compared-light-1280')
  expect(await findBarriers(page, 'model')).toEqual([])
  await page.getByRole('button', { name: 'Save and build' }).click()
  await page.getByText('revenue_by_country is saved. Its build has begun.').waitFor()
  await project.settled()
  expect(await project.rows('select * from revenue_by_country')).toEqual([{ country: 'DE', revenue: 30 }])

  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByLabel('to confirm').fill('revenue_by_country')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete revenue_by_country' }).click()
  await page.getByText('revenue_by_country is deleted.').waitFor()
  await expectStatus(404, owner.get(`/v1/projects/${project.projectId}/models/revenue_by_country`))
  expect(complaints).toEqual([])
}, 180_000)

test('mistakes are told at the statement, and a viewer reads a model and changes nothing', async () => {
  await project.create('countries', 'select distinct country from orders')
  await project.settled()
  const viewer = await t.member(project.projectId, 'viewer')
  const seen = await t.visitAs(viewer, `/p/${project.projectId}/build/models/countries`)
  seen.page.setDefaultTimeout(waitMs)
  await seen.page.getByText('Built from the newest data of its tables.').waitFor()
  expect(await seen.page.getByRole('button', { name: /Save|Rebuild|Delete|Preview/ }).count()).toBe(0)
  expect(seen.complaints).toEqual([])

  const editor = await t.member(project.projectId, 'editor')
  const { page } = await t.visitAs(editor, `/p/${project.projectId}/build/models/countries`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('textbox', { name: 'SQL' }).fill('select contry from orders')
  await page
    .getByText(/contry/)
    .nth(1)
    .waitFor()
  await page.getByRole('textbox', { name: 'SQL' }).fill('select * from orders where country = $country')
  await page.getByText('A model has no slots: take out $country.').waitFor()
}, 120_000)
