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
  const visitor = await stage.visitAs(stage.owner, `/p/${stage.projectId}/ask`)
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

/** The newest card says by which query and with which values it is answered. */
async function answered(page: Page, query: string, values: Record<string, string> = {}): Promise<void> {
  const by = page.getByRole('article').last().getByRole('group', { name: 'Answered by' })
  await by.getByRole('link', { name: query }).waitFor()
  for (const [slot, value] of Object.entries(values)) {
    await by.getByRole('button', { name: `${slot}: ${value}. Change` }).waitFor()
  }
}

async function withKey(page: Page, secret: string): Promise<void> {
  await page.getByText('Ask as a caller').click()
  await page.getByText('With a key', { exact: true }).click()
  await page.getByLabel('API key', { exact: true }).fill(secret)
}

test('an answer is a card: a sentence, then its rows, then query, values, age and confidence; the next question goes on', async () => {
  const { page, complaints } = await open()
  await ask(page, 'how much did we sell in the east')
  await answered(page, 'sales_by_region', { region: 'east' })
  const card = page.getByRole('article', { name: 'how much did we sell in the east' })
  await card.getByText(/^Region east, revenue [\d,.]+\.$/).waitFor()
  // One number is a figure, not a table of one row.
  expect(await card.getByLabel('Answer', { exact: true }).textContent()).toMatch(/^[\d,.]+$/)
  expect(await card.getByRole('grid').count()).toBe(0)
  await card.getByText(/^data of /).waitFor()
  await card.getByText(/^\d+ % sure$/).waitFor()
  await card.getByText('How was this found?').click()
  await card.getByText('this project answers from 30 % on').waitFor()
  await card.getByRole('row', { name: 'region east “east”' }).waitFor()
  await page
    .getByText('Follow-up to “how much did we sell in the east” (sales_by_region with region = east).')
    .waitFor()
  await page.getByRole('textbox', { name: 'Follow-up question' }).waitFor()
  await ask(page, 'and in the south?')
  await page.getByText('Follow-up to “how much did we sell in the east”: region is south instead of east.').waitFor()
  await answered(page, 'sales_by_region', { region: 'south' })
  // The thread keeps both.
  expect(await page.getByRole('article').count()).toBe(2)
  expect(await findBarriers(page, 'ask-follow-up')).toEqual([])
  await page.getByRole('button', { name: 'New question' }).click()
  await ask(page, 'and in the south?')
  await page.getByRole('article').waitFor()
  await expect.poll(() => page.getByText('Follow-up to').count()).toBe(0)
  // With a key it goes on by the request before.
  await withKey(page, await stage.key('console', { plan: 'unlimited' }))
  await ask(page, 'how much did we sell in the north')
  await answered(page, 'sales_by_region', { region: 'north' })
  await ask(page, 'and in the east?')
  await page.getByText('Follow-up to “how much did we sell in the north”: region is east instead of north.').waitFor()
  expect(complaints).toEqual([])
})

test('a value of an answer is changed in place, and the same query answers with the new one', async () => {
  const { page, complaints } = await open()
  await ask(page, 'how much did we sell in the east')
  await answered(page, 'sales_by_region', { region: 'east' })
  await page.getByRole('button', { name: 'region: east. Change' }).click()
  await choose(page, 'region', 'north')
  expect(await findBarriers(page, 'ask-change-value')).toEqual([])
  await page.getByRole('button', { name: 'Apply' }).click()
  await answered(page, 'sales_by_region', { region: 'north' })
  await page.getByText(/^Region north, revenue /).waitFor()
  await page.getByText('values changed by hand').waitFor()
  // The words say east still, so nothing is made of them.
  expect(await page.getByText('may leave out').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'This answer is wrong' }).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('a viewer lands on questions, is offered some, and gets an answer with a click', async () => {
  const { page, complaints } = await stage.visitAs(stage.viewer, `/p/${stage.projectId}`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('heading', { name: 'Ask', level: 1 }).waitFor()
  const offered = page.getByRole('region', { name: 'Questions that are answered here' })
  await offered.getByRole('button').first().waitFor()
  expect(await findBarriers(page, 'ask')).toEqual([])
  await offered.getByRole('button', { name: 'revenue in the north' }).click()
  await answered(page, 'sales_by_region', { region: 'north' })
  expect(await page.getByRole('button', { name: 'This answer is wrong' }).count()).toBe(0)
  // Links to where questions were asked before lead here.
  await page.goto(`/p/${stage.projectId}/deploy/try?by=question&question=what+does+the+east+earn`)
  await page.getByRole('heading', { name: 'Ask', level: 1 }).waitFor()
  expect(await page.getByRole('textbox', { name: 'Question' }).inputValue()).toBe('what does the east earn')
  expect(complaints).toEqual([])
})

test('an environment in which nothing is deployed says so', async () => {
  const { page, complaints } = await stage.visitAs(stage.viewer, `/p/${stage.projectId}/ask?environment=preview`)
  await page.getByText('Nothing is deployed in preview yet. Deployed queries answer questions here.').waitFor()
  expect(complaints).toEqual([])
})

test('a wrong answer to a follow-up becomes a case that says everything', async () => {
  const { page, complaints } = await open()
  await ask(page, 'how much did we sell in the east')
  await answered(page, 'sales_by_region', { region: 'east' })
  await ask(page, 'and in the south?')
  await page.getByText(/^Follow-up to “.*”: /).waitFor()
  await page.getByRole('button', { name: 'This answer is wrong' }).last().click()
  const dialog = page.getByRole('dialog', { name: 'What would be right?' })
  const whole = dialog.getByRole('textbox', { name: 'The question in full' })
  expect(await whole.inputValue()).toBe('how much did we sell in the south')
  await choose(page, 'It should be answered by', 'sales_by_region')
  expect(await dialog.getByRole('combobox', { name: 'region' }).inputValue()).toBe('south')
  await whole.fill(' ')
  expect(await dialog.getByRole('button', { name: 'Keep it' }).isDisabled()).toBe(true)
  await whole.fill('how much did all of the south sell')
  expect(await findBarriers(page, 'ask-wrong-follow-up')).toEqual([])
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
  await page.getByRole('button', { name: /^Answer without (it|them)$/ }).click()
  await answered(page, 'sales_by_region', { region: 'east' })
  await page.getByText(/^This answer may leave out “.*new customers.*” \(/).waitFor()
  expect(complaints).toEqual([])
})

test('a value that the question lacks is asked for in place', async () => {
  const { page, complaints } = await open()
  await ask(page, 'how much did we sell')
  await page
    .getByText('sales_by_region would answer this, but the question does not say region.', { exact: true })
    .waitFor()
  const choices = page.getByRole('group', { name: 'region' })
  expect(await findBarriers(page, 'ask-missing', choices)).toEqual([])
  await choices.getByRole('button', { name: 'north' }).click()
  await answered(page, 'sales_by_region', { region: 'north' })
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
  await answered(page, 'audit_sample', { since: '2020-01-01', least: '1.5' })
  expect(complaints).toEqual([])
  await expectStatus(200, stage.owner.post(`${stage.path}/audit_sample/undeploy`, {}))
})

test('a wrong answer of a key is heeded at once', async () => {
  const { page, complaints } = await open()
  await withKey(page, await stage.key('reporter', { plan: 'unlimited' }))
  await ask(page, 'how much did we sell in the south')
  await answered(page, 'sales_by_region')
  await page.getByRole('button', { name: 'This answer is wrong' }).click()
  await choose(page, 'It should be answered by', 'nothing: it should be refused')
  await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click()
  await page.getByText('Heeded from now on, and kept as an evaluation case.').waitFor()
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'New question' }).click()
      await ask(page, 'how much did we sell in the south')
      await page.getByText('How was this found?').waitFor()
      return page.getByRole('button', { name: 'It should be answered' }).count()
    })
    .toBe(1)
  expect(complaints).toEqual([])
})

test('reports are listed, confirmed and removed beside evaluation cases; those can be asked at any time', async () => {
  const secret = await stage.key('doubter', { plan: 'unlimited' })
  const caller = stage.withToken(secret)
  const question = 'what does the north earn from resellers'
  const given = { query: question, project_id: stage.projectId, partial: true }
  const { headers } = await expectStatus(200, caller.post('/v1/query', given))
  const report = `/v1/projects/${stage.projectId}/questions/${String(headers['x-request-id'])}/report`
  await expectStatus(201, stage.viewer.post(report, { expected_query: null, note: 'resellers are not in the data' }))

  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/questions`)
  page.setDefaultTimeout(waitMs)
  const tab = (name: string) => page.getByRole('tab', { name })
  await tab('Reported 1').click()
  const row = page.getByRole('list', { name: 'Reported answers' }).getByRole('listitem').filter({ hasText: question })
  await row.getByText('sales_by_region answered it; nothing should.').waitFor()
  await row.getByText('“resellers are not in the data”').waitFor()
  await row.getByText('Not confirmed').waitFor()
  const kept = page.getByRole('list', { name: 'Evaluation cases' }).getByRole('listitem').filter({ hasText: question })
  await tab('Cases').click()
  await kept.getByText('it holds no deployment').waitFor()
  await page.getByRole('button', { name: 'Ask them in production' }).click()
  await page.getByText(/ answered as expected in production\.$/).waitFor()
  await tab('Reported').click()
  await row.getByRole('button', { name: /^Confirm that/ }).click()
  await row.getByText('Heeded').waitFor()
  await tab('Reported 0').waitFor()
  await tab('Cases').click()
  await kept.getByText('from a confirmed report').waitFor()
  await expectStatus(422, caller.post('/v1/query', given))
  await tab('Reported').click()
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await findBarriers(page, 'questions-reported', row)).toEqual([])
  await row.getByRole('button', { name: /^Remove the report of/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove it' }).click()
  await row.waitFor({ state: 'detached' })
  await expectStatus(200, caller.post('/v1/query', given))
  await tab('Cases').click()
  await kept.getByRole('button', { name: /^Remove the case/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove it' }).click()
  await kept.waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('a wrong answer becomes an evaluation case with the right query and values', async () => {
  const { page, complaints } = await open()
  await ask(page, 'what does the east earn')
  await answered(page, 'sales_by_region')
  await page.getByRole('button', { name: 'This answer is wrong' }).click()
  const dialog = page.getByRole('dialog', { name: 'What would be right?' })
  const keep = dialog.getByRole('button', { name: 'Keep it' })
  // Nothing is confirmed that nobody chose.
  expect(await keep.count()).toBe(0)
  await choose(page, 'It should be answered by', 'sales_by_region')
  expect(await dialog.getByRole('combobox', { name: 'region' }).inputValue()).toBe('east')
  await choose(page, 'region', 'south')
  expect(await findBarriers(page, 'ask-wrong')).toEqual([])
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
