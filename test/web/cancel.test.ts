import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { openSource, type Source } from '../harness/source.ts'
import { takePicture } from './barriers.ts'
import { openStage, waitMs, type Stage } from './stage.ts'

const polled = { timeout: waitMs, interval: 250 }

/** Longer than anyone waits for a test, and shorter than the limit of a query. */
const slowSql = 'select count(*) as n from range(1000000) a(i), range(1000000) b(j) where i * j = -1'

let stage: Stage
let source: Source
beforeAll(async () => {
  source = await openSource()
  stage = await openStage({ SLUICE_OUTBOUND_ALLOW: source.host })
  await stage.app.jobs.start()
  await expectStatus(201, stage.owner.post(stage.path, { name: 'slow', sql: slowSql, description: 'Never ends.' }))
  await stage.deploy('slow')
})
afterAll(async () => {
  await stage.close()
  await source.close()
})

const working = (): number => stage.app.engine.health().executors.reduce((sum, { calls }) => sum + calls, 0)
const cancel = (page: Page): Locator => page.getByRole('main').getByRole('button', { name: 'Cancel', exact: true })

test('an execute is cancelled while the API is called: nothing is stored, and the next one works', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/connections/new`)
  page.setDefaultTimeout(waitMs)
  await page.getByLabel('Address').fill(source.url)
  await page.getByLabel('Name', { exact: true }).fill('Slow stock')
  const first = source.hold()
  await page.getByRole('button', { name: 'Fetch data' }).click()
  await page.getByText(`Calling ${source.host}…`).waitFor()
  await expect.poll(first.asked, polled).toBe(1)
  await takePicture(page, 'execute-running-light-1280')
  await cancel(page).click()
  await page.getByText('Cancelled. The connection is saved; no data was fetched.').waitFor()
  await expect.poll(first.dropped, polled).toBe(1)
  await takePicture(page, 'execute-cancelled-light-1280')
  await page.getByText('Not fetched', { exact: true }).waitFor()

  source.answer([{ id: 1, left: 4 }])
  await page.getByRole('button', { name: 'Fetch data' }).click()
  await page.getByRole('heading', { level: 1, name: 'slow_stock' }).waitFor()
  await page.goBack()

  const second = source.hold()
  await page.getByRole('button', { name: 'Fetch data' }).click()
  await expect.poll(second.asked, polled).toBe(1)
  await cancel(page).click()
  // What is stored as it stands is fetched by a job, which goes on without the page.
  await page.getByText('It was cancelled.').waitFor()
  await expect.poll(second.dropped, polled).toBe(1)
  await page.getByRole('tab', { name: 'History' }).click()
  await page.getByText('Version 1: 1 row').waitFor()
  expect(await page.getByText('Version 2').count()).toBe(0)
  expect(complaints).toEqual([])
})

test('the test of a connection is cancelled, and the API is called no longer', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/connections/new`)
  page.setDefaultTimeout(waitMs)
  await page.getByLabel('Address').fill(source.url)
  const held = source.hold()
  await page.getByRole('button', { name: 'Test' }).click()
  await expect.poll(held.asked, polled).toBe(1)
  await cancel(page).click()
  await page.getByText('The test was cancelled.').waitFor()
  await expect.poll(held.dropped, polled).toBe(1)
  source.answer([{ id: 1 }])
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByText('application/json').waitFor()
  expect(complaints).toEqual([])
})

test('a run of a query is cancelled, and nothing works on it any longer', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/queries/slow`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('textbox', { name: 'SQL' }).click()
  await page.keyboard.press('Control+Enter')
  await expect.poll(working, polled).toBe(1)
  await cancel(page).click()
  await page.getByText('Cancelled. Run starts it again.').waitFor()
  await expect.poll(working, polled).toBe(0)
  expect(complaints).toEqual([])
})

test('a call from the console is cancelled, and nothing works on it any longer', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/try?query=slow`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await expect.poll(working, polled).toBe(1)
  await cancel(page).click()
  await page.getByText('Cancelled: nobody waited for the answer.').waitFor()
  await expect.poll(working, polled).toBe(0)
  expect(complaints).toEqual([])
})
