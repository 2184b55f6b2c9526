import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { findBarriers } from './barriers.ts'
import { hasFocus } from './by-keyboard.ts'
import { deployedList, openStage, rail, waitMs, type Stage } from './stage.ts'

const run = promisify(execFile)

let stage: Stage
beforeAll(async () => {
  stage = await openStage({})
})
afterAll(() => stage.close())

test('calls appear in the live tail and in the metrics, and a missed question becomes an example', async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy/requests`)
  page.setDefaultTimeout(waitMs)
  const caller = stage.withToken(await stage.key('reporting', { plan: 'unlimited' }))
  await stage.deploy('all_orders', 'sales_by_region')
  await page.getByText('New ones appear as they are made.').waitFor()
  for (const region of ['north', 'south', 'west']) await caller.post('/v1/queries/sales_by_region', { region })
  await caller.post('/v1/queries/sales_by_region', {})
  const tail = page.getByRole('region', { name: 'Requests' })
  await tail.getByRole('row').filter({ hasText: '400 missing_slots' }).first().waitFor()

  await page.goto(`/p/${stage.projectId}/deploy/endpoints`)
  const row = deployedList(page).getByRole('row').filter({ hasText: 'sales_by_region' })
  await expect.poll(() => row.textContent()).toMatch(/4–25 %\d[\d.]*\sms/)
  // All of it happened just now: one bar, the last, at its full height over a line for the whole week.
  expect(await row.locator('svg line').count()).toBe(1)
  expect(await row.locator('svg rect').last().getAttribute('y')).toBe('1.0')

  await rail(page, 'Usage').click()
  const tiles = page.getByRole('main').locator('dl').first()
  await expect.poll(() => tiles.textContent()).toMatch(/^Calls4Errors25 %1 of 4Average\d.*p95\d/)
  // All of it in one piece of time: a dot for each line, where a line has nowhere to go.
  await expect.poll(() => page.locator('circle[data-lone="p95_ms"]').count()).toBe(1)
  expect(await page.locator('circle[data-lone="error_percent"]').count()).toBe(1)
  await page.getByRole('button', { name: 'Show response time as a table' }).click()
  const times = page.getByRole('region', { name: 'Response time' }).getByRole('row')
  expect(await times.first().textContent()).toBe('TimeAverageMedianp95p99')
  await times
    .filter({ hasText: /([\d.,]+ ms){4}$/ })
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Show error rate as a table' }).click()
  await page.getByRole('region', { name: 'Error rate' }).getByRole('row').filter({ hasText: '25 %' }).waitFor()
  await page.getByRole('region', { name: 'Popular queries' }).getByRole('link', { name: 'sales_by_region' }).waitFor()
  await page.getByRole('button', { name: 'Show calls as a table' }).click()
  await page.getByRole('region', { name: 'Calls' }).getByRole('row').nth(1).waitFor()
  const wrong = page
    .getByRole('region', { name: 'What went wrong' })
    .getByRole('row')
    .filter({ hasText: 'missing_slots' })
  await wrong.getByText('A required slot had no value.').waitFor()
  expect(await wrong.getByRole('link', { name: 'Show calls' }).getAttribute('href')).toMatch(
    /requests\?hours=24&status=400&error=invalid_query$/,
  )

  const question = 'which colour does the moon have'
  await caller.post('/v1/query', { query: question, project_id: stage.projectId })
  await page.reload()
  await page.getByText('1 asked, 0 % answered, 1 refused.').waitFor()
  const missed = page
    .getByRole('list', { name: 'Unanswered questions' })
    .getByRole('listitem')
    .filter({ hasText: question })
  await missed.getByRole('button', { name: question }).click()
  await missed.getByRole('button', { name: 'Make it an example…' }).waitFor()
  // What is filtered is the page as a whole: nothing of it happened elsewhere.
  await page.getByRole('combobox', { name: 'Query', exact: true }).click()
  await page.getByRole('option', { name: 'all_orders' }).click()
  await expect.poll(() => tiles.textContent()).toMatch(/^Calls0/)
  await page.goto(`/p/${stage.projectId}/deploy/metrics?environment=staging`)
  await expect.poll(() => tiles.textContent()).toMatch(/^Calls0/)
  // Questions are read and put away by the keyboard, and many at once.
  for (const query of ['who painted the bridge', 'how deep is the sea'])
    await caller.post('/v1/query', { query, project_id: stage.projectId })
  await page.goto(`/p/${stage.projectId}/deploy/questions`)
  await page.getByRole('tab', { name: 'Unanswered 3' }).waitFor()
  const lines = page.getByRole('list', { name: 'Unanswered questions' }).getByRole('button', { expanded: false })
  await lines.first().focus()
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => hasFocus(lines.nth(1))).toBe(true)
  expect(await findBarriers(page, 'questions-inbox')).toEqual([])
  for (const query of ['who painted the bridge', 'how deep is the sea'])
    await page.getByRole('checkbox', { name: `Choose “${query}”` }).check()
  await page.getByRole('button', { name: 'Ignore 2 questions' }).click()
  await page.getByRole('tab', { name: 'Unanswered 1' }).waitFor()
  await missed.getByRole('button', { name: question }).click()
  await missed.getByRole('button', { name: 'Make it an example…' }).click()
  const teaching = page.getByRole('dialog', { name: 'Which query answers this?' })
  // Nothing is taught that nobody chose: not what came nearest, and not without the values that it needs.
  expect(await teaching.getByRole('combobox', { name: 'Query' }).inputValue()).toBe('')
  expect(await teaching.getByRole('button', { name: 'Make it an example' }).count()).toBe(0)
  await teaching.getByRole('combobox', { name: 'Query' }).click()
  await page.getByRole('option', { name: 'sales_by_region' }).click()
  await teaching.getByText('The question does not say it. Which one is meant?').waitFor()
  expect(await teaching.getByRole('button', { name: 'Make it an example' }).isDisabled()).toBe(true)
  await teaching.getByRole('combobox', { name: 'Query' }).click()
  await page.getByRole('option', { name: 'all_orders' }).click()
  await teaching.getByLabel('Keep as an evaluation case').uncheck()
  await teaching.getByRole('button', { name: 'Make it an example' }).click()
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
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/ask`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('textbox', { name: 'Question' }).fill(question('east'))
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  const card = page.getByRole('article').last()
  await card.getByRole('link', { name: 'count_by_region' }).waitFor()
  await card.getByText('How was this found?').click()
  await page.getByRole('row', { name: 'region east “east”' }).waitFor()
  await page
    .getByRole('region', { name: 'Candidates' })
    .getByRole('row', { name: /^count_by_region \d+ % how many orders came from the/ })
    .waitFor()
  await card.getByLabel('Answer', { exact: true }).getByText('1,000').waitFor()

  const secret = await stage.key('asking')
  await page.getByRole('button', { name: 'New question' }).click()
  await page.getByText('Ask as a caller').click()
  await page.getByText('With a key', { exact: true }).click()
  await page.getByLabel('API key', { exact: true }).fill(secret)
  await page.getByRole('textbox', { name: 'Question' }).fill(question('south'))
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await card.getByText('How was this found?').click()
  await page.getByRole('row', { name: 'region south “south”' }).waitFor()
  await card.getByText('From your code').click()
  await page.getByRole('button', { name: 'Copy snippet' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const curl = String(await page.evaluate('navigator.clipboard.readText()'))
  const env = { ...process.env, SLUICE_API_KEY: secret }
  const { stdout } = await run('bash', ['-c', curl], { env, timeout: waitMs })
  expect(JSON.parse(stdout)).toMatchObject({ query_used: 'count_by_region', parameters: { region: 'south' } })
  expect(complaints).toEqual([])
})
