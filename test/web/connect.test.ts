import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, type Person } from '../harness/app.ts'
import { openSource, type Source } from '../harness/source.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'
import { waitMs } from './stage.ts'

let t: TestWeb
let source: Source
let projectId: string
let editor: Person
beforeAll(async () => {
  source = await openSource()
  t = await openTestWeb({ SLUICE_OUTBOUND_ALLOW: source.host })
  await t.app.jobs.start()
  projectId = await t.project('Harbour')
  editor = await t.member(projectId, 'editor')
})
afterAll(async () => {
  await t.close()
  await source.close()
})

const json = { 'content-type': 'application/json' }
const ships = Array.from({ length: 40 }, (_, index) => ({ id: index + 1, name: `Ship ${index + 1}`, berth: index % 7 }))

/** Ten ships a page, with the token of the harbour only. */
function serveShips(): void {
  source.handle((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', source.url)
    if (pathname === '/openapi.json') {
      response.writeHead(200, json).end(JSON.stringify(openapi()))
      return
    }
    if (request.headers['x-harbour'] !== 'north') {
      response.writeHead(401, json).end('{}')
      return
    }
    const from = Number(searchParams.get('cursor') ?? 0)
    const next = from + 10 < ships.length ? String(from + 10) : null
    const body = { result: { ships: ships.slice(from, from + 10) }, next_cursor: next }
    response.writeHead(200, json).end(JSON.stringify(body))
  })
}

function openapi(): object {
  const answer = { 200: { description: 'ok', content: { 'application/json': { schema: { type: 'object' } } } } }
  return {
    openapi: '3.0.3',
    info: { title: 'Harbour', version: '1' },
    servers: [{ url: new URL('/v1', source.url).href }],
    paths: {
      '/berths': { get: { summary: 'All berths', responses: answer } },
      '/ships': { get: { summary: 'All ships', responses: answer } },
    },
  }
}

async function open(path: string): Promise<{ page: Page; complaints: string[] }> {
  const visitor = await t.visitAs(editor, `/p/${projectId}/build/${path}`)
  visitor.page.setDefaultTimeout(waitMs)
  return visitor
}

/** As a browser hands over what was copied. */
async function paste(page: Page, label: string | RegExp, text: string): Promise<void> {
  const given = JSON.stringify(text)
  await page.getByLabel(label).focus()
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text', ${given})
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
    document.activeElement.dispatchEvent(event)
  })()`)
}

const line = /^Search the catalog, or paste/
const value = (page: Page, label: string) => page.getByLabel(label, { exact: true }).inputValue()
const stored = async (table: string) => {
  const { body } = await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/datasources`))
  return body.data.find(({ table_name: name }: { table_name: string }) => name === table)
}

test('a curl command that is pasted into one line is a table one click later', async () => {
  serveShips()
  const { page, complaints } = await open('connections/catalog')
  await paste(page, line, `curl '${new URL('/v1/ships', source.url).href}' \\\n  -H 'X-Harbour: north'`)
  await page
    .getByText('In use: 10 rows at result.ships; more pages by the cursor at next_cursor, sent as cursor.')
    .waitFor()
  expect(await value(page, 'Name')).toBe('Ships')
  expect(await value(page, 'Value of header 1')).toBe('north')
  await page.getByRole('button', { name: 'Fetch data' }).click()
  await page.getByText(/^40 rows,/).waitFor()
  expect(await stored('ships')).toMatchObject({
    name: 'Ships',
    pagination: { type: 'cursor', path: 'next_cursor', parameter: 'cursor' },
    config: { responsePathExtractor: 'result.ships', headers: { 'X-Harbour': 'north' } },
  })
  expect(complaints).toEqual([])
})

test('an address in that line is tested at once; the document of an API there offers its requests', async () => {
  serveShips()
  const { page, complaints } = await open('connections/catalog')
  await page.getByLabel(line).fill(new URL('/openapi.json', source.url).href)
  await page.keyboard.press('Enter')
  await page.getByText('This is the document of an API.').waitFor()
  expect(await page.getByText('As a table').count()).toBe(0)
  await page.getByRole('button', { name: 'Choose a request' }).click()
  await page.getByRole('combobox', { name: 'Request' }).click()
  await page.getByRole('option', { name: /All ships/ }).click()
  await page.getByRole('button', { name: 'Fill the form' }).click()
  await page.getByText('does not accept these credentials').waitFor()
  expect(await value(page, 'Address')).toBe(new URL('/v1/ships', source.url).href)
  // A refusal is no answer to recognise: nothing was applied.
  expect(await page.getByText(/^(In use|Recognised):/).count()).toBe(0)
  await page.getByRole('button', { name: 'Open Authentication' }).click()
  await page.getByRole('combobox', { name: 'Authentication' }).click()
  await page.getByRole('option', { name: 'API Key' }).click()
  await page.getByLabel('Name of the key').fill('X-Harbour')
  await page.getByLabel('Value', { exact: true }).fill('north')
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByText(/^In use: 10 rows at result\.ships/).waitFor()
  expect(complaints).toEqual([])
})

test('a name follows its address until somebody chooses one', async () => {
  const { page } = await open('connections/new')
  const address = page.getByLabel('Address')
  for (const [url, name] of [
    ['https://api.harbour.example/v2/cargo-manifests.json?page=1', 'Cargo manifests'],
    ['https://api.harbour.example/api/v1', 'Harbour'],
    ['https://api.harbour.example/ships/{{row.id}}', 'Ships'],
  ] as const) {
    await address.fill(url)
    expect(await value(page, 'Name')).toBe(name)
  }
  await page.getByLabel('Name', { exact: true }).fill('Mine')
  await address.fill('https://api.harbour.example/berths')
  expect(await value(page, 'Name')).toBe('Mine')
})

const metadata = `<?xml version="1.0"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
<Schema Namespace="Harbour" xmlns="http://docs.oasis-open.org/odata/ns/edm">
<EntityType Name="Cargo"><Key><PropertyRef Name="Manifest"/></Key>
<Property Name="Manifest" Type="Edm.String"/><Property Name="Fee" Type="Edm.Decimal" Precision="12" Scale="2"/>
<Property Name="Landed" Type="Edm.DateTimeOffset"/><Property Name="Note" Type="Edm.String"/></EntityType>
<EntityContainer Name="All"><EntitySet Name="Cargoes" EntityType="Harbour.Cargo"/></EntityContainer>
</Schema></edmx:DataServices></edmx:Edmx>`

test('of OData the types and the key are those that its metadata tells', async () => {
  source.handle((request, response) => {
    const { pathname } = new URL(request.url ?? '', source.url)
    if (pathname === '/odata/$metadata') {
      response.writeHead(200, { 'content-type': 'application/xml' }).end(metadata)
      return
    }
    const value = [{ Manifest: '007', Fee: 12, Landed: '2026-03-01T10:00:00Z' }]
    const body = { '@odata.context': '$metadata#Cargoes(Manifest,Fee,Landed)', value }
    response.writeHead(200, json).end(JSON.stringify(body))
  })
  const { page, complaints } = await open('connections/catalog')
  await page.getByLabel(line).fill(new URL('/odata/Cargoes?$select=Manifest,Fee,Landed', source.url).href)
  await page.getByRole('button', { name: 'Connect' }).click()
  // Note is not selected, so it is not declared either.
  await page.getByText('In use: 1 row at value; rows are told by Manifest; types of 2 columns.').waitFor()
  await page.getByRole('tab', { name: 'Refresh' }).click()
  await page.getByRole('radio', { name: 'Merge by key' }).check()
  await page.getByRole('button', { name: 'Fetch data' }).click()
  await page.getByText(/^1 row,/).waitFor()
  const { id, load } = await stored('cargoes')
  expect(load).toMatchObject({ mode: 'merge', primary_key: ['Manifest'] })
  const schema = await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/datasources/${id}/schema`))
  const types = schema.body.columns.map((each: Record<string, unknown>) => [each['source_name'], each['live_type']])
  expect(Object.fromEntries(types)).toEqual({
    Manifest: 'VARCHAR',
    Fee: 'DECIMAL(12,2)',
    Landed: 'TIMESTAMP',
  })
  expect(complaints).toEqual([])
})

test('addresses of the nine parts of before lead to the four of today', async () => {
  const { page } = await open('connections/new?part=headers')
  for (const [part, tab] of [
    ['headers', 'Request'],
    ['auth', 'Authentication'],
    ['pages', 'Rows and pages'],
    ['schedule', 'Refresh'],
  ] as const) {
    await page.goto(`/p/${projectId}/build/connections/new?part=${part}`)
    const chosen = page.getByRole('tab', { name: tab, selected: true, exact: true })
    await chosen.waitFor()
    expect(await chosen.count()).toBe(1)
  }
})
