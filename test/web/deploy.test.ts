import { AxeBuilder } from '@axe-core/playwright'
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, type Person } from '../harness/app.ts'
import { orders, putTable } from '../harness/tables.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'

const artefacts = join(import.meta.dirname, '../artefacts')
const run = promisify(execFile)
const waitMs = 20_000
/** Often enough to be quick, seldom enough for the limits of a key. */
const polled = { timeout: 5_000, interval: 250 }

let t: TestWeb
let owner: Person
let viewer: Person
let projectId: string
let path: string

const salesSql = 'select region, sum(amount) as revenue from orders where region = $region group by region'

beforeAll(async () => {
  await mkdir(artefacts, { recursive: true })
  t = await openTestWeb()
  projectId = await t.project('Corner shop')
  path = `/v1/projects/${projectId}/queries`
  owner = await t.member(projectId, 'owner')
  viewer = await t.member(projectId, 'viewer')
  await owner.patch('/v1/session/user', { name: 'Ada Lindqvist' })
  await owner.post(`/v1/projects/${projectId}/environments`, { name: 'preview' })
  await putTable(t.app, projectId, { name: 'orders', rows: orders(3000) })
  await expectStatus(
    201,
    owner.post(path, {
      name: 'sales_by_region',
      description: 'Revenue of one region.',
      sql: salesSql,
      slots: {
        properties: {
          region: { type: 'string', 'x-values-from': 'orders.region', description: 'north, south or east' },
        },
        required: ['region'],
      },
      examples: [
        { question: 'revenue in the north', parameters: { region: 'north' } },
        { question: 'how much did we sell in the south', parameters: { region: 'south' } },
        { question: 'sales of the east', parameters: { region: 'east' } },
        { question: 'what does the north earn', parameters: { region: 'north' } },
      ],
    }),
  )
  await expectStatus(
    201,
    owner.post(path, { name: 'all_orders', sql: 'select * from orders order by id', description: 'Every order.' }),
  )
})
afterAll(() => t.close())

async function edit(name: string, changes: Record<string, unknown>): Promise<void> {
  await expectStatus(200, owner.put(`${path}/${name}`, changes))
}

function deployed(page: Page, environment = 'production') {
  return page.getByRole('list', { name: `Deployed in ${environment}`, exact: true })
}

async function callWith(secret: string, name: string, environment = 'production') {
  return t.withToken(secret).post(`/v1/queries/${name}`, { region: 'north' }, { 'x-sluice-environment': environment })
}

test('a query is deployed, called with a new key by the copied line, broken, rolled back and undeployed', async () => {
  const { page, complaints } = await t.visitAs(owner, `/p/${projectId}/deploy`)
  page.setDefaultTimeout(waitMs)

  await page.getByText('Nothing answers in production yet').waitFor()
  await page.getByRole('button', { name: 'Deploy sales_by_region' }).click()
  const sheet = page.getByRole('dialog', { name: 'Deploy sales_by_region to production' })
  await sheet.getByText('no caller is affected').waitFor()
  await sheet.getByRole('button', { name: 'Deploy version 1' }).click()
  await page.getByText('Version 1 of sales_by_region now answers in production.').waitFor()
  await deployed(page).getByText('deployed by Ada Lindqvist').waitFor()

  await page.getByRole('navigation', { name: 'Deploy' }).getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('button', { name: 'New API key' }).click()
  const making = page.getByRole('dialog', { name: 'New API key' })
  await making.getByLabel('Name').fill('web shop')
  await making.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Shown only this once').waitFor()
  const secret = await page.getByRole('dialog').getByLabel('API key', { exact: true }).inputValue()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await page.getByText('everything in production').waitFor()
  expect(await page.content()).not.toContain(secret)

  await page.getByRole('navigation', { name: 'Deploy' }).getByRole('link', { name: 'Try it' }).click()
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByText('200 OK').waitFor()
  await page.getByRole('cell', { name: 'north' }).waitFor()
  await page.getByText('With a key', { exact: true }).click()
  await page.getByLabel('API key', { exact: true }).fill(secret)
  await page.getByRole('textbox', { name: 'region' }).fill('south')
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByRole('cell', { name: 'south' }).waitFor()
  await page.getByText('Headers', { exact: true }).click()
  await page.getByText('x-sluice-version: 1').waitFor()

  const pasted: Record<string, string> = {}
  for (const language of ['curl', 'TypeScript', 'Python']) {
    await page.getByText(language, { exact: true }).click()
    await page.getByRole('button', { name: 'Copy snippet' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    pasted[language] = String(await page.evaluate('navigator.clipboard.readText()'))
    await page.getByRole('button', { name: 'Copy snippet' }).waitFor()
  }
  const env = { ...process.env, SLUICE_API_KEY: secret }
  expect(JSON.stringify(pasted)).not.toContain(secret)
  const byCurl = await run('bash', ['-c', pasted['curl'] ?? ''], { env, timeout: waitMs })
  expect(JSON.parse(byCurl.stdout)).toMatchObject({ data: [{ region: 'south' }], version: 1 })
  const script = join(artefacts, 'snippet.mts')
  await writeFile(script, pasted['TypeScript'] ?? '')
  const byTypeScript = await run(process.execPath, [script], { env, timeout: waitMs })
  expect(byTypeScript.stdout).toContain("region: 'south'")
  const byPython = await run('python3', ['-c', pasted['Python'] ?? ''], { env, timeout: waitMs })
  expect(byPython.stdout).toContain("'region': 'south'")

  await edit('sales_by_region', {
    sql: 'select region, count(*) as orders from orders where region = $region group by region',
  })
  await page.goto(`/p/${projectId}/deploy/endpoints/sales_by_region`)
  await page.getByText('Changed since').waitFor()
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await sheet.getByText('Existing callers would break.').waitFor()
  await sheet.getByText('Removes column revenue').waitFor()
  await sheet.getByText('Adds column orders').waitFor()
  await sheet.getByRole('listitem').filter({ hasText: 'web shop' }).waitFor()
  await page.screenshot({ path: join(artefacts, 'deploy-breaking-light-1280.png') })
  const go = sheet.getByRole('button', { name: 'Deploy version 2' })
  expect(await go.isDisabled()).toBe(true)
  await sheet.getByLabel('Deploy it all the same').check()
  await go.click()
  await page.getByText('Version 2 in production').waitFor()
  expect((await callWith(secret, 'sales_by_region')).body).toMatchObject({ version: 2, data: [{ orders: 1000 }] })

  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Promote to preview' }).click()
  const promote = page.getByRole('dialog', { name: 'Promote sales_by_region to preview' })
  await promote.getByRole('button', { name: 'Promote version 2' }).click()
  await page.getByText('Version 2 in preview').waitFor()

  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Roll back to version 1' }).click()
  const rollback = page.getByRole('dialog', { name: 'Roll back sales_by_region in production' })
  await rollback.getByText('Adds column revenue').waitFor()
  await rollback.getByRole('button', { name: 'Roll back to version 1' }).click()
  await page.getByText('Version 1 in production').waitFor()
  expect((await callWith(secret, 'sales_by_region')).body).toMatchObject({ version: 1 })

  await page.getByRole('link', { name: 'History' }).click()
  await page.getByText('rolled production back to version 1 from 2').waitFor()
  await page.getByRole('link', { name: 'Versions' }).click()
  await page.getByRole('region', { name: 'Difference' }).getByText('count(*) as orders').waitFor()

  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Undeploy from production' }).click()
  const undeploy = page.getByRole('dialog', { name: 'Undeploy sales_by_region from production' })
  await undeploy.getByRole('listitem').filter({ hasText: 'web shop' }).waitFor()
  await undeploy.getByRole('button', { name: 'Undeploy sales_by_region' }).click()
  await page.getByText('Not deployed in production').waitFor()
  expect((await callWith(secret, 'sales_by_region')).status).toBe(404)

  // The environment is in the address: what is shown survives a reload and can be sent on.
  await page.getByRole('button', { name: 'Environment production: choose another' }).click()
  await page.getByRole('menuitem', { name: 'preview' }).click()
  await page.getByText('Version 2 in preview').waitFor()
  expect(new URL(page.url()).searchParams.get('environment')).toBe('preview')
  await page.reload()
  await page.getByRole('button', { name: 'Environment preview: choose another' }).waitFor()
  expect(complaints).toEqual([])
})

test('a key is limited to what is ticked, rotated, disabled, enabled and revoked', async () => {
  await expectStatus(200, owner.post(`${path}/all_orders/deploy`, { environment: 'production' }))
  await expectStatus(200, owner.post(`${path}/sales_by_region/deploy`, { environment: 'production', force: true }))
  const { page, complaints } = await t.visitAs(owner, `/p/${projectId}/deploy/keys`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'New API key' }).click()
  const making = page.getByRole('dialog', { name: 'New API key' })
  await making.getByRole('button', { name: 'Create key' }).click()
  await making.getByText('Name it after what will call with it.').waitFor()
  await making.getByLabel('Name').fill('north office')
  const queries = making.getByRole('group', { name: 'Queries of Corner shop' })
  await queries.getByLabel('Only these').check()
  await queries.getByLabel('sales_by_region').check()
  await making.getByRole('button', { name: 'Fix a slot' }).click()
  await making.getByLabel('Slot 1', { exact: true }).fill('region')
  await making.getByLabel('Value of slot 1').fill('north')
  await making.getByLabel('It is good for').click()
  await page.getByRole('option', { name: '90 days' }).click()
  await making.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Shown only this once').waitFor()
  const first = await page.getByRole('dialog').getByLabel('API key', { exact: true }).inputValue()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  const fixed = await t.withToken(first).post('/v1/queries/sales_by_region', {})
  expect(fixed.body.data).toMatchObject([{ region: 'north' }])
  expect((await t.withToken(first).post('/v1/queries/all_orders', {})).status).toBe(403)

  await page.getByRole('link', { name: 'north office' }).click()
  await page.getByRole('heading', { level: 1, name: 'north office' }).waitFor()
  const reach = page.getByRole('region', { name: 'What it reaches' })
  await reach.getByRole('row', { name: 'Corner shop production sales_by_region' }).waitFor()
  await page.getByText('region = "north"').waitFor()
  const status = async (): Promise<number> => (await t.withToken(first).post('/v1/queries/sales_by_region', {})).status
  const choose = async (item: string): Promise<void> => {
    await page.getByRole('button', { name: 'What to do with north office' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }

  await choose('Disable')
  await page.getByRole('dialog').getByRole('button', { name: 'Disable north office' }).click()
  await page.getByText('Nothing while it is disabled.').waitFor()
  await expect.poll(status, polled).toBe(401)
  await choose('Enable')
  await page.getByText('north office works again.').waitFor()
  await expect.poll(status, polled).toBe(200)

  await choose('Rotate')
  const rotating = page.getByRole('dialog', { name: 'Rotate north office' })
  await rotating.getByLabel('The old secret stays good for').click()
  await page.getByRole('option', { name: 'Not at all' }).click()
  await rotating.getByRole('button', { name: 'Rotate north office' }).click()
  const second = await page.getByRole('dialog').getByLabel('API key', { exact: true }).inputValue()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await expect.poll(status, polled).toBe(401)
  const fresh = async (): Promise<number> => (await t.withToken(second).post('/v1/queries/sales_by_region', {})).status
  await expect.poll(fresh, polled).toBe(200)

  await choose('Revoke')
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke north office' }).click()
  await page.getByText('north office is revoked.').waitFor()
  await expect.poll(fresh, polled).toBe(401)
  await page.getByRole('button', { name: 'What to do with north office' }).waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('a viewer sees everything, changes nothing, and calls only with a key', async () => {
  await expectStatus(200, owner.post(`${path}/sales_by_region/deploy`, { force: true }))
  const { page, complaints } = await t.visitAs(viewer, `/p/${projectId}/deploy`)
  page.setDefaultTimeout(waitMs)
  await page.getByText('You are a viewer here. Editors deploy').waitFor()
  await deployed(page).getByRole('link', { name: 'sales_by_region' }).click()
  await page.getByRole('heading', { name: 'Columns' }).waitFor()
  expect(await page.getByRole('button', { name: /^(Deploy|More)$/ }).count()).toBe(0)
  await page.getByRole('link', { name: 'Versions' }).click()
  await page.getByRole('list', { name: 'Versions' }).waitFor()
  expect(await page.getByRole('button', { name: /^(Roll back to|Deploy) version/ }).count()).toBe(0)
  await page.getByRole('navigation', { name: 'sales_by_region' }).getByRole('link', { name: 'Try it' }).click()
  await page.getByText('You are a viewer here: calls need an API key.').waitFor()
  await page.getByRole('navigation', { name: 'Deploy' }).getByRole('link', { name: 'API keys' }).click()
  await page.getByText('Ask one of them for a key.').waitFor()
  expect(await page.getByRole('button', { name: 'New API key' }).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('calls appear in the live tail and in the metrics, and a missed question becomes an example', async () => {
  const { page, complaints } = await t.visitAs(owner, `/p/${projectId}/deploy/requests`)
  page.setDefaultTimeout(waitMs)
  const made = await expectStatus(
    201,
    owner.post('/v1/api-keys', {
      name: 'reporting',
      plan: 'unlimited',
      permissions: [{ project_id: projectId, environments: '*' }],
    }),
  )
  const caller = t.withToken(made.body.secret)
  await expectStatus(200, owner.post(`${path}/sales_by_region/deploy`, { environment: 'production', force: true }))
  await page.getByText('New ones appear as they are made.').waitFor()
  for (const region of ['north', 'south', 'west']) await caller.post('/v1/queries/sales_by_region', { region })
  await caller.post('/v1/queries/sales_by_region', {})
  const tail = page.getByRole('region', { name: 'Requests' })
  await tail.getByRole('row').filter({ hasText: '400 missing_slots' }).first().waitFor()

  await page.getByRole('navigation', { name: 'Deploy' }).getByRole('link', { name: 'Metrics' }).click()
  await page.getByRole('region', { name: 'Popular queries' }).getByRole('link', { name: 'sales_by_region' }).waitFor()
  await page.getByRole('button', { name: 'Show calls as a table' }).click()
  await page.getByRole('region', { name: 'Calls' }).getByRole('row').nth(1).waitFor()
  await page.getByRole('region', { name: 'What went wrong' }).getByText('missing_slots').waitFor()

  const question = 'which colour does the moon have'
  await caller.post('/v1/query', { query: question, project_id: projectId })
  await page.goto(`/p/${projectId}/deploy/questions`)
  const missed = page
    .getByRole('list', { name: 'Unanswered questions' })
    .getByRole('listitem')
    .filter({ hasText: question })
  await missed.getByLabel('Query that should answer').click()
  await page.getByRole('option', { name: 'all_orders' }).click()
  await missed.getByRole('button', { name: 'Make it an example' }).click()
  await missed.waitFor({ state: 'detached' })
  const taught = await owner.get(`${path}/all_orders`)
  expect(taught.body.examples).toMatchObject([{ question }])
  expect(complaints).toEqual([])
})

test('a question shows which words gave which value, and which query answers', async () => {
  const question = (region: string) => `how many orders came from the ${region}`
  await expectStatus(
    201,
    owner.post(path, {
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
  await expectStatus(200, owner.post(`${path}/count_by_region/deploy`, { force: true }))
  const { page, complaints } = await t.visitAs(owner, `/p/${projectId}/deploy/try?by=question`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('textbox', { name: 'Question' }).fill(question('east'))
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByText('Answered by count_by_region').waitFor()
  await page.getByRole('row', { name: 'region east “east”' }).waitFor()
  await page.getByRole('region', { name: 'Rows of the answer' }).getByRole('cell', { name: '1000' }).waitFor()
  expect(complaints).toEqual([])
})

test('an alert is made from a template, tested, turned off and deleted', async () => {
  const { page, complaints } = await t.visitAs(owner, `/p/${projectId}/deploy/alerts`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('button', { name: 'New alert' }).click()
  const making = page.getByRole('dialog', { name: 'New alert' })
  await making.getByRole('button', { name: 'Create alert' }).click()
  await making.getByText('Say where to tell it.').waitFor()
  await making.getByRole('combobox', { name: 'By' }).click()
  await page.getByRole('option', { name: 'Webhook' }).click()
  await making.getByLabel('URL').fill('https://hooks.example.org/sluice')
  await making.getByRole('button', { name: 'Create alert' }).click()
  await page.getByText('Shown only this once').waitFor()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  const row = page
    .getByRole('list', { name: 'Alerts' })
    .getByRole('listitem')
    .filter({ hasText: 'Too many errors' })
    .first()
  await row.getByText('Too many errors: above 5 % of calls within 5 min · in production').waitFor()
  await row.getByRole('button', { name: 'Send a test' }).click()
  await row.getByRole('button', { name: 'History' }).click()
  const history = page.getByRole('dialog', { name: 'History of Too many errors' })
  await history.getByRole('region', { name: 'What was sent' }).getByText('hooks.example.org').first().waitFor()
  await page.screenshot({ path: join(artefacts, 'alert-history-light-1280.png') })
  await page.keyboard.press('Escape')
  await history.waitFor({ state: 'detached' })
  await row.getByRole('switch').press('Space')
  await row.getByText('Off', { exact: true }).waitFor()
  await page.screenshot({ path: join(artefacts, 'alerts-light-1280.png') })
  await row.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete Too many errors' }).click()
  await page.getByText('Hear of trouble before your callers tell you').waitFor()
  expect(complaints).toEqual([])
})

/** What axe finds, in one line each. The schemes share their structure, so the dark one is asked only for contrast. */
async function findBarriers(page: Page, scheme: 'light' | 'dark'): Promise<string[]> {
  const axe = new AxeBuilder({ page })
  const asked =
    scheme === 'dark'
      ? axe.withRules(['color-contrast'])
      : axe.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
  const { violations } = await asked.analyze()
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.failureSummary} ${node.html.slice(0, 160)}`),
  )
}

type Shown = { name: string; at: string; ready: (page: Page) => Promise<void> }

const pages: Shown[] = [
  { name: 'endpoints', at: 'endpoints', ready: async (page) => deployed(page).waitFor() },
  {
    name: 'endpoint',
    at: 'endpoints/sales_by_region',
    ready: async (page) => page.getByRole('region', { name: 'Columns' }).waitFor(),
  },
  {
    name: 'endpoint-versions',
    at: 'endpoints/sales_by_region/versions',
    ready: async (page) => {
      await page.getByLabel('From').first().click()
      await page.getByRole('option', { name: 'Version 1' }).click()
      await page.getByRole('region', { name: 'Difference' }).waitFor()
    },
  },
  {
    name: 'endpoint-history',
    at: 'endpoints/sales_by_region/history',
    ready: async (page) => page.getByRole('list', { name: 'History' }).waitFor(),
  },
  {
    name: 'deploy-sheet',
    at: 'endpoints/sales_by_region',
    ready: async (page) => {
      await page.getByRole('button', { name: 'Deploy', exact: true }).click()
      await page.getByRole('region', { name: 'What changes' }).waitFor()
    },
  },
  {
    name: 'try',
    at: 'try?query=all_orders',
    ready: async (page) => {
      await page.getByRole('button', { name: 'Call', exact: true }).click()
      await page.getByText('1,000 rows (cut off)').waitFor()
    },
  },
  {
    name: 'try-refused',
    at: 'endpoints/sales_by_region/try',
    ready: async (page) => {
      await page.getByRole('textbox', { name: 'region' }).fill('')
      await page.getByRole('button', { name: 'Call', exact: true }).click()
      await page.getByText(/^400 /).waitFor()
    },
  },
  {
    name: 'try-question',
    at: 'try?by=question',
    ready: async (page) => {
      await page.getByRole('textbox', { name: 'Question' }).fill('how much did we sell in the east')
      await page.getByRole('textbox', { name: 'Question' }).press('Enter')
      await page.getByRole('region', { name: 'Candidates' }).waitFor()
    },
  },
  {
    name: 'questions',
    at: 'questions',
    ready: async (page) => page.getByRole('list', { name: 'Unanswered questions' }).waitFor(),
  },
  {
    name: 'metrics',
    at: 'metrics?hours=1',
    ready: async (page) => {
      await page.getByRole('region', { name: 'Popular queries' }).waitFor()
      await page.locator('svg.recharts-surface').nth(2).waitFor()
    },
  },
  {
    name: 'new-alert',
    at: 'alerts',
    ready: async (page) => {
      await page.getByRole('button', { name: 'New alert' }).click()
      await page.getByRole('dialog').getByLabel('Address').waitFor()
    },
  },
  {
    name: 'requests',
    at: 'requests',
    ready: async (page) => page.getByRole('region', { name: 'Requests' }).waitFor(),
  },
  { name: 'keys', at: 'keys', ready: async (page) => page.getByRole('link', { name: 'storefront' }).first().waitFor() },
  {
    name: 'key',
    at: 'keys',
    ready: async (page) => {
      await page.getByRole('link', { name: 'storefront' }).first().click()
      await page.getByRole('region', { name: 'What it reaches' }).waitFor()
    },
  },
  {
    name: 'new-key',
    at: 'keys',
    ready: async (page) => {
      await page.getByRole('button', { name: 'New API key' }).click()
      const queries = page.getByRole('group', { name: 'Queries of Corner shop' })
      await queries.getByLabel('Only these').check()
      await queries.getByLabel('all_orders').waitFor()
    },
  },
]

/** What the pages show must be there whichever tests ran before. */
async function fillPages(scheme: 'light' | 'dark'): Promise<void> {
  await expectStatus(200, owner.post(`${path}/all_orders/deploy`, { force: true }))
  await expectStatus(200, owner.post(`${path}/sales_by_region/deploy`, { force: true }))
  const permissions = [{ project_id: projectId, environments: '*' }]
  const made = await expectStatus(201, owner.post('/v1/api-keys', { name: 'storefront', permissions }))
  await callWith(made.body.secret, 'sales_by_region')
  await t.withToken(made.body.secret).post('/v1/query', { query: 'who painted the bridge', project_id: projectId })
  await edit('sales_by_region', {
    sql: `${salesSql} order by revenue ${scheme === 'light' ? 'asc' : 'desc'}`,
    description: 'Revenue of one region, in euros.',
  })
}

describe.each(['light', 'dark'] as const)('in %s', (scheme) => {
  test('every page has no barrier, no complaint and no sideways scroll', { timeout: 240_000 }, async () => {
    await fillPages(scheme)
    const { page, complaints } = await t.visitAs(owner, '/account', { scheme })
    page.setDefaultTimeout(waitMs)
    const barriers: string[] = []
    for (const { name, at, ready } of pages) {
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.goto('about:blank')
      await page.goto(`/p/${projectId}/deploy/${at}`)
      await ready(page)
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: width === 390 ? 844 : 800 })
        await page.screenshot({ path: join(artefacts, `${name}-${scheme}-${width}.png`) })
        barriers.push(...(await findBarriers(page, scheme)).map((found) => `${name} at ${width}: ${found}`))
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        if (overflow !== 0) barriers.push(`${name} at ${width}: ${String(overflow)} px too wide`)
      }
    }
    expect(barriers).toEqual([])
    expect(complaints).toEqual([])
  })
})
