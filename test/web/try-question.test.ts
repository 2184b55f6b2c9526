import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { findBarriers } from './barriers.ts'
import { openStage, waitMs, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  const region = { type: 'string', enum: ['north', 'south', 'east'], description: 'Where the shop is.' }
  await stage.edit('sales_by_region', { slots: { properties: { region }, required: ['region'] } })
  await stage.deploy('sales_by_region', 'all_orders')
})
afterAll(() => stage.close())

async function open(): Promise<{ page: Page; complaints: string[] }> {
  const visitor = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/try?by=question`)
  visitor.page.setDefaultTimeout(waitMs)
  return visitor
}

async function ask(page: Page, question: string): Promise<void> {
  const box = page.getByRole('textbox', { name: 'Question' })
  await box.fill(question)
  await box.press('Enter')
}

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

const answer = (page: Page) => page.getByRole('grid', { name: 'Rows of the answer' })

test('the answer comes first, under it what was understood and how sure that is; the next question goes on', async () => {
  const { page, complaints } = await open()
  await ask(page, 'how much did we sell in the east')
  await page
    .getByText(/^Answered by sales_by_region with region = east, \d+ % sure; this project answers from 30 % on\.$/)
    .waitFor()
  const headings = await page.getByRole('heading', { level: 2 }).allTextContents()
  expect(headings.indexOf('Answer')).toBeLessThan(headings.indexOf('How it was understood'))
  await page
    .getByText('Follow-up to “how much did we sell in the east” (sales_by_region with region = east).')
    .waitFor()
  await page.getByRole('textbox', { name: 'Follow-up question' }).waitFor()
  await ask(page, 'and in the south?')
  await page.getByText('Follow-up to “how much did we sell in the east”: region is south instead of east.').waitFor()
  await page.getByText(/^Answered by sales_by_region with region = south/).waitFor()
  await answer(page).getByText('south').waitFor()
  expect(await findBarriers(page, 'try-follow-up')).toEqual([])
  await page.getByRole('button', { name: 'New question' }).click()
  await ask(page, 'and in the south?')
  await expect.poll(() => page.getByText('Follow-up to').count()).toBe(0)
  // With a key it goes on by the request before.
  await page.getByText('With a key').click()
  await page.getByLabel('API key').fill(await stage.key('console', { plan: 'unlimited' }))
  await ask(page, 'how much did we sell in the north')
  await page.getByText(/^Answered by sales_by_region with region = north/).waitFor()
  await ask(page, 'and in the east?')
  await page.getByText('Follow-up to “how much did we sell in the north”: region is east instead of north.').waitFor()
  expect(complaints).toEqual([])
})

test('a wrong answer to a follow-up becomes a case that says everything', async () => {
  const { page, complaints } = await open()
  await ask(page, 'how much did we sell in the east')
  await page.getByText(/^Answered by sales_by_region with region = east/).waitFor()
  await ask(page, 'and in the south?')
  await page.getByText(/^Follow-up to “.*”: /).waitFor()
  await page.getByRole('button', { name: 'This answer is wrong' }).click()
  const dialog = page.getByRole('dialog', { name: 'What would be right?' })
  const whole = dialog.getByRole('textbox', { name: 'The question in full' })
  expect(await whole.inputValue()).toBe('how much did we sell in the south')
  await choose(page, 'It should be answered by', 'sales_by_region')
  expect(await dialog.getByRole('combobox', { name: 'region' }).inputValue()).toBe('south')
  await whole.fill(' ')
  expect(await dialog.getByRole('button', { name: 'Keep it' }).isDisabled()).toBe(true)
  await whole.fill('how much did all of the south sell')
  expect(await findBarriers(page, 'try-wrong-follow-up')).toEqual([])
  await dialog.getByRole('button', { name: 'Keep it' }).click()
  await page.getByText(/^Kept as an evaluation case: every deployment asks it again\./).waitFor()
  const meant = { question: 'how much did all of the south sell', parameters: { region: 'south' } }
  const taught = await expectStatus(200, stage.owner.get(`${stage.path}/sales_by_region`))
  expect(taught.body.examples).toContainEqual(meant)
  const cases = await expectStatus(200, stage.owner.get(`/v1/projects/${stage.projectId}/evaluations`))
  const { question, parameters } = meant
  expect(cases.body.data).toContainEqual(expect.objectContaining({ question, expected_parameters: parameters }))
  expect(cases.body.data.map((each: { question: string }) => each.question)).not.toContain('and in the south?')
  expect(complaints).toEqual([])
})

test('what is not expressed is named in a line, and answered without it when asked to', async () => {
  const { page, complaints } = await open()
  await ask(page, 'how much did we sell in the east to new customers')
  await page.getByText(/“.*new customers.*” .*cannot be applied here/).waitFor()
  await page.getByText('Not answered', { exact: true }).waitFor()
  await page.getByRole('button', { name: /^Answer without (it|them)$/ }).click()
  await page.getByText(/^Answered by sales_by_region with region = east/).waitFor()
  await page.getByText(/^This answer may leave out “.*new customers.*” \(/).waitFor()
  await answer(page).waitFor()
  expect(complaints).toEqual([])
})

test('a value that the question lacks is asked for in place', async () => {
  const { page, complaints } = await open()
  await ask(page, 'how much did we sell')
  await page
    .getByText('sales_by_region would answer this, but the question does not say region.', { exact: true })
    .waitFor()
  await choose(page, 'region', 'north')
  expect(await findBarriers(page, 'try-missing', page.getByRole('combobox', { name: 'region' }))).toEqual([])
  await page.getByRole('button', { name: 'Ask with this value' }).click()
  await page.getByText(/^Answered by sales_by_region with region = north/).waitFor()
  expect(complaints).toEqual([])
})

test('each kind of value that is missing is asked for with its own control', async () => {
  const properties = {
    since: { type: 'string', format: 'date' },
    least: { type: 'number' },
    cheap: { type: 'boolean' },
    places: { type: 'array', items: { type: 'string', enum: ['north', 'south'] } },
  }
  const audit = {
    name: 'audit_sample',
    description: 'A sample of records for the auditors.',
    sql: 'select id from orders where day >= $since and amount >= $least and ($cheap or true) and list_contains($places, region) limit 5',
    slots: { properties, required: Object.keys(properties) },
    examples: [{ question: 'give me the audit sample' }, { question: 'sample of records for the auditors' }],
  }
  await expectStatus(201, stage.owner.post(stage.path, audit))
  await stage.deploy('audit_sample')
  const { page, complaints } = await open()
  await ask(page, 'give me the audit sample')
  await page.getByText(/^audit_sample would answer this, but the question does not say/).waitFor()
  expect(await page.getByLabel('since').getAttribute('type')).toBe('date')
  await page.getByLabel('since').fill('2020-01-01')
  expect(await page.getByLabel('least').getAttribute('inputmode')).toBe('decimal')
  await page.getByLabel('least').fill('1.5')
  await choose(page, 'cheap', 'true')
  await choose(page, 'places', 'south')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Ask with these values' }).click()
  await page.getByText(/^Answered by audit_sample with since = 2020-01-01, least = 1.5/).waitFor()
  expect(complaints).toEqual([])
  await expectStatus(200, stage.owner.post(`${stage.path}/audit_sample/undeploy`, {}))
})

test('a wrong answer of a key is heeded at once', async () => {
  const { page, complaints } = await open()
  await page.getByText('With a key').click()
  await page.getByLabel('API key').fill(await stage.key('reporter', { plan: 'unlimited' }))
  await ask(page, 'how much did we sell in the south')
  await page.getByText(/^Answered by sales_by_region/).waitFor()
  await page.getByRole('button', { name: 'This answer is wrong' }).click()
  await choose(page, 'It should be answered by', 'nothing: it should be refused')
  await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click()
  await page.getByText('Heeded from now on, and kept as an evaluation case.').waitFor()
  await page.getByRole('button', { name: 'New question' }).click()
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Ask', exact: true }).click()
      return page.getByText('422').count()
    })
    .toBeGreaterThan(0)
  expect(complaints).toEqual([])
})

test('reports are listed, confirmed and removed where evaluation cases are; those can be asked at any time', async () => {
  const secret = await stage.key('doubter', { plan: 'unlimited' })
  const caller = stage.withToken(secret)
  const question = 'what does the north earn from resellers'
  const given = { query: question, project_id: stage.projectId, partial: true }
  const { headers } = await expectStatus(200, caller.post('/v1/query', given))
  const report = `/v1/projects/${stage.projectId}/questions/${String(headers['x-request-id'])}/report`
  await expectStatus(201, stage.viewer.post(report, { expected_query: null, note: 'resellers are not in the data' }))

  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/questions`)
  page.setDefaultTimeout(waitMs)
  const row = page.getByRole('list', { name: 'Reported answers' }).getByRole('listitem').filter({ hasText: question })
  await row.getByText('sales_by_region answered it; nothing should.').waitFor()
  await row.getByText('“resellers are not in the data”').waitFor()
  await row.getByText('Not confirmed').waitFor()
  const kept = page.getByRole('list', { name: 'Evaluation cases' }).getByRole('listitem').filter({ hasText: question })
  await kept.getByText('it holds no deployment').waitFor()
  await page.getByRole('button', { name: 'Ask them in production' }).click()
  await page.getByText(/ answered as expected in production\.$/).waitFor()
  await row.getByRole('button', { name: /^Confirm that/ }).click()
  await row.getByText('Heeded').waitFor()
  await kept.getByText('from a confirmed report').waitFor()
  await expectStatus(422, caller.post('/v1/query', given))
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await findBarriers(page, 'questions-reported', row)).toEqual([])
  await row.getByRole('button', { name: /^Remove the report of/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove it' }).click()
  await row.waitFor({ state: 'detached' })
  await expectStatus(200, caller.post('/v1/query', given))
  await kept.getByRole('button', { name: /^Remove the case/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove it' }).click()
  await kept.waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('a wrong answer becomes an evaluation case with the right query and values', async () => {
  const { page, complaints } = await open()
  await ask(page, 'what does the east earn')
  await page.getByText(/^Answered by sales_by_region/).waitFor()
  await page.getByRole('button', { name: 'This answer is wrong' }).click()
  const dialog = page.getByRole('dialog', { name: 'What would be right?' })
  const keep = dialog.getByRole('button', { name: 'Keep it' })
  // Nothing is confirmed that nobody chose.
  expect(await keep.count()).toBe(0)
  await choose(page, 'It should be answered by', 'sales_by_region')
  expect(await dialog.getByRole('combobox', { name: 'region' }).inputValue()).toBe('east')
  await choose(page, 'region', 'south')
  expect(await findBarriers(page, 'try-wrong')).toEqual([])
  await keep.click()
  await page
    .getByText(
      'Kept as an evaluation case: every deployment asks it again. An example of sales_by_region, too, from its next deployment on.',
    )
    .waitFor()
  const taught = await expectStatus(200, stage.owner.get(`${stage.path}/sales_by_region`))
  expect(taught.body.examples).toContainEqual({ question: 'what does the east earn', parameters: { region: 'south' } })
  const cases = await expectStatus(200, stage.owner.get(`/v1/projects/${stage.projectId}/evaluations`))
  expect(cases.body.data).toContainEqual(
    expect.objectContaining({
      question: 'what does the east earn',
      expected_query: 'sales_by_region',
      expected_parameters: { region: 'south' },
    }),
  )
  expect(complaints).toEqual([])
})
