import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { findBarriers, takePicture } from './barriers.ts'
import { openStage, rail, salesSql, waitMs, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage({})
})
afterAll(() => stage.close())

async function live(environment = 'production'): Promise<Record<string, number>> {
  const path = `/v1/projects/${stage.projectId}/deployments?environment=${environment}`
  const { body } = await expectStatus(200, stage.owner.get(path))
  return Object.fromEntries(body.data.map(({ name, version }: { name: string; version: number }) => [name, version]))
}

test('drafts are released together, a breaking release is looked at and forced, and taken back as one', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy`)
  page.setDefaultTimeout(waitMs)
  await rail(page, 'Releases').click()
  await page.getByText('Nothing has been released to production yet').waitFor()

  await page.getByRole('button', { name: 'Release changes' }).click()
  const sheet = page.getByRole('dialog', { name: 'Release changes to production' })
  await sheet.getByText('No caller is affected: all of it is new.').waitFor()
  await sheet.getByText('2 queries change together').waitFor()
  await sheet.getByLabel('Why').fill('The first two figures')
  await sheet.getByRole('button', { name: 'Release 2 queries' }).click()
  await page.getByText('2 queries changed in production.').waitFor()
  expect(await live()).toEqual({ all_orders: 1, sales_by_region: 1 })

  await page.getByRole('button', { name: 'Release changes' }).click()
  await sheet.getByText('Every draft is what answers here already.').waitFor()
  await sheet.getByRole('button', { name: 'Close' }).last().click()

  const secret = await stage.key('web shop', { plan: 'unlimited' })
  await expectStatus(200, stage.callWith(secret, 'sales_by_region'))
  await stage.edit('sales_by_region', { sql: salesSql.replace('as revenue', 'as income') })
  await stage.edit('all_orders', { description: 'Every order, by its number.' })
  await page.getByRole('button', { name: 'Release changes' }).click()
  await sheet.getByText('Existing callers would break.').waitFor()
  await sheet.getByText('callers of 1 query would break.').waitFor()
  await sheet.getByText('Removes column revenue').waitFor()
  await sheet.getByText('web shop').waitFor()
  await takePicture(page, 'release-breaking-light-1280')
  const release = sheet.getByRole('button', { name: 'Release 2 queries' })
  expect(await release.isDisabled()).toBe(true)
  await sheet.getByLabel('The callers above know').check()
  await release.click()
  await page.getByText('Rolled back', { exact: true }).waitFor({ state: 'detached' })
  await expect.poll(() => live(), { timeout: waitMs }).toEqual({ all_orders: 2, sales_by_region: 2 })

  await page.getByRole('table', { name: 'Releases' }).getByText('Breaking').waitFor()
  await page.getByRole('table', { name: 'Releases' }).getByText('Serving now').waitFor()
  await page
    .getByRole('table', { name: 'Releases' })
    .getByRole('link', { name: /2 queries/ })
    .first()
    .click()
  await page.getByText('Failed checks were overridden.').waitFor()
  await page.getByRole('button', { name: 'Roll back' }).click()
  const back = page.getByRole('dialog', { name: 'Roll back in production' })
  await back.getByText('v2 → v1').first().waitFor()
  await back.getByText('2 queries go back together').waitFor()
  await back.getByText('Existing callers would break.').waitFor()
  await back.getByText('Removes column income').waitFor()
  await back.getByLabel('Why').fill('The shop needs the revenue')
  await back.getByRole('button', { name: 'Roll back 2 queries' }).click()
  await page.getByText('Rolled back by').waitFor()
  expect(await live()).toEqual({ all_orders: 1, sales_by_region: 1 })
  await rail(page, 'Releases').click()
  await page.getByRole('table', { name: 'Releases' }).getByText('The shop needs the revenue').waitFor()
  await page.getByRole('table', { name: 'Releases' }).getByText('Rolled back', { exact: true }).waitFor()
  expect(complaints).toEqual([])
}, 180_000)

test('an environment is promoted into another; a viewer sees the releases and no way to make one', async () => {
  await expectStatus(
    200,
    stage.owner.post(`/v1/projects/${stage.projectId}/releases`, {
      environment: 'staging',
      queries: 'all',
      force: true,
    }),
  )
  const { page } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/releases?environment=preview`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'Promote' }).click()
  const sheet = page.getByRole('dialog', { name: 'Promote to preview' })
  await sheet.getByLabel('From').first().click()
  await page.getByRole('option', { name: 'staging' }).click()
  await sheet.getByRole('button', { name: /^Promote \d/ }).click()
  await expect.poll(() => live('preview'), { timeout: waitMs }).toEqual(await live('staging'))
  await page.getByRole('table', { name: 'Releases' }).getByText('from staging to preview').first().waitFor()

  const viewer = await stage.visitAs(stage.viewer, `/p/${stage.projectId}/deploy/releases`)
  await viewer.page.getByText('You are a viewer here').waitFor()
  expect(await viewer.page.getByRole('button', { name: 'Release changes' }).count()).toBe(0)
}, 180_000)

test('the sheet says what recorded calls come to, and the page of a release how it does as a canary', async () => {
  const path = `/v1/projects/${stage.projectId}`
  await expectStatus(200, stage.owner.put(`${path}/replay-settings`, { recording: true }))
  await expect.poll(() => stage.app.callWatch.isOn, { timeout: waitMs }).toBe(true)
  await stage.app.jobs.start()
  const secret = await stage.key('replayed', { plan: 'unlimited' })
  await expectStatus(200, stage.callWith(secret, 'sales_by_region'))
  await stage.edit('sales_by_region', { sql: salesSql.replace('as revenue', '+ 1 as revenue') })
  const { page } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/releases`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'Release changes' }).click()
  await page.getByText('Of 1 call 0 equal, 1 different in revenue.').waitFor()
  await page.getByText('Existing callers would get other answers.').waitFor()
  await page.getByText('of 1 call, 1 gets other rows.').waitFor()
  await page.getByRole('button', { name: 'Review 1 changed answer' }).click()

  await page.getByRole('combobox', { name: 'Who gets it' }).click()
  await page.getByRole('option', { name: '10 % of the keys first' }).click()
  // Drafts that were taken back above may be among them.
  await page.getByRole('button', { name: /^Release \d+ quer/ }).click()
  const tried = page.getByRole('table', { name: 'Releases' }).getByRole('row').filter({ hasText: 'Canary' })
  await tried.getByRole('link').click()
  await page.getByText('Serving 10 % of keys').waitFor()
  await page.getByRole('button', { name: 'Roll back' }).waitFor()
  await page.getByRole('button', { name: 'Roll out to all' }).click()
  await page.getByText('Rolled out to all in production.').waitFor()
  await page.getByRole('button', { name: 'Roll back' }).waitFor()
}, 180_000)

const byRegion = {
  name: 'regions',
  description: 'Orders and revenue of each region.',
  sql: 'select region, count(*)::int as orders, sum(amount)::int as revenue from orders where id <= $most and $desk is not null group by region order by region',
  slots: { properties: { most: { type: 'integer' }, desk: { type: 'string', default: 'front' } }, required: ['most'] },
}

/** Other revenue for one value, a region less for another, an error for a third, another order for a fourth. */
const otherwise = byRegion.sql
  .replace(
    'sum(amount)::int',
    "(case when $most = 300 then error('no such desk') else sum(amount) + ($most = 100)::int end)::int",
  )
  .replace('where', "where not ($most = 200 and region = 'east') and")
  .replace('order by region', 'order by case when $most = 400 then -ascii(region) else ascii(region) end, region')

test('the calls of a replay open: what they were called with, and both answers with what changed marked', async () => {
  const path = `/v1/projects/${stage.projectId}`
  await expectStatus(201, stage.owner.post(stage.path, byRegion))
  await stage.deploy('regions')
  const settings = { recording: true, redacted_slots: ['desk'] }
  await expectStatus(200, stage.owner.put(`${path}/replay-settings`, settings))
  await expect.poll(() => stage.app.callWatch.isOn, { timeout: waitMs }).toBe(true)
  await stage.app.jobs.start()
  const shop = stage.withToken(await stage.key('shop window', { plan: 'unlimited' }))
  for (const most of [100, 200, 300, 400, 500, 600, 700]) {
    await expectStatus(200, shop.post('/v1/queries/regions', { most, desk: 'back' }))
  }
  await stage.edit('regions', { sql: otherwise })
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/releases`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'Release changes' }).click()
  await page
    .getByText(/^Of 7 calls 3 equal, 2 different in revenue, 1 with the same rows in another order, 1 failing/)
    .waitFor()

  const failing = page.getByRole('list', { name: 'Calls: Fails' })
  await failing.getByRole('button', { name: 'Open the call of regions' }).click()
  await failing.getByText('The new version fails where the old one answers.').waitFor()
  await failing.getByRole('region', { name: 'Then: the draft' }).getByText('no such desk').waitFor()
  await failing.getByText('not recorded').waitFor()

  await page.getByText('Differs 2').click()
  const differing = page.getByRole('list', { name: 'Calls: Differs' })
  const now = differing.getByRole('region', { name: 'Now: version 1', exact: true })
  const then = differing.getByRole('region', { name: 'Then: the draft', exact: true })
  // Calls of one moment are run in any order.
  const said: string[] = []
  for (const at of [0, 1]) {
    await differing.getByRole('button', { name: 'Open the call of regions' }).nth(at).click()
    await now.getByText(/3 rows · .*\sms · \d+ B/).waitFor()
    said.push((await differing.getByText(/, found again by region\.$/).textContent()) ?? '')
    if (said[at]?.includes('gone') === true) {
      await now.getByRole('gridcell', { name: 'east' }).waitFor()
      await then.getByText('is gone').waitFor()
    } else {
      await Promise.all([now, then].map((side) => side.locator('mark').nth(2).waitFor()))
      const before = await now.locator('mark').allTextContents()
      expect(before).toHaveLength(3)
      expect(await then.locator('mark').allTextContents()).toEqual(
        before.map((value) => (Number(value.replaceAll(',', '')) + 1).toLocaleString('en')),
      )
    }
    await differing.getByRole('button', { name: 'Close the call of regions' }).click()
    await now.waitFor({ state: 'detached' })
  }
  expect(said.toSorted()).toEqual(['1 row gone, found again by region.', '3 rows changed, found again by region.'])
  const changed = said.findIndex((each) => each.startsWith('3'))
  await differing.getByRole('button', { name: 'Open the call of regions' }).nth(changed).click()
  await then.locator('mark').first().waitFor()
  expect(await findBarriers(page, 'release-replay', differing)).toEqual([])
  expect(complaints).toEqual([])
}, 180_000)
