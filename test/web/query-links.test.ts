import { afterAll, beforeAll, expect, test } from 'vitest'
import { findBarriers } from './barriers.ts'
import { openStage, waitMs, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('an owner allows links, makes one with values, sees it counted and revokes it', async () => {
  await stage.deploy('sales_by_region')
  const { page, complaints } = await stage.visitAs(
    stage.owner,
    `/p/${stage.projectId}/deploy/endpoints/sales_by_region`,
  )
  page.setDefaultTimeout(waitMs)
  const links = page.getByRole('main')
  await links.getByRole('button', { name: 'Allow links' }).click()
  await links.getByText('There are no links yet.').waitFor()
  await links.getByRole('button', { name: 'New link' }).click()
  const making = page.getByRole('dialog', { name: 'New link to sales_by_region' })
  await making.getByLabel('region').fill('north')
  expect(await findBarriers(page, 'query-link-new')).toEqual([])
  await making.getByRole('button', { name: 'Make link' }).click()
  const address = await page.getByLabel('Address of the rows as CSV').inputValue()
  expect(address).toMatch(/\/v1\/shared\/slc_share_\w+\.csv$/)
  expect(await (await fetch(address)).text()).toContain('north')
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await links.getByRole('row', { name: /sales_by_region .* region=north/ }).waitFor()
  expect(await findBarriers(page, 'query-links')).toEqual([])
  if (process.env['SHOTS'] !== undefined) {
    await page.getByRole('heading', { name: 'Links for spreadsheets' }).scrollIntoViewIfNeeded()
    await page.screenshot({ path: `${process.env['SHOTS']}/links.png`, fullPage: true })
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('heading', { name: 'Links for spreadsheets' }).scrollIntoViewIfNeeded()
    await page.screenshot({ path: `${process.env['SHOTS']}/links-phone.png` })
    await page.setViewportSize({ width: 1280, height: 800 })
  }
  await links.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('sales_by_region is revoked.').waitFor()
  expect((await fetch(address)).status).toBe(404)
  expect(complaints).toEqual([])
})

test('who is no owner sees nothing of it', async () => {
  const editor = await stage.member(stage.projectId, 'editor')
  const { page } = await stage.visitAs(editor, `/p/${stage.projectId}/deploy/endpoints/sales_by_region`)
  await page.getByRole('region', { name: 'Columns' }).waitFor()
  expect(await page.getByText('Links for spreadsheets').count()).toBe(0)
})
