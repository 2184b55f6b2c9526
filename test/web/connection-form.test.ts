import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Person } from '../harness/app.ts'
import { openSource, type Source } from '../harness/source.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'
import { press, tabTo } from './by-keyboard.ts'
import { waitMs } from './stage.ts'

let t: TestWeb
let source: Source
let projectId: string
let editor: Person
beforeAll(async () => {
  source = await openSource()
  t = await openTestWeb({ SLUICE_OUTBOUND_ALLOW: source.host })
  await t.app.jobs.start()
  projectId = await t.project('Library')
  editor = await t.member(projectId, 'editor')
})
afterAll(async () => {
  await t.close()
  await source.close()
})

const part = (page: Page, name: string): Promise<void> => page.getByRole('tab', { name }).click()

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

async function addPair(page: Page, what: string, line: number, [name, value]: [string, string]): Promise<void> {
  await page.getByRole('button', { name: `Add a ${what}` }).click()
  await page.getByLabel(`Name of ${what} ${line}`, { exact: true }).fill(name)
  await page.getByLabel(`Value of ${what} ${line}`, { exact: true }).fill(value)
}

test('every part of the form goes along with the call, and comes back from what is stored', async () => {
  const bodies: string[] = []
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    bodies.push(await text(request))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"books":[{"id":1}]}')
  }
  source.handle((request, response) => void take(request, response))
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections/new`)
  page.setDefaultTimeout(waitMs)
  await choose(page, 'Method', 'POST')
  await page.getByLabel('Address').fill(source.url)
  await page.getByLabel('Name', { exact: true }).fill('Books')
  await addPair(page, 'parameter', 1, ['since', '2026-01-01'])
  await page.getByLabel('required').check()
  await page.getByRole('button', { name: 'Add a group', exact: true }).click()
  await page.getByLabel('Name of group 1').fill('by shelf')
  await page.getByLabel('Send this one').check()
  await page.getByLabel('Name of group parameter 1', { exact: true }).fill('shelf')
  await page.getByLabel('Value of group parameter 1', { exact: true }).fill('7')
  await addPair(page, 'header', 1, ['X-Reader', 'Ada'])
  await page.getByRole('textbox', { name: 'Body' }).fill('{"open": true}')
  await part(page, 'Authentication')
  await choose(page, 'Authentication', 'API Key')
  await page.getByLabel('Name of the key').fill('X-Card')
  await page.getByLabel('Value', { exact: true }).fill('a secret card')
  await page.getByRole('button', { name: 'Test' }).click()

  const facts = page.getByText('application/json').locator('..')
  await facts.waitFor()
  expect(await facts.textContent()).toMatch(/^200\d+ ms20 Bapplication\/json$/)
  const sent = source.requests.at(-1)
  expect(sent).toMatchObject({ method: 'POST', headers: { 'x-reader': 'Ada', 'x-card': 'a secret card' } })
  expect(Object.fromEntries(new URL(`http://x${sent?.url}`).searchParams)).toEqual({ since: '2026-01-01', shelf: '7' })
  expect(JSON.parse(bodies.at(-1) ?? '')).toEqual({ open: true })

  await part(page, 'Rows and pages')
  await page.getByText('In use: 1 row at books.').waitFor()
  expect(await page.getByLabel('Rows are at').inputValue()).toBe('books')
  await page.getByRole('button', { name: 'Undo' }).click()
  expect(await page.getByLabel('Rows are at').inputValue()).toBe('')
  // It stays undone.
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByText('Recognised: 1 row at books.').waitFor()
  await page.getByRole('button', { name: /^books .* use as rows/ }).click()
  expect(await page.getByLabel('Rows are at').inputValue()).toBe('books')
  await choose(page, 'Further pages', 'Cursor')
  await page.getByLabel('Name of the parameter').fill('after')
  await part(page, 'Refresh')
  await choose(page, 'Fetch again', 'Every day at 06:00')
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Europe/Stock')
  await page.getByRole('option', { name: 'Europe/Stockholm' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Books is saved.').waitFor()

  const listed = await editor.get(`/v1/projects/${projectId}/datasources`)
  expect(listed.body.data[0]).toMatchObject({
    name: 'Books',
    schedule: '0 6 * * *',
    schedule_time_zone: 'Europe/Stockholm',
    pagination: { type: 'cursor', parameter: 'after' },
    config: {
      method: 'POST',
      parameters: { since: { value: '2026-01-01', required: true } },
      parameterGroups: [{ name: 'by shelf', active: true, parameters: { shelf: { value: '7' } } }],
      headers: { 'X-Reader': 'Ada' },
      authType: 'API Key',
      auth: { key: 'X-Card', value: '***' },
      responsePathExtractor: 'books',
    },
  })
  // The address is shared and loaded anew: the form has it all, but for what is secret.
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Books' }).waitFor()
  expect(await page.getByLabel('Value of parameter 1', { exact: true }).inputValue()).toBe('2026-01-01')
  await part(page, 'Authentication')
  expect(await page.getByLabel('Value', { exact: true }).inputValue()).toBe('***')
  await part(page, 'Refresh')
  expect(await page.getByRole('combobox', { name: 'Fetch again' }).inputValue()).toBe('Every day at 06:00')
  await page.getByText(/^again in /).waitFor()
  expect(complaints).toEqual([])
})

test('what goes wrong is said in words, with the step, the next step and the id of the request', async () => {
  source.answer({ books: [] }, { 'content-type': 'application/json' }, 401)
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections/new`)
  page.setDefaultTimeout(waitMs)
  await page.getByLabel('Address').fill(source.url)
  await page.getByLabel('Name', { exact: true }).fill('Closed')
  await page.getByRole('button', { name: 'Fetch data' }).click()
  const alert = page.getByRole('alert')
  await alert.waitFor()
  expect(await alert.textContent()).toMatch(/answered with status 401 .*Check authType and auth.*req_/s)
  await page.getByText('Failing').waitFor()
  await part(page, 'Rows and pages')
  await page.getByLabel('Address').fill('http://10.1.2.3/private')
  await page.getByRole('button', { name: 'Test' }).click()
  await expect
    .poll(async () => (await page.getByRole('alert').allTextContents()).join(' '))
    .toMatch(/10\.1\.2\.3.*req_/s)
  expect(complaints).toEqual([])
})

test('an API is connected, looked at and fetched by the keyboard alone', { timeout: 120_000 }, async () => {
  source.answer({ result: { loans: [{ id: 1, title: 'Emma' }] } })
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections`)
  page.setDefaultTimeout(waitMs)
  await press(page, page.getByRole('link', { name: 'Connect', exact: true }))
  await press(page, page.getByRole('link', { name: 'Another API' }))
  await page.getByRole('heading', { level: 1, name: 'New connection' }).waitFor()
  await tabTo(page, page.getByLabel('Address'))
  await page.keyboard.type(source.url)
  await page.keyboard.press('Enter')
  await page.getByText('application/json').waitFor()
  await tabTo(page, page.getByLabel('Name', { exact: true }))
  // It was proposed from the address.
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Data')
  await page.keyboard.press('Control+a')
  await page.keyboard.type('Loans')
  await tabTo(page, page.getByRole('tab', { name: 'Request' }))
  await press(page, page.getByRole('button', { name: 'Add a header' }))
  await tabTo(page, page.getByLabel('Name of header 1'), 'Shift+Tab')
  await page.keyboard.type('X-Reader')
  await page.getByText('As a table: 1 row, 2 columns').waitFor()
  await tabTo(page, page.getByRole('grid', { name: 'What would be stored' }))
  await tabTo(page, page.getByRole('button', { name: 'Fetch data' }), 'Shift+Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'loans' }).waitFor()
  await page.getByRole('list', { name: 'Columns' }).waitFor()
  await tabTo(page, page.getByRole('tab', { name: 'Columns' }))
  await page.keyboard.press('ArrowRight')
  await tabTo(page, page.getByRole('grid', { name: 'Rows of loans' }))
  await page.getByRole('gridcell', { name: 'Emma' }).waitFor()
  await tabTo(page, page.getByRole('tab', { name: 'Rows' }), 'Shift+Tab')
  for (const view of ['Rules', 'Versions']) {
    await page.keyboard.press('ArrowRight')
    await page.getByRole('tab', { name: view, selected: true }).waitFor()
  }
  await press(page, page.getByRole('link', { name: 'Loans', exact: true }).first())
  await page.getByRole('heading', { level: 1, name: 'Loans' }).waitFor()
  expect(complaints).toEqual([])
})

test('a connection and its table are deleted against their name', async () => {
  source.answer([{ id: 1 }])
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections/new`)
  page.setDefaultTimeout(waitMs)
  await page.getByLabel('Address').fill(source.url)
  await page.getByLabel('Name', { exact: true }).fill('Short lived')
  await page.getByRole('button', { name: 'Fetch data' }).click()
  await page.getByRole('link', { name: 'Short lived', exact: true }).click()
  await page.getByRole('button', { name: 'More for Short lived' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete Short lived' })
  const confirm = dialog.getByRole('button', { name: 'Delete Short lived' })
  expect(await confirm.isDisabled()).toBe(true)
  await dialog.getByLabel('to confirm').fill('short_lived')
  await confirm.click()
  await page.getByText('Short lived is deleted.').waitFor()
  await page.getByRole('heading', { level: 1, name: 'Data' }).waitFor()
  expect(await page.getByRole('link', { name: 'Short lived' }).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('an answer that is no data is one sentence, one button and no table', async () => {
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections/new`)
  page.setDefaultTimeout(waitMs)
  await page.getByLabel('Address').fill(source.url)
  source.answer({ message: 'who are you?', rows: [{ id: 1 }] }, { 'content-type': 'application/json' }, 401)
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  const problem = page.getByRole('alert').filter({ hasText: 'does not accept these credentials' })
  await problem.waitFor()
  expect(await problem.getByRole('button').allTextContents()).toEqual(['Open Authentication'])
  expect(await page.getByText('As a table').count()).toBe(0)
  await part(page, 'Refresh')
  await problem.getByRole('button').click()
  await page.getByRole('tab', { name: 'Authentication', selected: true }).waitFor()

  source.answer('<!doctype html><title>Sign in</title>', { 'content-type': 'text/html' })
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByText('answered with a web page, not with data').waitFor()
  await page.getByRole('button', { name: 'Edit the address' }).click()
  await page.locator('input:focus[aria-label="Address"]').waitFor()
  expect(complaints).toEqual([])
})

test('of a large answer the beginning is shown, and said to be that', async () => {
  source.answer(Array.from({ length: 30_000 }, (_, id) => ({ id, name: `Customer ${id}` })))
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections/new`)
  page.setDefaultTimeout(waitMs)
  await page.getByLabel('Address').fill(source.url)
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByText(/^As a table: 30,000 rows, 2 columns, the first [\d,]+ shown$/).waitFor()
  expect(complaints).toEqual([])
})

test('a table whose load may not be whole says why, where its data serves and among its versions', async () => {
  source.answer({ count: 320, results: [{ id: 1 }, { id: 2 }] })
  const config = { url: source.url, method: 'GET', responsePathExtractor: 'results' }
  const path = `/v1/projects/${projectId}/datasources`
  const made = await editor.post(path, { name: 'Bikes', kind: 'http_api', config })
  const { body: job } = await editor.post(`${path}/${made.body.id}/refresh`)
  await expect.poll(async () => (await editor.get(`/v1/jobs/${job.id}`)).body.status).toBe('succeeded')
  const sentence = 'The API says that it has 320 rows, and 2 came. Check the pagination.'
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections/${made.body.id}`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('status').filter({ hasText: 'Version 1 may not be whole' }).getByText(sentence).waitFor()
  await page.goto(new URL(`/p/${projectId}/build/data/bikes/versions`, page.url()).href)
  await page.getByRole('list', { name: 'Versions' }).getByText(sentence).waitFor()
  expect(complaints).toEqual([])
})

test('an API is made beside a connection, and its address, rate and authentication go with the call', async () => {
  source.answer([{ id: 1 }])
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/build/connections/new`)
  page.setDefaultTimeout(waitMs)
  await page.getByLabel('Name', { exact: true }).fill('Shelves')
  await choose(page, 'API', 'New API…')
  const dialog = page.getByRole('dialog', { name: 'New API' })
  await dialog.getByLabel('Name', { exact: true }).fill('library')
  await dialog.getByLabel('Base address').fill(`http://${source.host}/v1`)
  await dialog.getByRole('combobox', { name: 'Authentication' }).click()
  await page.getByRole('option', { name: 'Bearer Token' }).click()
  await dialog.getByLabel('Token', { exact: true }).fill('of the library')
  await dialog.getByLabel('Calls, at most').fill('50')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('library is saved.').waitFor()
  await page.getByText(`http://${source.host}/v1 · 50 a second`).waitFor()

  await page.getByLabel('Address').fill('/shelves')
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByText('application/json').waitFor()
  expect(source.requests.at(-1)).toMatchObject({
    url: '/v1/shelves',
    headers: { authorization: 'Bearer of the library' },
  })
  await part(page, 'Authentication')
  await page.getByText('As the API library says: Bearer Token.').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Shelves is saved.').waitFor()
  const listed = (await editor.get(`/v1/projects/${projectId}/datasources`)).body.data
  expect(listed.find(({ name }: { name: string }) => name === 'Shelves').config).toMatchObject({
    api: 'library',
    url: '/shelves',
  })

  // A change is of all its connections, and keeps the secret that nobody sees.
  await page.getByRole('button', { name: 'Edit API' }).click()
  const edit = page.getByRole('dialog', { name: 'API library' })
  expect(await edit.getByLabel('Token', { exact: true }).inputValue()).toBe('***')
  await edit.getByLabel('Base address').fill(`http://${source.host}/v2`)
  await edit.getByRole('button', { name: 'Save' }).click()
  await page.getByText(`http://${source.host}/v2 · 50 a second`).waitFor()
  await page.getByRole('button', { name: 'Test' }).click()
  await expect.poll(() => source.requests.at(-1)?.url, { timeout: waitMs }).toBe('/v2/shelves')
  expect(source.requests.at(-1)?.headers.authorization).toBe('Bearer of the library')
  await page.getByRole('button', { name: 'Edit API' }).click()
  const saves: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH') saves.push(request.url())
  })
  await edit.getByRole('button', { name: 'Delete library' }).click()
  await page.getByRole('dialog', { name: 'Delete library' }).getByRole('button', { name: 'Delete library' }).click()
  await page.getByText(/library is used by Shelves/).waitFor()
  expect(saves, 'whoever deletes saves nothing').toEqual([])
  expect(complaints).toEqual([])
})
