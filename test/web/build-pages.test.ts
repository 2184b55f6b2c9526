import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { expectStatus, type Person } from '../harness/app.ts'
import { execute, openSource, type Source } from '../harness/source.ts'
import { openTestWeb, type TestWeb, type Visitor } from '../harness/web.ts'
import { findBarriers } from './barriers.ts'
import { moveTo } from './navigate.ts'
import { customers, latestOrders, shopOrders, shopQueries } from './shop.ts'
import { waitMs } from './stage.ts'

let t: TestWeb
let source: Source
let projectId: string
let emptyId: string
let editor: Person
let desk: Visitor

beforeAll(async () => {
  source = await openSource()
  t = await openTestWeb({ SLUICE_OUTBOUND_ALLOW: source.host })
  await t.app.jobs.start()
  projectId = await t.project('Corner shop')
  editor = await t.member(projectId, 'editor')
  emptyId = (await expectStatus(201, editor.post('/v1/projects', { name: 'Warehouse' }))).body.id
  await fillPages()
  desk = await t.visitAs(editor, `/p/${projectId}`)
  desk.page.setDefaultTimeout(waitMs)
}, 120_000)
afterAll(async () => {
  await t.close()
  await source.close()
})

/** So that the pages have something to show: connections in every state, and queries that are deployed. */
async function fillPages(): Promise<void> {
  const put = (name: string, answer: unknown, config = {}) => {
    source.answer(answer)
    const at = { projectId, datasourceId: `ds_${name.toLowerCase()}`, name }
    return execute(editor, { ...at, url: source.url, config })
  }
  const done = async ({ body }: Awaited<ReturnType<typeof put>>): Promise<void> => {
    const id = body.jobs === undefined ? body.id : body.jobs[0].id
    const isDone = async () => (await editor.get(`/v1/jobs/${id}`)).body.status === 'succeeded'
    await vi.waitUntil(isDone, { timeout: waitMs })
  }
  const rows = { responsePathExtractor: 'data.items', headers: { 'X-Team': 'shop' } }
  await done(await expectStatus(200, put('Orders', { data: { items: shopOrders } }, rows)))
  await done(await expectStatus(200, put('Customers', customers)))
  const queries = `/v1/projects/${projectId}/queries`
  for (const query of shopQueries) await expectStatus(201, editor.post(queries, query))
  for (const name of ['sales_by_region', 'customers_of_country', 'revenue_by_month']) {
    await expectStatus(200, editor.post(`${queries}/${name}/deploy`, { force: true }))
  }

  source.answer({ message: 'not for you' }, { 'content-type': 'application/json' }, 401)
  const sources = `/v1/projects/${projectId}/datasources`
  const made = { kind: 'http_api', config: { url: source.url, method: 'GET' } }
  const closed = (await expectStatus(201, editor.post(sources, { ...made, name: 'Suppliers' }))).body.id
  await expectStatus(502, execute(editor, { projectId, datasourceId: closed, name: 'Suppliers', url: source.url }))
  await expectStatus(201, editor.post(sources, { ...made, name: 'Stock levels', schedule: '0 6 * * *' }))
  source.answer({ data: { items: latestOrders } })
  await done(await editor.post(`${sources}/ds_orders/refresh`))
}

type Shown = {
  name: string
  path: string
  empty?: boolean
  ready: (page: Page) => Promise<unknown>
  /** What the picture is about, where it is not at the top. */
  look?: (page: Page) => Locator
}

const pages: Shown[] = [
  {
    name: 'build-home-empty',
    path: 'home',
    empty: true,
    ready: (page) => page.getByRole('link', { name: 'Connect the sample API' }).waitFor(),
  },
  {
    name: 'build-home',
    path: 'home',
    ready: (page) => page.getByRole('list', { name: 'Last changes' }).waitFor(),
  },
  {
    name: 'build-empty',
    path: 'data',
    empty: true,
    ready: (page) => page.getByRole('link', { name: 'Connect the sample API' }).waitFor(),
  },
  {
    name: 'build-connection',
    path: 'data',
    ready: async (page) => {
      await page.getByRole('link', { name: 'Orders', exact: true }).click()
      await page.getByRole('button', { name: 'Test' }).click()
      await page.getByText('application/json').waitFor()
      await page.getByRole('button', { name: 'Open data' }).click()
    },
    look: (page) => page.getByText(/^As a table/),
  },
  {
    name: 'build-connection-new',
    path: 'connections/new?sample',
    ready: (page) => page.getByRole('tab', { name: 'Refresh' }).click(),
  },
  {
    name: 'build-connection-parts',
    path: 'connections/new?sample',
    ready: async (page) => {
      await page.getByRole('button', { name: 'Add a group', exact: true }).click()
      await page.getByRole('button', { name: 'Add a parameter', exact: true }).click()
    },
  },
  {
    name: 'build-connection-pages',
    path: 'connections/new?sample',
    ready: async (page) => {
      await page.getByRole('tab', { name: 'Rows and pages' }).click()
      await page.getByRole('combobox', { name: 'Further pages' }).click()
      await page.getByRole('option', { name: 'Offset and limit' }).click()
    },
  },
  {
    name: 'build-connection-export',
    path: 'connections/new?sample',
    ready: async (page) => {
      await page.getByRole('tab', { name: 'Rows and pages' }).click()
      await page.getByRole('button', { name: 'Wait for an export' }).click()
    },
  },
  {
    name: 'build-connection-auth',
    path: 'connections/new?sample',
    ready: async (page) => {
      await page.getByRole('tab', { name: 'Authentication' }).click()
      await page.getByRole('combobox', { name: 'Authentication' }).click()
      await page.getByRole('option', { name: 'OAuth2 Client Credentials' }).click()
    },
  },
  {
    name: 'build-connection-history',
    path: 'data',
    ready: async (page) => {
      await page.getByRole('link', { name: 'Orders', exact: true }).click()
      await page.getByRole('tab', { name: 'History' }).click()
      await page.getByText('Version 2: 900 rows').waitFor()
    },
    look: (page) => page.getByText('Version 1: 1,200 rows'),
  },
  {
    name: 'build-curl',
    path: 'connections/new',
    ready: async (page) => {
      await page.getByRole('button', { name: 'More for the connection' }).click()
      await page.getByRole('menuitem', { name: 'Paste curl or OpenAPI…' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'build-data',
    path: 'data',
    ready: (page) => page.getByRole('link', { name: 'customers', exact: true }).waitFor(),
  },
  {
    name: 'build-columns',
    path: 'data/customers/columns',
    ready: (page) => page.getByRole('list', { name: 'Commonest values of country' }).waitFor(),
  },
  {
    name: 'build-rows',
    path: 'data/customers/rows',
    ready: (page) => page.getByRole('grid').getByText('Customer 1', { exact: true }).waitFor(),
  },
  { name: 'build-queries', path: 'queries', ready: (page) => page.getByText('production v1').first().waitFor() },
  {
    name: 'build-query',
    path: 'queries/revenue_by_month',
    ready: async (page) => {
      await page.getByRole('form', { name: 'Slots' }).getByRole('button', { name: 'Run' }).click()
      await page.getByRole('grid', { name: 'Rows of the result' }).waitFor()
    },
    look: (page) => page.getByText(/^\d+ rows$/),
  },
  {
    name: 'build-chart',
    path: 'queries/revenue_by_month',
    ready: async (page) => {
      await page.getByRole('form', { name: 'Slots' }).getByRole('button', { name: 'Run' }).click()
      await page.getByRole('tab', { name: 'Chart' }).click()
      await page.locator('svg[data-chart]').first().waitFor()
    },
    look: (page) => page.locator('figcaption'),
  },
  {
    name: 'build-ask',
    path: 'queries/top_orders',
    ready: async (page) => {
      await page.getByRole('button', { name: 'Example questions' }).click()
      await page.getByLabel('Another question').fill('which orders are worth more than 80')
      await page.getByRole('button', { name: 'Ask it' }).click()
      await page
        .getByText(/^Nearest in /)
        .first()
        .waitFor()
    },
    look: (page) => page.getByText(/^Nearest in /).last(),
  },
  {
    name: 'build-slot',
    path: 'queries/top_orders',
    ready: async (page) => {
      await page.getByRole('button', { name: 'Define least' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'build-new-query',
    path: 'queries?new=orders',
    ready: (page) => page.getByText('Reads orders').waitFor(),
  },
  {
    name: 'build-deploy',
    path: 'queries/top_orders',
    ready: async (page) => {
      await page.getByRole('button', { name: 'Deploy…' }).click()
      await page.getByText('no caller is affected').waitFor()
    },
  },
]

test.each(pages)(
  '$name has no barrier, no complaint and no sideways scroll',
  async ({ name, path, empty = false, ready, look }) => {
    const { page, complaints } = desk
    await page.setViewportSize({ width: 1280, height: 800 })
    await moveTo(page, `/p/${empty ? emptyId : projectId}/build/${path}`)
    await ready(page)
    expect(await findBarriers(page, name, look?.(page))).toEqual([])
    expect(complaints.splice(0)).toEqual([])
  },
)
