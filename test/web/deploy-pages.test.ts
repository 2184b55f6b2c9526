import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { openReceiver, type Receiver } from '../harness/receivers.ts'
import type { Visitor } from '../harness/web.ts'
import { findBarriers } from './barriers.ts'
import { moveTo } from './navigate.ts'
import { deployedList, openStage, salesSql, waitMs, type Stage } from './stage.ts'

let stage: Stage
let receiver: Receiver
/** Signed in once: signing in is slow on purpose. */
let desk: Visitor
beforeAll(async () => {
  receiver = await openReceiver()
  stage = await openStage({ SLUICE_OUTBOUND_ALLOW: receiver.host, SLUICE_ALERT_INTERVAL_SECONDS: '1' })
  await fillPages()
  desk = await stage.visitAs(stage.owner, '/account')
  desk.page.setDefaultTimeout(waitMs)
}, 120_000)
afterAll(async () => {
  await stage.close()
  await receiver.close()
})

/** So that the pages have something to show: versions, keys, an alert that fired, and a day of calls and questions. */
async function fillPages(): Promise<void> {
  const region = { type: 'string', enum: ['north', 'south', 'east'], description: 'Where it was sold.' }
  await stage.edit('sales_by_region', { slots: { properties: { region }, required: ['region'] } })
  await stage.deploy('all_orders', 'sales_by_region')
  const counted = salesSql.replace('as revenue', 'as revenue, count(*) as orders')
  await stage.edit('sales_by_region', { sql: counted })
  await stage.deploy('sales_by_region')
  await expectStatus(200, stage.owner.post(`${stage.path}/all_orders/promote`, { from: 'production', to: 'staging' }))
  const channels = [
    { type: 'webhook', url: `${receiver.origin}/hook` },
    { type: 'slack', url: `${receiver.origin}/slack` },
  ]
  const alert = { name: 'Too many errors', type: 'error_rate_above', threshold: 0.25, environment: 'production' }
  const alerts = `/v1/projects/${stage.projectId}/alerts`
  await expectStatus(201, stage.owner.post(alerts, { ...alert, window_minutes: 60, channels }))
  const slow = { name: 'Slow answers', type: 'p95_latency_above', threshold: 800, environment: 'production' }
  await expectStatus(201, stage.owner.post(alerts, { ...slow, enabled: false }))
  await stage.key('monthly report', { plan: 'free', expires_at: new Date(Date.now() + 40 * dayMs).toISOString() })
  await liveThroughADay(await stage.key('storefront', { plan: 'unlimited' }))
  await stage.edit('sales_by_region', {
    sql: `${counted} order by revenue desc`,
    description: 'Revenue of one region, in euros.',
  })
}

const dayMs = 86_400_000
const asked = ['how much did we sell in the east', 'who painted the bridge', 'revenue in the north']

/** Calls hour by hour up to now: more at noon than at night, and an hour in which many fail. */
async function liveThroughADay(secret: string): Promise<void> {
  const caller = stage.withToken(secret)
  const regions = ['north', 'south', 'east']
  stage.advance(-dayMs)
  for (let hour = 0; hour < 24; hour += 1) {
    const calls = Math.round(1.6 + 1.2 * Math.sin((hour / 24) * 2 * Math.PI))
    for (let count = 0; count < calls; count += 1) {
      await caller.post('/v1/queries/sales_by_region', { region: regions[count % 3] })
    }
    for (let count = 0; count < (hour === 15 ? 6 : 0); count += 1) await caller.post('/v1/queries/sales_by_region', {})
    if (hour % 6 === 2) await caller.post('/v1/queries/all_orders', {})
    if (hour % 5 === 4) await caller.post('/v1/query', { query: asked[hour % 3], project_id: stage.projectId })
    await stage.app.alerts.evaluate()
    await stage.app.alerts.deliver()
    stage.advance(dayMs / 24)
  }
  await caller.post('/v1/query', { query: 'who painted the bridge', project_id: stage.projectId })
}

type Shown = {
  name: string
  at: string
  ready: (page: Page) => Promise<void>
  /** What the picture is about, where it is not at the top. */
  look?: (page: Page) => Locator
}

/** As a question of its own, whatever was asked on an earlier page. */
async function askAnew(page: Page, question: string): Promise<void> {
  const anew = page.getByRole('button', { name: 'New question' })
  if (await anew.isVisible()) await anew.click()
  await page.getByRole('textbox', { name: 'Question' }).fill(question)
  await page.getByRole('textbox', { name: 'Question' }).press('Enter')
}

const pages: Shown[] = [
  { name: 'endpoints', at: 'endpoints', ready: async (page) => deployedList(page).waitFor() },
  {
    name: 'endpoint',
    at: 'endpoints/sales_by_region',
    ready: async (page) => page.getByText('What comes back in each row.').waitFor(),
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
    name: 'endpoint-metrics',
    at: 'endpoints/sales_by_region/metrics?hours=24',
    ready: async (page) => page.locator('svg[data-chart]').nth(2).waitFor(),
  },
  {
    name: 'endpoint-questions',
    at: 'endpoints/all_orders/questions',
    ready: async (page) => page.getByText('who painted the bridge').first().waitFor(),
  },
  {
    name: 'undeploy',
    at: 'endpoints/sales_by_region',
    ready: async (page) => {
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('menuitem', { name: 'Undeploy from production' }).click()
      await page.getByRole('dialog').getByText('storefront').first().waitFor()
      await page.getByRole('dialog').getByText('would be refused').first().waitFor()
    },
  },
  {
    name: 'deploy-sheet',
    at: 'endpoints/sales_by_region',
    ready: async (page) => {
      await page.getByRole('button', { name: 'Deploy…' }).click()
      await page.getByRole('region', { name: 'What changes' }).waitFor()
    },
  },
  {
    name: 'releases',
    at: 'releases',
    ready: async (page) => page.getByRole('table', { name: 'Releases' }).waitFor(),
  },
  {
    name: 'release',
    at: 'releases',
    ready: async (page) => {
      await page.getByRole('table', { name: 'Releases' }).getByRole('link').first().click()
      await page.getByRole('list', { name: 'Queries of the release' }).waitFor()
    },
  },
  {
    name: 'release-sheet',
    at: 'releases',
    ready: async (page) => {
      await page.getByRole('button', { name: 'Release changes' }).click()
      await page.getByRole('dialog').getByRole('list', { name: 'Queries of the release' }).waitFor()
    },
  },
  {
    name: 'try',
    at: 'try?query=all_orders',
    ready: async (page) => {
      await page.getByRole('button', { name: 'Call', exact: true }).click()
      await page.getByText('the first 1,000 rows').waitFor()
    },
  },
  {
    name: 'try-refused',
    at: 'endpoints/sales_by_region/try',
    ready: async (page) => {
      await page.getByRole('combobox', { name: 'region' }).click()
      await page.getByRole('option', { name: 'north' }).click()
      await page.getByRole('button', { name: 'Call', exact: true }).click()
      await page.getByText(/^400 /).waitFor()
    },
  },
  {
    name: 'ask-answered',
    at: '/ask',
    ready: async (page) => {
      await askAnew(page, 'how much did we sell in the east')
      await page.getByRole('group', { name: 'Answered by' }).getByRole('link', { name: 'sales_by_region' }).waitFor()
      await page.getByText('How was this found?').click()
    },
    look: (page) => page.getByRole('region', { name: 'Candidates' }),
  },
  {
    name: 'ask-missing',
    at: '/ask',
    ready: async (page) => {
      await askAnew(page, 'how much did we sell')
      await page.getByText('the question does not say region').waitFor()
    },
    look: (page) => page.getByRole('group', { name: 'region' }),
  },
  {
    name: 'ask-unexpressed',
    at: '/ask',
    ready: async (page) => {
      await askAnew(page, 'how much did we sell in the east to new customers')
      await page.getByText('would leave out a part of the question').waitFor()
      await page.getByText(/new customers.* cannot be applied here/).waitFor()
    },
    look: (page) => page.getByText(/ cannot be applied here/),
  },
  {
    name: 'questions',
    at: 'questions',
    ready: async (page) => page.getByRole('list', { name: 'Unanswered questions' }).waitFor(),
  },
  {
    name: 'metrics',
    at: 'metrics?hours=24',
    ready: async (page) => {
      await page.getByRole('region', { name: 'Popular queries' }).waitFor()
      await page.locator('svg[data-chart]').nth(2).waitFor()
    },
  },
  {
    name: 'metrics-popular',
    at: 'metrics?hours=24',
    ready: async (page) => {
      await page.getByRole('region', { name: 'Popular queries' }).waitFor()
      await page.locator('svg[data-chart]').nth(2).waitFor()
    },
    look: (page) => page.getByRole('region', { name: 'What went wrong' }),
  },
  {
    name: 'alerts',
    at: 'alerts',
    ready: async (page) => page.getByRole('button', { name: /^Rotate secret of/ }).waitFor(),
  },
  {
    name: 'alert-history',
    at: 'alerts',
    ready: async (page) => {
      await page.getByRole('button', { name: 'History' }).first().click()
      await page.getByRole('dialog').getByText('Resolved').first().waitFor()
    },
  },
  {
    name: 'rotate-webhook',
    at: 'alerts',
    ready: async (page) => {
      await page.getByRole('button', { name: /^Rotate secret of/ }).click()
      await page.getByRole('dialog').getByLabel('The old secret stays good for').waitFor()
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
      await page.getByRole('region', { name: 'Access' }).waitFor()
    },
  },
  {
    name: 'edit-key',
    at: 'keys',
    ready: async (page) => {
      await page.getByRole('button', { name: 'What to do with storefront' }).first().click()
      await page.getByRole('menuitem', { name: 'Edit' }).click()
      await page.getByRole('dialog').getByLabel('Calls a day').scrollIntoViewIfNeeded()
    },
  },
  {
    name: 'new-key',
    at: 'keys',
    ready: async (page) => {
      await page.getByRole('button', { name: 'New API key' }).click()
      const queries = page.getByRole('radiogroup', { name: 'Queries of Corner shop' })
      await queries.getByLabel('Only these').check()
      await queries.getByLabel('all_orders').waitFor()
    },
  },
]

test.each(pages)('$name has no barrier, no complaint and no sideways scroll', async ({ name, at, ready, look }) => {
  const { page, complaints } = desk
  await page.setViewportSize({ width: 1280, height: 800 })
  await moveTo(page, `/p/${stage.projectId}${at.startsWith('/') ? at : `/deploy/${at}`}`)
  await ready(page)
  expect(await findBarriers(page, name, look?.(page))).toEqual([])
  expect(complaints.splice(0)).toEqual([])
})
