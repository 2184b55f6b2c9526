import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { openStage, rail, waitMs, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

test('calls appear in the live tail and in the metrics, and a missed question becomes an example', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/requests`)
  page.setDefaultTimeout(waitMs)
  const caller = stage.withToken(await stage.key('reporting', { plan: 'unlimited' }))
  await stage.deploy('sales_by_region')
  await page.getByText('New ones appear as they are made.').waitFor()
  for (const region of ['north', 'south', 'west']) await caller.post('/v1/queries/sales_by_region', { region })
  await caller.post('/v1/queries/sales_by_region', {})
  const tail = page.getByRole('region', { name: 'Requests' })
  await tail.getByRole('row').filter({ hasText: '400 missing_slots' }).first().waitFor()

  await rail(page, 'Metrics').click()
  await page.getByRole('region', { name: 'Popular queries' }).getByRole('link', { name: 'sales_by_region' }).waitFor()
  await page.getByRole('button', { name: 'Show calls as a table' }).click()
  await page.getByRole('region', { name: 'Calls' }).getByRole('row').nth(1).waitFor()
  await page.getByRole('region', { name: 'What went wrong' }).getByText('missing_slots').waitFor()

  const question = 'which colour does the moon have'
  await caller.post('/v1/query', { query: question, project_id: stage.projectId })
  await page.goto(`/p/${stage.projectId}/deploy/questions`)
  const missed = page
    .getByRole('list', { name: 'Unanswered questions' })
    .getByRole('listitem')
    .filter({ hasText: question })
  await missed.getByLabel('Query that should answer').click()
  await page.getByRole('option', { name: 'all_orders' }).click()
  await missed.getByRole('button', { name: 'Make it an example' }).click()
  await missed.waitFor({ state: 'detached' })
  const taught = await stage.owner.get(`${stage.path}/all_orders`)
  expect(taught.body.examples).toMatchObject([{ question }])
  expect(complaints).toEqual([])
})

test('a question shows which words gave which value, and which query answers', async () => {
  const question = (region: string) => `how many orders came from the ${region}`
  await expectStatus(
    201,
    stage.owner.post(stage.path, {
      name: 'count_by_region',
      description: 'The number of orders that came from one region.',
      sql: 'select count(*) as orders from orders where region = $region',
      slots: { properties: { region: { type: 'string', enum: ['north', 'south', 'east'] } }, required: ['region'] },
      examples: [
        { question: question('north'), parameters: { region: 'north' } },
        { question: question('south'), parameters: { region: 'south' } },
        { question: 'number of orders from the east', parameters: { region: 'east' } },
      ],
    }),
  )
  await stage.deploy('count_by_region')
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/try?by=question`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('textbox', { name: 'Question' }).fill(question('east'))
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByText('Answered by count_by_region').waitFor()
  await page.getByRole('row', { name: 'region east “east”' }).waitFor()
  await page.getByRole('region', { name: 'Rows of the answer' }).getByRole('cell', { name: '1000' }).waitFor()
  expect(complaints).toEqual([])
})
