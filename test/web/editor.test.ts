import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { execute, openSource, type Source } from '../harness/source.ts'
import { openStage, waitMs, type Stage } from './stage.ts'

let stage: Stage
let source: Source
beforeAll(async () => {
  source = await openSource()
  source.answer(['Lund', 'Gent', 'Gent', 'Porto'].map((city, id) => ({ id, city, nights: id + 1 })))
  stage = await openStage({ SLUICE_OUTBOUND_ALLOW: source.host })
  await stage.app.jobs.start()
  const at = { projectId: stage.projectId, datasourceId: 'ds_stays', name: 'stays' }
  const { body } = await expectStatus(200, execute(stage.owner, { ...at, url: source.url }))
  const isDone = async () => (await stage.owner.get(`/v1/jobs/${body.jobs[0].id}`)).body.status === 'succeeded'
  await vi.waitUntil(isDone, { timeout: waitMs })
  const slots = { properties: { city: { type: 'string', 'x-values-from': 'stays.city' } }, required: ['city'] }
  const sql = 'select sum(nights) as nights from stays where city = $city'
  await expectStatus(201, stage.owner.post(stage.path, { name: 'nights_in', sql, slots, description: 'Nights.' }))
})
afterAll(async () => {
  await stage.close()
  await source.close()
})

test('the editor completes tables, their columns and the slots', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/queries/nights_in`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('textbox', { name: 'SQL' }).click()
  const complete = async (typed: string, offered: string): Promise<void> => {
    await page.keyboard.press('Control+a')
    await page.keyboard.type(typed)
    await page.keyboard.press('Control+Space')
    await page.locator('.cm-tooltip-autocomplete').getByRole('option', { name: offered }).first().waitFor()
    await page.keyboard.press('Escape')
  }
  await complete('select * from sta', 'stays')
  await complete('select stays.ni', 'nights')
  await complete('select * from stays where city = $ci', 'city')
  // The list of tables writes where the cursor stands.
  await page.getByText('stays', { exact: true }).first().click()
  await page.getByRole('button', { name: 'Insert nights' }).click()
  await expect.poll(() => page.getByRole('textbox', { name: 'SQL' }).textContent()).toContain('$cinights')
  const line = page.getByRole('separator', { name: 'Height of the editor' })
  const height = Number(await line.getAttribute('aria-valuenow'))
  await line.press('ArrowDown')
  await expect.poll(async () => Number(await line.getAttribute('aria-valuenow'))).toBe(height + 24)
  expect(complaints).toEqual([])
})

test('advice is made after a save, and what is taken stands in the draft', async () => {
  const sql = "select date_trunc('month', current_date) as m, sum(nights) as n from stays where nights >= $x group by 1"
  const slots = { properties: { x: { type: 'integer' } }, required: ['x'] }
  const examples = [{ question: 'how long do people stay', parameters: { x: 1 } }]
  await expectStatus(
    201,
    stage.owner.post(stage.path, { name: 'stay_figures', sql, slots, description: 'Stays.', examples }),
  )
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/queries/stay_figures`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'Example questions' }).click()
  const advice = page.getByRole('region', { name: 'Advice' })
  await advice.getByRole('button', { name: 'Run now' }).click()
  await advice.getByText('The query gives a row for each month, and its description does not say so.').waitFor()
  await advice.getByRole('button', { name: 'Take: Add “by month”' }).click()
  await advice.getByRole('button', { name: 'Take: Add “in total”' }).click()
  await advice.getByRole('button', { name: 'Take: Use “Minimum nights”' }).click()
  await page.getByRole('button', { name: 'Settings' }).click()
  expect(await page.getByLabel('Description').inputValue()).toBe('Stays, by month, in total.')
  await page.getByRole('button', { name: 'Example questions' }).click()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await advice.getByText('No suggestions.').waitFor()
  const { body } = await expectStatus(200, stage.owner.get(`${stage.path}/stay_figures`))
  expect(body).toMatchObject({
    description: 'Stays, by month, in total.',
    slots: { properties: { x: { type: 'integer', description: 'Minimum nights' } } },
  })
  expect(complaints).toEqual([])
})

test('a slot that the SQL no longer has is taken out of the examples in one act, which can be undone', async () => {
  const sql = 'select sum(nights) as n from stays where nights >= $x and id < $y'
  const slots = { properties: { x: { type: 'integer' }, y: { type: 'integer' } }, required: ['x', 'y'] }
  const examples = [
    { question: 'nights from two on', parameters: { x: 2, y: 9 } },
    { question: 'nights from three on', parameters: { x: 3, y: 9 } },
  ]
  await expectStatus(201, stage.owner.post(stage.path, { name: 'long_stays', sql, slots, examples }))
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/queries/long_stays`)
  page.setDefaultTimeout(waitMs)
  // The notice and its button stay while the slots are taken over: nothing is asked twice that would take them away.
  let asked = 0
  await page.getByText('Reads stays; gives n').waitFor()
  page.on('request', (request) => {
    if (request.url().endsWith('/queries/inspect')) asked += 1
  })
  await page.getByRole('textbox', { name: 'SQL' }).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('select sum(nights) as n from stays where nights >= $x')
  const notice = page.getByRole('status').filter({ hasText: /example/ })
  await notice.getByText('2 examples still use y').waitFor()
  await notice.getByRole('button', { name: 'Remove it' }).click()
  await notice.getByText('Removed y from 2 examples.').waitFor()
  await notice.getByRole('button', { name: 'Undo' }).click()
  await notice.getByText('2 examples still use y').waitFor()
  await notice.getByRole('button', { name: 'Remove it' }).click()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText('The draft is saved.').waitFor()
  const { body } = await expectStatus(200, stage.owner.get(`${stage.path}/long_stays`))
  expect(body.examples.map(({ parameters }: { parameters: object }) => parameters)).toEqual([{ x: 2 }, { x: 3 }])
  expect(asked).toBe(1)
  expect(complaints).toEqual([])
})

test('a value that is missing is asked for at its slot', async () => {
  const sql = 'select sum(nights) as n from stays where nights >= $at_least'
  const slots = { properties: { at_least: { type: 'integer' } }, required: ['at_least'] }
  await expectStatus(201, stage.owner.post(stage.path, { name: 'stays_from', sql, slots }))
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/queries/stays_from`)
  page.setDefaultTimeout(waitMs)
  const form = page.getByRole('form', { name: 'Slots' })
  await form.getByRole('button', { name: 'Run' }).click()
  await form.getByText('Is required.').waitFor()
  expect(await page.getByText(/^req_/).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('a slot offers the values of its column, and the result has types, time and rows', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/queries/nights_in`)
  page.setDefaultTimeout(waitMs)
  const form = page.getByRole('form', { name: 'Slots' })
  await form.getByLabel('city', { exact: false }).first().click()
  expect(await page.getByRole('option').allTextContents()).toEqual(expect.arrayContaining(['Gent', 'Lund', 'Porto']))
  await page.getByRole('option', { name: 'Gent' }).click()
  await form.getByRole('button', { name: 'Run' }).click()
  const result = page.getByRole('region', { name: 'Result', exact: true })
  await result.getByText('1 row', { exact: true }).waitFor()
  await result.getByText(/^\d+ ms$/).waitFor()
  await result.getByRole('columnheader', { name: 'nights, integer' }).waitFor()
  await result.getByRole('gridcell', { name: '5' }).waitFor()

  // On a phone the result is below what one sees: the page goes there once it has come.
  await page.setViewportSize({ width: 390, height: 844 })
  await page.evaluate('scrollTo(0, 0)')
  await form.getByLabel('city', { exact: false }).first().fill('Porto')
  await page.keyboard.press('Escape')
  await page.evaluate('scrollTo(0, 0)')
  await form.getByRole('button', { name: 'Run' }).press('Enter')
  await result.getByRole('gridcell', { name: '4' }).waitFor()
  await expect.poll(async () => (await result.boundingBox())?.y).toBeLessThan(400)
  expect(complaints).toEqual([])
})

test('a query that answers cannot be deleted, which is said; one that does not is deleted against its name', async () => {
  await stage.deploy('nights_in')
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/queries/nights_in`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'More for nights_in' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete nights_in' })
  await dialog.getByLabel('to confirm').fill('nights_in')
  await dialog.getByRole('button', { name: 'Delete nights_in' }).click()
  await dialog.getByRole('alert').waitFor()
  expect(await dialog.getByRole('alert').textContent()).toMatch(/deployed.*req_/s)
  await expectStatus(200, stage.owner.post(`${stage.path}/nights_in/undeploy`, { environment: 'production' }))
  await dialog.getByRole('button', { name: 'Delete nights_in' }).click()
  await page.getByText('The query nights_in is deleted.').waitFor()
  await page.getByRole('heading', { level: 1, name: 'Queries' }).waitFor()
  expect(await page.getByRole('link', { name: 'nights_in' }).count()).toBe(0)
  expect(complaints).toEqual([])
})
