import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startService, type ServiceProcess } from '../harness/process.ts'
import { openVisitor } from '../harness/web.ts'
import { takePicture } from '../web/barriers.ts'
import { bestOf, watchInteractions, type Interaction } from '../web/responsiveness.ts'

const waitMs = 30_000
/** What feels immediate to most people on most pages, and the budget of this app. */
const paintBudgetMs = 200
/** Where others use the machine too, one walk measures them as well. */
const mostWalks = 4

let dataDir: string
let service: ServiceProcess
/** Whoever has just started the service: the link can be used once. */
let first: Awaited<ReturnType<typeof openVisitor>>

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sluice-minute-'))
  service = await startService(dataDir, { SLUICE_EXAMPLE: 'on' })
  await vi.waitUntil(() => service.output().includes('/sign-in#'), { timeout: 60_000 })
  // As one of the lines that the start prints: without a call there is nothing to draw.
  const authorization = `Bearer ${/slc_live_[\w-]+/.exec(service.output())?.[0] ?? ''}`
  const called = await fetch(`${service.url}/v1/queries/sales_by_region?region=north`, { headers: { authorization } })
  if (called.status !== 200) throw new Error(await called.text())
  first = await openVisitor(service.url)
  await first.page.goto(/\S+\/sign-in#\S+/.exec(service.output())?.[0] ?? '')
  first.page.setDefaultTimeout(waitMs)
}, 120_000)
afterAll(async () => {
  await first.leave()
  service.kill('SIGTERM')
  await service.exited
  await rm(dataDir, { recursive: true, force: true })
})

const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
const tab = (page: Page, name: string) => page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name })
const entry = (page: Page, rail: string, name: string) =>
  page.getByRole('navigation', { name: rail }).getByRole('link', { name })

test('the link that the start prints lands in the example project, where a question is answered', async () => {
  const { page, complaints } = first
  await heading(page, 'Home')
  await page.getByRole('region', { name: 'What flows through' }).getByText('endpoints').waitFor()
  await takePicture(page, 'first-minute-light-1280')
  await tab(page, 'Deploy').click()
  await heading(page, 'Endpoints')
  await page.getByRole('link', { name: 'sales_by_region' }).waitFor()
  await tab(page, 'Ask').click()
  await page.getByRole('textbox', { name: 'Question' }).fill('what are the top 5 coffee products')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByRole('group', { name: 'Answered by' }).waitFor()
  expect(complaints.splice(0)).toEqual([])
})

test('an empty project says what to do step by step, and its sample works from the first click', async () => {
  const { page, complaints } = first
  await page.goto(service.url)
  await heading(page, 'Home')
  await page
    .getByRole('button', { name: /choose another/ })
    .first()
    .click()
  await page.getByRole('menuitem', { name: 'New project' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('My first')
  await page.keyboard.press('Enter')
  const steps = page.getByRole('list', { name: 'Steps to a first answer' }).getByRole('listitem')
  await steps.first().waitFor()
  expect(await steps.count()).toBe(6)
  await page.getByRole('link', { name: 'Connect the sample API' }).click()
  expect(await page.getByLabel('Address').inputValue()).toMatch(/^http:\/\/sample\.localhost:\d+\/sample\/products$/)
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByText(/^In use: \d+ rows at/).waitFor()
  await page.getByRole('button', { name: 'Fetch data' }).click()
  await heading(page, 'products')
  await page.getByRole('list', { name: 'Columns' }).waitFor()
  expect(complaints.splice(0)).toEqual([])
})

test('on the example project every click and key is drawn within 200 ms', { timeout: 300_000 }, async () => {
  const { page, complaints } = first
  await page.goto(`${service.url}/?all`)
  const read = await watchInteractions(page)
  const walks: Interaction[][] = []
  do {
    await page.goto(`${service.url}/?all`)
    await page.getByRole('link', { name: /^Example/ }).click()
    await heading(page, 'Home')
    await walkBuild(page)
    await walkDeploy(page)
    walks.push(await read())
  } while (walks.length < mostWalks && (bestOf(walks)[0]?.durationMs ?? 0) >= paintBudgetMs)
  const slowest = bestOf(walks)
  process.stdout.write(
    `Interaction to next paint: ${slowest[0]?.durationMs} ms at worst of ${slowest.length} kinds in ${walks.length} walks ` +
      `(budget ${paintBudgetMs} ms); slowest: ${slowest
        .slice(0, 4)
        .map(({ what, durationMs }) => `${what} ${durationMs} ms`)
        .join(', ')}\n`,
  )
  expect(slowest.length).toBeGreaterThan(20)
  expect(slowest[0]?.durationMs).toBeLessThan(paintBudgetMs)
  expect(complaints).toEqual([])
})

async function walkBuild(page: Page): Promise<void> {
  await entry(page, 'Build', 'Data').click()
  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await page.getByRole('tab', { name: 'Rows and pages' }).click()
  await page.getByRole('tab', { name: 'Refresh' }).click()
  await page.getByRole('tab', { name: 'History' }).click()
  await entry(page, 'Build', 'Data').click()
  await heading(page, 'Data')
  await page.getByRole('link', { name: 'orders', exact: true }).click()
  await page.getByRole('list', { name: 'Columns' }).waitFor()
  await page.getByRole('tab', { name: 'Rows' }).click()
  await page.getByRole('grid', { name: 'Rows of orders' }).press('Control+End')
  await entry(page, 'Build', 'Queries').click()
  await page.getByRole('link', { name: 'sales_by_region' }).click()
  await page.getByRole('textbox', { name: 'SQL' }).click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' -- the whole year', { delay: 100 })
  await page.keyboard.press('Control+Enter')
  await page.getByRole('form', { name: 'Slots' }).getByText('Is required.').first().waitFor()
  // At the very edge of the window Chromium draws nothing without one, and then reports the next frame.
  await page.mouse.wheel(0, 400)
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByLabel('Description').click()
  await page.keyboard.type('More of it. ', { delay: 100 })
  await page.getByRole('button', { name: 'Discard changes' }).click()
}

async function walkDeploy(page: Page): Promise<void> {
  await tab(page, 'Deploy').click()
  await heading(page, 'Endpoints')
  await page.getByRole('link', { name: 'sales_by_region' }).click()
  for (const view of ['Edit', 'Versions', 'Usage', 'Questions', 'Try']) {
    await page.getByRole('navigation', { name: 'sales_by_region' }).getByRole('link', { name: view }).click()
  }
  const part = (name: string) => page.getByRole('navigation', { name: /^Pages of / }).getByRole('link', { name })
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByText('200 OK').waitFor()
  await entry(page, 'Deploy', 'Usage').click()
  await page.locator('svg[data-chart]').nth(2).waitFor()
  await page.getByRole('button', { name: 'Show calls as a table' }).click()
  await part('Requests').click()
  await entry(page, 'Deploy', 'Questions').click()
  await entry(page, 'Deploy', 'Usage').click()
  await part('Alerts').click()
  await page.getByRole('button', { name: 'New alert' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Advanced' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await entry(page, 'Deploy', 'Keys').click()
  await page.getByRole('button', { name: 'New API key' }).click()
  await page.getByRole('dialog').getByRole('radio', { name: 'Only these' }).last().click()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.keyboard.type('sales', { delay: 100 })
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByRole('menuitemradio', { name: 'Light' }).click()
}
