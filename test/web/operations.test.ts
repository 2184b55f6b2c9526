import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, operatorToken } from '../harness/app.ts'
import { openReceiver, type Receiver } from '../harness/receivers.ts'
import { findBarriers } from './barriers.ts'
import { openStage, waitMs, type Stage } from './stage.ts'
import { moveTo } from './navigate.ts'

let stage: Stage
let receiver: Receiver
let page: Page
let complaints: string[]
let secret: string
beforeAll(async () => {
  stage = await openStage({ SLUICE_OUTBOUND_ALLOW: '127.0.0.1', SLUICE_ALERT_INTERVAL_SECONDS: '1' })
  receiver = await openReceiver()
  await stage.deploy('all_orders', 'sales_by_region')
  secret = await stage.key('Dashboard', { plan: 'unlimited', tags: ['mobile', 'team-a'] })
  ;({ page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/metrics`))
  page.setDefaultTimeout(waitMs)
})
afterAll(async () => {
  await stage.close()
  await receiver.close()
})

const at = (name: string): string => `/p/${stage.projectId}/deploy/${name}`
const choose = async (field: string, option: string | RegExp): Promise<void> => {
  await page.getByRole('combobox', { name: field, exact: true }).click()
  await page.getByRole('option', { name: option }).click()
}
/** What stands in anyone's way, looked for in every width; then wide again. */
const barriers = async (name: string, look: Locator): Promise<string[]> => {
  const found = await findBarriers(page, name, look)
  await page.setViewportSize({ width: 1280, height: 800 })
  return found
}
const tiles = () => page.getByRole('main').locator('dl').first()

test('metrics say what to do where nothing is, are narrowed, compared and zoomed, and marked with what happened', async () => {
  await page.getByText('Nothing was called in the last day. Charts appear with the first call.').waitFor()
  expect(await barriers('metrics-empty', page.getByText('Nothing was called'))).toEqual([])
  await page.getByRole('link', { name: 'Make a call' }).click()
  await page.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor()

  const caller = stage.withToken(secret)
  for (const region of ['north', 'south', 'east']) await caller.post('/v1/queries/sales_by_region', { region })
  await caller.post('/v1/queries/sales_by_region', {})
  await stage.edit('sales_by_region', { description: 'Revenue of one region, in full.' })
  await stage.deploy('sales_by_region')
  await caller.post('/v1/queries/sales_by_region', { region: 'north' })
  await caller.post('/v1/queries/all_orders', {})
  await moveTo(page, at('metrics'))
  await expect.poll(() => tiles().textContent()).toMatch(/^Calls6/)
  await choose('Query', 'sales_by_region')
  await expect.poll(() => tiles().textContent()).toMatch(/^Calls5/)
  await choose('Version', 'Version 2')
  await expect.poll(() => tiles().textContent()).toMatch(/^Calls1/)
  await choose('Version', 'Every version')
  await choose('Status', '400')
  await expect.poll(() => tiles().textContent()).toMatch(/^Calls1Errors100 %/)
  await choose('Call type', 'By question')
  await page.getByText('No call of this time fits what is chosen above.').waitFor()
  await page.waitForURL(/query=sales_by_region&status=400&entry=question/)
  await page.getByRole('button', { name: 'Show all calls' }).click()
  await choose('Key', 'Dashboard')
  await expect.poll(() => tiles().textContent()).toMatch(/^Calls6/)

  // Releases stand above the charts and lead there; several of one hour are one sign.
  const marks = page.getByRole('list', { name: 'What happened' }).first()
  await marks.getByRole('button', { name: /^3 things happened/ }).click()
  await page.getByRole('link', { name: /^Release: all_orders/ }).waitFor()
  expect(await barriers('metrics-marks', marks)).toEqual([])
  await page.reload()
  await marks.getByRole('button', { name: /^3 things happened/ }).click()
  await page
    .getByRole('link', { name: /^Release: sales_by_region/ })
    .first()
    .click()
  await page.waitForURL(/\/deploy\/releases\/rel_/)
  await page.goBack()

  await page.getByLabel('Compare with the time before').check()
  await page.waitForURL(/compare=before/)
  await page.getByRole('button', { name: 'Show calls as a table' }).click()
  const calls = page.getByRole('region', { name: 'Calls', exact: true })
  expect(await calls.getByRole('row').first().textContent()).toBe('TimeAnsweredErrorsThe day before')
  await page.getByRole('button', { name: 'Show calls as a chart' }).click()

  // The last third of a chart, dragged over with the mouse.
  const chart = page.locator('[data-zooms]').first()
  await chart.locator('svg[data-chart]').waitFor()
  await chart.scrollIntoViewIfNeeded()
  const box = await chart.boundingBox()
  if (box === null) throw new Error('The chart is not drawn.')
  const [sourcePosition, targetPosition] = [
    { x: box.width * 0.66, y: 60 },
    { x: box.width - 8, y: 70 },
  ]
  await chart.dragTo(chart, { sourcePosition, targetPosition, steps: 5 })
  await page.waitForURL(/from=20.*&to=20/)
  await expect.poll(() => tiles().textContent()).toMatch(/^Calls6/)
  const zoomed = new URL(page.url()).searchParams
  const hours = (Date.parse(zoomed.get('to') ?? '') - Date.parse(zoomed.get('from') ?? '')) / 3_600_000
  // A part of the day; which bars it begins and ends with is a matter of pixels.
  expect(hours).toBeGreaterThan(0)
  expect(hours).toBeLessThan(24)
  await page.getByRole('button', { name: 'Zoom out' }).click()
  await page.goBack()
  await page.goBack()
  expect(new URL(page.url()).searchParams.get('from')).toBeNull()

  // Exactly from when to when.
  await choose('Time', 'From … to …')
  await page.getByLabel('From', { exact: true }).fill('2020-01-01T00:00')
  await page.getByLabel('To', { exact: true }).fill('2020-01-02T00:00')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await expect.poll(() => tiles().textContent()).toMatch(/^Calls0/)
  expect(complaints).toEqual([])
})

test('a view of the calls is saved under a name and found again; a call tells the values it was made with', async () => {
  const settings = { recording: true, max_calls: 100, days: 7, redacted_slots: [] }
  await expectStatus(200, stage.owner.put(`/v1/projects/${stage.projectId}/replay-settings`, settings))
  await expect.poll(() => stage.app.callWatch.isOn).toBe(true)
  const caller = stage.withToken(secret)
  const made = await caller.post('/v1/queries/sales_by_region', { region: 'south' })
  const id = String(made.headers['x-request-id'])

  await moveTo(page, at('requests?outcome=failed&hours=24'))
  const table = page.getByRole('region', { name: 'Requests' })
  await expect.poll(() => table.getByRole('row').count()).toBe(2)
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('button', { name: 'Save this view…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save this view' })
  await dialog.getByLabel('Name').fill('What failed today')
  await dialog.getByLabel('For everyone in the project').check()
  await dialog.getByRole('button', { name: 'Save view' }).click()
  await dialog.waitFor({ state: 'detached' })
  await moveTo(page, at('requests'))
  await expect.poll(() => table.getByRole('row').count()).toBeGreaterThan(2)
  await page.getByRole('button', { name: 'Views' }).click()
  await page
    .getByRole('list', { name: 'Saved views' })
    .getByRole('button', { name: /^What failed today/ })
    .waitFor()
  expect(await barriers('saved-views', page.getByRole('list', { name: 'Saved views' }))).toEqual([])
  await page
    .getByRole('list', { name: 'Saved views' })
    .getByRole('button', { name: /^What failed today/ })
    .click()
  await page.waitForURL(/outcome=failed/)
  await expect.poll(() => table.getByRole('row').count()).toBe(2)
  await page.getByRole('button', { name: 'What failed today', exact: true }).waitFor()

  await moveTo(page, at(`requests?request=${id}`))
  const drawer = page.getByRole('dialog', { name: 'Call' })
  await drawer.getByRole('row', { name: 'region south' }).waitFor()
  await drawer.getByRole('link', { name: 'Try it again' }).click()
  const region = page.getByRole('combobox', { name: 'region' }).or(page.getByRole('textbox', { name: 'region' }))
  await expect.poll(() => region.first().inputValue()).toBe('south')
  expect(complaints).toEqual([])
})

test('endpoints are a table in any order, with a week of calls and the week before', async () => {
  await moveTo(page, at('endpoints'))
  const table = page.getByRole('region', { name: 'Deployed in production' })
  const names = () => table.getByRole('link').filter({ hasText: '_' }).allTextContents()
  await expect.poll(names).toEqual(['all_orders', 'sales_by_region'])
  const sales = table.getByRole('row').filter({ hasText: 'sales_by_region' })
  await expect.poll(() => sales.textContent()).toMatch(/Revenue of one region.*6–17 %\d.*\sms.*v2/)
  await table.getByRole('button', { name: 'Calls in a week' }).click()
  await expect.poll(names).toEqual(['sales_by_region', 'all_orders'])
  expect(await table.getByRole('columnheader', { name: 'Calls in a week' }).getAttribute('aria-sort')).toBe(
    'descending',
  )
  await page.reload()
  await expect.poll(names).toEqual(['sales_by_region', 'all_orders'])
  expect(await barriers('endpoints-table', table)).toEqual([])
  expect(complaints).toEqual([])
})

test('keys are found by their tags, and tell where they are used from', async () => {
  await stage.key('Batch')
  await moveTo(page, at('keys'))
  const list = page.getByRole('table', { name: 'API keys' })
  await expect.poll(() => list.locator('tbody').getByRole('row').count()).toBe(2)
  await page.getByText('mobile', { exact: true }).first().click()
  await page.waitForURL(/tag=mobile/)
  await expect.poll(() => list.locator('tbody').getByRole('row').count()).toBe(1)
  expect(await barriers('keys-tags', list)).toEqual([])
  await list.getByRole('link', { name: 'Dashboard' }).click()
  await page.getByRole('list', { name: 'Addresses' }).getByText('127.0.0.1').waitFor()
  await page.getByRole('region', { name: 'Popular queries' }).getByRole('link', { name: 'sales_by_region' }).waitFor()
  expect(complaints).toEqual([])
})

test('an alert is tried on the past, tells through a channel of the project, and is silenced for a while', async () => {
  await moveTo(page, at('alerts'))
  await page.getByRole('button', { name: 'New channel' }).click()
  const made = page.getByRole('dialog', { name: 'New channel' })
  await made.getByLabel('Name').fill('On call')
  await made.getByLabel('Address').fill(`${receiver.origin}/hook`)
  await made.getByRole('button', { name: 'Create channel' }).click()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await page.getByRole('button', { name: 'Send a test through On call' }).click()
  await page.getByText(/test arrived/).waitFor()
  expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual(['alert.test'])

  await page.getByRole('button', { name: 'New alert' }).click()
  const form = page.getByRole('dialog', { name: 'New alert' })
  await form.getByRole('button', { name: 'Try it on the last 7 days' }).click()
  await form.getByText('It would have fired once in the last 7 days.').waitFor()
  expect(await form.getByRole('list', { name: 'When it would have fired' }).textContent()).toMatch(/% of calls/)
  await form.getByLabel('Above').fill('99')
  await form.getByText('It would have fired once').waitFor({ state: 'detached' })
  await form.getByRole('button', { name: 'Try it on the last 7 days' }).click()
  await form.getByText('It would not have fired in the last 7 days.').waitFor()
  await form.getByLabel('Above').fill('5')
  await form.getByRole('combobox', { name: 'Channel 1' }).click()
  await page.getByRole('option', { name: 'On call' }).click()
  expect(await barriers('alert-form', form.getByText('Tell', { exact: true }))).toEqual([])
  await form.getByRole('button', { name: 'Create alert' }).click()
  await form.waitFor({ state: 'detached' })
  const row = page.getByRole('list', { name: 'Alerts' }).getByRole('listitem').first()
  await row.getByText(/^tells On call/).waitFor()

  await page.getByRole('button', { name: 'Silence Too many errors' }).click()
  const silence = page.getByRole('dialog', { name: 'Silence Too many errors' })
  await silence.getByLabel('Why').fill('We move the database.')
  await silence.getByRole('button', { name: 'Silence', exact: true }).click()
  await row.getByText(/Silenced until .* by Ada Lindqvist: We move the database\./).waitFor()
  expect(await barriers('alerts-silenced', row)).toEqual([])
  await page.getByRole('button', { name: 'Delete On call' }).click()
  await page.getByText('It is used by Too many errors: take it out of them first.').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'End silence of Too many errors' }).click()
  await row.getByText(/Silenced until/).waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('alerts on data are tried on what was loaded, held and changed', async () => {
  const sources = `/v1/projects/${stage.projectId}/datasources`
  const { body } = await expectStatus(201, stage.owner.post(sources, { name: 'Visits', kind: 'file' }))
  const send = async (text: string): Promise<void> => {
    const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'text/csv' }
    const sent = await fetch(`${stage.origin}${sources}/${body.id}/files`, { method: 'POST', headers, body: text })
    expect(sent.status).toBe(201)
  }
  await send('id\n1\n2\n')
  await expectStatus(
    200,
    stage.owner.patch(`${sources}/${body.id}/schema`, { checks: [{ type: 'unique', columns: ['id'] }] }),
  )
  await send('id\n1\n1\n')
  await moveTo(page, at('alerts'))
  await page.getByRole('button', { name: 'New alert' }).click()
  const form = page.getByRole('dialog', { name: 'New alert' })
  const attempt = async (kind: string): Promise<void> => {
    await form.getByRole('combobox', { name: 'Notify when' }).click()
    await page.getByRole('option', { name: kind }).click()
    await form.getByRole('button', { name: 'Try it on the last 7 days' }).click()
  }
  await attempt('New data is held')
  await form.getByText('It would have fired once in the last 7 days.').waitFor()
  expect(await form.getByRole('list', { name: 'When it would have fired' }).textContent()).toContain(', and still')
  await attempt('The shape of data changed')
  await form.getByText('It would not have fired in the last 7 days.').waitFor()
  await attempt('Data is late')
  await form
    .getByText('Nothing could be judged in the last 7 days: no table was loaded, or promised by a schedule.')
    .waitFor()
  expect(await barriers('alert-tried', form.getByText('Nothing could be judged'))).toEqual([])
  expect(complaints).toEqual([])
})

test('the audit log is narrowed by who, what and to what, and saved as a file', async () => {
  await moveTo(page, `/p/${stage.projectId}/settings/audit`)
  const acts = page.getByRole('list', { name: 'Acts' }).getByRole('listitem')
  await expect.poll(() => acts.count()).toBeGreaterThan(10)
  await page.getByRole('combobox', { name: 'What' }).click()
  await page.getByRole('option', { name: 'Alert silenced' }).click()
  await expect
    .poll(() => acts.allTextContents())
    .toEqual([expect.stringMatching(/^Ada Lindqvist silenced the alert Too many errors: We move the database\./)])
  await page.waitForURL(/action=alert.silenced/)
  await page.getByRole('button', { name: 'All acts' }).click()
  await page.getByRole('combobox', { name: 'Who' }).click()
  await page.getByRole('option', { name: 'Ada Lindqvist' }).click()
  await page.getByRole('textbox', { name: 'Done to' }).fill('On call')
  await expect.poll(() => acts.count()).toBe(2)
  expect(await barriers('audit-filter', acts.first())).toEqual([])
  await page.getByRole('button', { name: 'Export' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'As CSV' }).click(),
  ])
  const csv = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n')
  expect(csv).toHaveLength(3)
  expect(csv[1]).toContain('alert_channel.tested')
  expect(complaints).toEqual([])
})
