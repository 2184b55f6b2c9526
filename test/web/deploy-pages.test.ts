import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import type { Visitor } from '../harness/web.ts'
import { findBarriers, type Scheme } from './barriers.ts'
import { deployedList, openStage, salesSql, waitMs, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

type Shown = { name: string; at: string; ready: (page: Page) => Promise<void> }

const pages: Shown[] = [
  { name: 'endpoints', at: 'endpoints', ready: async (page) => deployedList(page).waitFor() },
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
    name: 'endpoint-metrics',
    at: 'endpoints/sales_by_region/metrics?hours=1',
    ready: async (page) => page.locator('svg.recharts-surface').nth(2).waitFor(),
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
    },
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
      await page.getByText('the first 1,000 rows').waitFor()
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
    name: 'alerts',
    at: 'alerts',
    ready: async (page) => page.getByRole('button', { name: /^Rotate secret of/ }).waitFor(),
  },
  {
    name: 'alert-history',
    at: 'alerts',
    ready: async (page) => {
      await page.getByRole('button', { name: 'History' }).click()
      await page.getByRole('dialog').getByText('It has not fired yet.').waitFor()
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
      await page.getByRole('region', { name: 'What it reaches' }).waitFor()
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
      const queries = page.getByRole('group', { name: 'Queries of Corner shop' })
      await queries.getByLabel('Only these').check()
      await queries.getByLabel('all_orders').waitFor()
    },
  },
]

/** So that the pages have something to show. */
async function fillPages(scheme: Scheme): Promise<void> {
  await stage.deploy('all_orders', 'sales_by_region')
  const secret = await stage.key('storefront')
  await stage.callWith(secret, 'sales_by_region')
  await stage.withToken(secret).post('/v1/query', { query: 'who painted the bridge', project_id: stage.projectId })
  if (scheme === 'light') {
    const channels = [
      { type: 'webhook', url: 'https://hooks.example.org/services/the-team' },
      { type: 'slack', url: 'https://slack.example.org/services/T000/B000' },
    ]
    const alert = { name: 'Too many errors', type: 'error_rate_above', threshold: 0.05, environment: 'production' }
    await expectStatus(201, stage.owner.post(`/v1/projects/${stage.projectId}/alerts`, { ...alert, channels }))
  }
  await stage.edit('sales_by_region', {
    sql: `${salesSql} order by revenue ${scheme === 'light' ? 'asc' : 'desc'}`,
    description: 'Revenue of one region, in euros.',
  })
}

describe.each(['light', 'dark'] as const)('in %s', (scheme) => {
  /** Signed in once: signing in is slow on purpose. */
  let visitor: Visitor
  beforeAll(async () => {
    await fillPages(scheme)
    visitor = await stage.visitAs(stage.owner, '/account', { scheme })
    visitor.page.setDefaultTimeout(waitMs)
  })
  afterAll(() => visitor.page.context().close())

  test.each(pages)('$name has no barrier, no complaint and no sideways scroll', async ({ name, at, ready }) => {
    const { page, complaints } = visitor
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto('about:blank')
    await page.goto(`/p/${stage.projectId}/deploy/${at}`)
    await ready(page)
    expect(await findBarriers(page, name, scheme)).toEqual([])
    expect(complaints.splice(0)).toEqual([])
  })
})
