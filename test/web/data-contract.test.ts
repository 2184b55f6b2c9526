import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, type Client, type Person } from '../harness/app.ts'
import { openSource, type Source } from '../harness/source.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'
import { findBarriers } from './barriers.ts'
import { waitMs } from './stage.ts'
import { moveTo } from './navigate.ts'

let t: TestWeb
let source: Source
let projectId: string
let editor: Person
let viewer: Person
let caller: Client
beforeAll(async () => {
  source = await openSource()
  t = await openTestWeb({ SLUICE_OUTBOUND_ALLOW: source.host })
  await t.app.jobs.start()
  projectId = await t.project('Corner shop')
  editor = await t.member(projectId, 'editor')
  viewer = await t.member(projectId, 'viewer')
  const permissions = [{ project_id: projectId, environments: '*' }]
  const key = await expectStatus(201, t.operator.post('/v1/api-keys', { name: 'k', plan: 'unlimited', permissions }))
  caller = t.withToken(key.body.secret)
})
afterAll(async () => {
  await t.close()
  await source.close()
})

const json = { 'content-type': 'application/json' }
const orders = (count: number, amount: (id: number) => unknown = (id) => id * 10) =>
  Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    Amt: amount(index + 1),
    status: index % 2 === 0 ? 'paid' : 'shipped',
    internal_note: `note ${index}`,
  }))

/** Pages of fifty, the next one by a cursor in the answer. */
function serveInPages(rows: object[], delayMs = 0): void {
  source.handle((request, response) => {
    const from = Number(new URL(request.url ?? '', 'http://x').searchParams.get('cursor') ?? 0)
    const next = from + 50 < rows.length ? String(from + 50) : null
    const body = { data: { items: rows.slice(from, from + 50) }, meta: { next_cursor: next } }
    setTimeout(() => response.writeHead(200, json).end(JSON.stringify(body)), delayMs)
  })
}

async function open(person: Person, path: string): Promise<{ page: Page; complaints: string[] }> {
  const visitor = await t.visitAs(person, `/p/${projectId}/build/${path}`)
  visitor.page.setDefaultTimeout(waitMs)
  return visitor
}

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

const datasources = async () => (await expectStatus(200, editor.get(`/v1/projects/${projectId}/datasources`))).body.data
const found = async (table: string) =>
  (await datasources()).find(({ table_name: name }: { table_name: string }) => name === table)

test('what a test recognises is applied and can be undone, and a long load tells how far it is', async () => {
  serveInPages(orders(1_200), 60)
  const { page, complaints } = await open(editor, 'connections/new')
  await page.getByLabel('Address').fill(source.url)
  await page.getByLabel('Name', { exact: true }).fill('Orders')
  await page.getByRole('button', { name: 'Test' }).click()
  const recognised = page.getByText(
    'In use: 50 rows at data.items; more pages by the cursor at meta.next_cursor, sent as cursor.',
  )
  await recognised.waitFor()
  expect(await findBarriers(page, 'connection-recognised', recognised)).toEqual([])
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('As a table: 1 row').waitFor()
  await page.getByRole('button', { name: 'Use it' }).click()
  await page.getByText(/^In use: 50 rows/).waitFor()
  await page.getByText('As a table: 50 rows, 4 columns').waitFor()
  await page.getByRole('tab', { name: 'Rows and pages' }).click()
  expect(await page.getByLabel('Where it stands in the response').inputValue()).toBe('meta.next_cursor')
  await page.getByRole('button', { name: 'Fetch data' }).click()
  await page.getByRole('heading', { level: 1, name: 'orders' }).waitFor()
  await page.getByText(/^1,200 rows/).waitFor()
  expect(await found('orders')).toMatchObject({ pagination: { type: 'cursor', path: 'meta.next_cursor' } })

  await page.getByRole('button', { name: 'Fetch data' }).click()
  await page.getByText(/Fetching the data again… \d+ pages, [\d,]+ of about 1,200 rows, [\d.]+ KB/).waitFor()
  await page.getByText(/version 2 of/).waitFor()
  expect(complaints).toEqual([])
})

test('the columns of a table are a contract that is set, saved and kept by the next load', async () => {
  const { page, complaints } = await open(editor, 'data/orders/contract')
  await page.getByLabel('Name of Amt').fill('amount')
  await choose(page, 'Type of Amt', 'Decimal, 2 places')
  await page.getByLabel('Description of Amt').fill('In euros, with VAT')
  await page.getByLabel('Hide internal_note').click({ force: true })
  await page.getByLabel('Hold the new data').check()
  await page.getByRole('button', { name: 'Add a check' }).click()
  await choose(page, 'What must hold', 'A column has known values only')
  await choose(page, 'Column', 'status')
  const values = page.getByRole('combobox', { name: 'Values' })
  await values.fill('paid')
  await values.press('Enter')
  // The last one needs no Enter.
  await values.fill('shipped')
  await page.getByRole('button', { name: 'Add it' }).click()
  await page.getByText('status is one of paid, shipped').waitFor()
  expect(await findBarriers(page, 'table-rules')).toEqual([])
  await page.getByRole('button', { name: 'Save the rules' }).click()
  await page.getByText('The rules of orders are saved.').waitFor()
  await page.getByText('amount: the data that serves was fetched before this was set.').waitFor()
  const path = `/v1/projects/${projectId}/datasources/${(await found('orders')).id}/schema`
  expect((await editor.get(path)).body).toMatchObject({
    on_mismatch: 'hold',
    checks: [{ type: 'accepted_values', column: 'status', values: ['paid', 'shipped'] }],
    columns: [
      { name: 'id' },
      { source_name: 'Amt', name: 'amount', type: 'DECIMAL(18,2)', description: 'In euros, with VAT' },
      { name: 'status' },
      { name: 'internal_note', hidden: true },
    ],
  })
  serveInPages(orders(1_200))
  await page.getByRole('status').getByRole('button', { name: 'Fetch data' }).click()
  await expect.poll(() => page.getByText('the data that serves was fetched before').count()).toBe(0)
  // What is refused is said where it is saved.
  await page.getByLabel('Name of status').fill('amount')
  await page.getByRole('button', { name: 'Save the rules' }).click()
  await page.getByRole('alert').filter({ hasText: /req_/ }).filter({ hasText: 'amount' }).waitFor()
  await page.getByRole('button', { name: 'Discard changes' }).click()
  expect(await page.getByLabel('Name of status').inputValue()).toBe('status')
  expect(complaints).toEqual([])
})

test('data that waits says why, and goes forward or back in one step', async () => {
  const sql = 'select sum(amount) as total from orders'
  await expectStatus(201, editor.post(`/v1/projects/${projectId}/queries`, { name: 'total', sql }))
  await expectStatus(200, editor.post(`/v1/projects/${projectId}/queries/total/deploy`, {}))
  const total = async () => (await caller.post('/v1/queries/total', {})).body.data?.[0]?.total
  const before = await total()
  serveInPages(orders(700, (id) => (id === 7 ? 'unknown' : id)))
  const { page, complaints } = await open(editor, 'data/orders')
  await page.getByRole('button', { name: 'Fetch data' }).click()
  const notice = page.getByRole('status').filter({ hasText: 'waits' })
  await notice.waitFor()
  expect(await notice.textContent()).toMatch(
    /Version 4 waits, version 3 serves.*1 value is no number, such as unknown/s,
  )
  expect(await findBarriers(page, 'table-held')).toEqual([])
  expect(await total()).toBe(before)

  // On its connection, too; and whoever may only look is offered nothing that would be refused.
  const looking = await open(viewer, `connections/${(await found('orders')).id}`)
  await looking.page.getByText('New data held').waitFor()
  await looking.page.getByText('Version 4 waits').waitFor()
  expect(await looking.page.getByRole('button', { name: 'Serve it anyway' }).count()).toBe(0)

  await page.getByRole('link', { name: 'All versions' }).click()
  const versions = page.getByRole('list', { name: 'Versions' })
  await versions.waitFor()
  expect(await versions.getByRole('listitem').first().textContent()).toMatch(/Version 4.*Waits.*700 rows/s)
  expect(await findBarriers(page, 'table-versions')).toEqual([])
  await page.getByRole('button', { name: 'Serve it anyway: version 4' }).last().click()
  const dialog = page.getByRole('dialog', { name: 'Serve version 4 of orders' })
  await dialog.getByText(/instead of version 3/).waitFor()
  await dialog.getByText(/amount was number and is text/).waitFor()
  await dialog.getByRole('button', { name: 'Serve version 4' }).click()
  await page.getByText('Version 4 of orders serves now.').waitFor()
  await expect.poll(() => page.getByText('Version 4 waits').count()).toBe(0)
  await page.getByRole('button', { name: 'Restore: version 3' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Serve version 3' }).click()
  await page.getByText('Version 3 of orders serves now.').waitFor()
  await expect.poll(total).toBe(before)

  // Less than half of the rows of version 3 would be held, too.
  serveInPages(orders(650))
  await page.getByRole('button', { name: 'Fetch data' }).click()
  await page
    .getByText(/^650 rows/)
    .first()
    .waitFor()
  await expect.poll(total).toBe(2_115_750)
  expect(complaints).toEqual([])
  expect(looking.complaints).toEqual([])
})

test('a connection loads only what is new, and everything when asked to', async () => {
  const visits = [1, 2, 3].map((id) => ({ id, page: `/${id}`, updated_at: `2026-01-0${id}T00:00:00Z` }))
  const asked: Array<string | null> = []
  source.handle((request, response) => {
    const since = new URL(request.url ?? '', 'http://x').searchParams.get('updated_since')
    asked.push(since)
    const rows = visits.filter(({ updated_at: at }) => since === null || at >= since)
    response.writeHead(200, json).end(JSON.stringify(rows))
  })
  const { page, complaints } = await open(editor, 'connections/new')
  await page.getByLabel('Address').fill(source.url)
  await page.getByLabel('Name', { exact: true }).fill('Visits')
  await page.getByRole('tab', { name: 'Refresh' }).click()
  await page.getByLabel('Merge by key').check()
  await page.getByRole('combobox', { name: 'Key' }).fill('id')
  await page.getByRole('combobox', { name: 'Key' }).press('Enter')
  await page.getByRole('combobox', { name: 'Cursor' }).fill('updated_at')
  await page.getByLabel('Parameter that takes it').fill('updated_since')
  await page.getByLabel('Look back').fill('1d')
  expect(await findBarriers(page, 'connection-load')).toEqual([])
  await page.getByRole('button', { name: 'Fetch data' }).click()
  await page.getByRole('heading', { level: 1, name: 'visits', exact: true }).waitFor()
  await page.getByText(/^3 rows/).waitFor()
  expect(await found('visits')).toMatchObject({
    load: {
      mode: 'merge',
      primary_key: ['id'],
      cursor: { field: 'updated_at', parameter: 'updated_since', look_back: '1d' },
    },
  })
  visits.push({ id: 4, page: '/4', updated_at: '2026-01-04T00:00:00Z' })
  await page.getByRole('button', { name: 'Fetch data' }).click()
  await page.getByText(/^4 rows/).waitFor()
  expect(asked.at(-1)).toMatch(/^2026-01-02T00:00:00/)
  await page.getByRole('tab', { name: 'Versions' }).click()
  await page.getByText(/^4 rows, \d+ of them new.*up to 2026-01-04/).waitFor()
  await page.getByRole('link', { name: 'Visits', exact: true }).click()
  await page.getByRole('button', { name: 'More for Visits' }).click()
  await page.getByRole('menuitem', { name: 'Fetch everything again' }).click()
  await page.getByRole('heading', { level: 1, name: 'visits', exact: true }).waitFor()
  expect(asked.at(-1)).toBe(null)
  // What is stored stands in the form again.
  await page.getByRole('link', { name: 'Visits', exact: true }).click()
  await page.getByRole('tab', { name: 'Refresh' }).click()
  expect(await page.getByRole('combobox', { name: 'Cursor' }).inputValue()).toBe('updated_at')
  expect(await page.getByRole('button', { name: 'Discard changes' }).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('a request with a body becomes a table by itself, and keeps its body', async () => {
  const own = { query: '{ books { nodes { id } } }' }
  const bodies: string[] = []
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    bodies.push(await text(request))
    response.writeHead(200, json).end('{"data":{"books":{"nodes":[{"id":1},{"id":2}]}}}')
  }
  source.handle((request, response) => void take(request, response))
  const { page, complaints } = await open(editor, 'connections/new')
  await choose(page, 'Method', 'POST')
  await page.getByLabel('Address').fill(source.url)
  await page.getByLabel('Name', { exact: true }).fill('Books')
  await choose(page, 'Kind of body', 'GraphQL')
  await page.getByRole('textbox', { name: 'Body' }).fill(own.query)
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByText('In use: 2 rows at data.books.nodes.').waitFor()
  await page.getByRole('button', { name: 'Fetch data' }).click()
  await page.getByRole('heading', { level: 1, name: 'books', exact: true }).waitFor()
  await page.getByText(/^2 rows/).waitFor()
  const [tested, tried, loaded, ...others] = bodies.map((body) => JSON.parse(body) as { query: string })
  expect([tested, loaded, others]).toEqual([own, own, []])
  // A test also finds out whether it has pages.
  expect(tried?.query).toContain('pageInfo')
  await moveTo(page, `/p/${projectId}/build/connections/${(await found('books')).id}`)
  expect(await page.getByRole('textbox', { name: 'Body' }).inputValue()).toBe(own.query)
  expect(await page.getByRole('button', { name: 'Discard changes' }).count()).toBe(0)
  expect(complaints).toEqual([])
})
