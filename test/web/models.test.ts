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

test('the map leads from a table over the models that are built from it to what reads them', async () => {
  await project.create('regions', 'select country, count(*) as n from orders group by country')
  await project.settled()
  const busiest = { name: 'busiest', sql: 'select country from regions order by n desc limit 1' }
  await expectStatus(201, t.operator.post(`${project.path}/queries`, busiest))
  const deploy = { environment: 'production', force: true }
  await expectStatus(200, t.operator.post(`${project.path}/queries/busiest/deploy`, deploy))
  const viewer = await t.member(project.projectId, 'viewer')
  const { page, complaints } = await t.visitAs(viewer, `/p/${project.projectId}/build/map?of=table+orders`)
  page.setDefaultTimeout(waitMs)
  const panel = page.getByRole('complementary', { name: 'Table orders' })
  await panel.getByText('If it changes or stops, 1 endpoint of 1 query would notice').waitFor()
  await panel.getByRole('list', { name: 'Models built from it' }).getByRole('link', { name: 'regions' }).waitFor()
  await panel.getByRole('list', { name: 'Queries' }).getByRole('link', { name: 'busiest' }).waitFor()
  await page.getByRole('button', { name: 'busiest' }).click()
  const sources = page.getByRole('complementary').getByRole('list', { name: 'Comes from' }).getByRole('link')
  expect(await sources.allTextContents()).toEqual(['orders', 'regions'])
  expect(await page.locator('path[data-built]').count()).toBe(1)
  await takePicture(page, 'map-with-models-light-1280')
  expect(await findBarriers(page, 'map with models')).toEqual([])
  expect(complaints).toEqual([])
})

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

test('tests with rows stand at their query and model: run on what is in the editor, made of the last call, deleted', async () => {
  const path = `/v1/projects/${project.projectId}`
  await project.create('big', 'select id, total from orders where total > 5')
  await project.settled()
  const given = {
    orders: [
      { id: 1, total: 5 },
      { id: 2, total: 6 },
    ],
  }
  const own = { name: 'only_big', model: 'big', given, expect: [{ id: 2, total: 6 }], exact: true }
  await expectStatus(200, t.operator.put(`${path}/tests`, own))
  const owner = await t.member(project.projectId, 'owner')
  const { page, complaints } = await t.visitAs(owner, `/p/${project.projectId}/build/models/big`)
  page.setDefaultTimeout(waitMs)
  const tests = page.getByRole('region', { name: 'Tests with rows' })
  await tests.getByRole('button', { name: 'Run the test' }).click()
  await tests.getByText('1 test passed.').waitFor()
  // As it is typed, before anything is saved.
  await page.getByRole('textbox', { name: 'SQL' }).fill('select id, total from orders where total > 4')
  await tests.getByRole('button', { name: 'Run the test' }).click()
  await tests.getByText('1 of 1 failed.').waitFor()
  await tests.getByText('only_big').click()
  await tests.getByRole('table', { name: 'Unexpected of only_big' }).getByRole('cell', { name: '5' }).waitFor()
  await takePicture(page, 'model-tests-light-1280')
  expect(await findBarriers(page, 'model')).toEqual([])
  await page.getByRole('button', { name: 'Save and build' }).click()
  await page.getByRole('alert').getByText('A test does not pass:').waitFor()
  await page
    .getByRole('alert')
    .getByText(/^only_big: /)
    .waitFor()
  await takePicture(page, 'model-refused-by-test-light-1280')
  await page.getByRole('button', { name: 'Save anyway' }).click()
  await page.getByText('big is saved. Its build has begun.').waitFor()
  await project.settled()

  const query = { name: 'of_country', sql: 'select id, total from orders where country = $country order by id' }
  await expectStatus(201, t.operator.post(`${path}/queries`, query))
  await expectStatus(200, t.operator.post(`${path}/queries/of_country/deploy`, {}))
  const asked = await t.visitAs(owner, `/p/${project.projectId}/build/queries/of_country`)
  asked.page.setDefaultTimeout(waitMs)
  await asked.page.getByRole('button', { name: 'Tests', exact: true }).click()
  const list = asked.page.getByRole('region', { name: 'Tests with rows' })
  await list.getByRole('button', { name: 'Test from the last call' }).click()
  await list.getByText('The project records no calls.').waitFor()
  await expectStatus(200, t.operator.put(`${path}/replay-settings`, { recording: true }))
  await expect.poll(() => t.app.callWatch.isOn).toBe(true)
  const permissions = [{ project_id: project.projectId, environments: '*' }]
  const key = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'test', permissions }))
  await expectStatus(200, t.withToken(key.body.secret).post('/v1/queries/of_country', { country: 'DE' }))
  await list.getByRole('button', { name: 'Test from the last call' }).click()
  await list.getByText('of_country_call').click()
  await list.getByRole('table', { name: 'Expected of of_country_call' }).getByRole('cell', { name: '20' }).waitFor()
  await list.getByRole('button', { name: 'Run the test' }).click()
  await list.getByText('1 test passed.').waitFor()
  await takePicture(asked.page, 'query-tests-light-1280')
  await asked.page.emulateMedia({ colorScheme: 'dark' })
  await asked.page.setViewportSize({ width: 390, height: 844 })
  await takePicture(asked.page, 'query-tests-dark-390')
  expect(await findBarriers(asked.page, 'query')).toEqual([])
  const removing = list.getByRole('button', { name: 'Delete test' })
  await removing.click()
  await takePicture(asked.page, 'query-test-deleted-dark-390')
  await asked.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await list.getByText('of_country_call').waitFor()
  await removing.click()
  await asked.page.getByRole('dialog').getByRole('button', { name: 'Delete of_country_call' }).click()
  await list.getByText('No tests yet.').waitFor()
  expect([...complaints, ...asked.complaints].filter((each) => !each.includes('409'))).toEqual([])
}, 180_000)
