import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, type Person } from '../harness/app.ts'
import { openTestWeb, type TestWeb } from '../harness/web.ts'

let t: TestWeb
let projectId: string
let editor: Person
let sourceId: string
beforeAll(async () => {
  t = await openTestWeb()
  projectId = await t.project('Notebook')
  editor = await t.member(projectId, 'editor')
  const config = {
    url: 'https://api.example.org/pages',
    method: 'GET',
    authType: 'Bearer Token',
    auth: { token: 'the stored one' },
  }
  const source = { name: 'Pages', kind: 'http_api', config }
  sourceId = (await expectStatus(201, editor.post(`/v1/projects/${projectId}/datasources`, source))).body.id
  const query = { name: 'answer', sql: 'select 42 as answer', description: 'The answer.' }
  await expectStatus(201, editor.post(`/v1/projects/${projectId}/queries`, query))
})
afterAll(() => t.close())

const at = (path: string): string => `/p/${projectId}/build/${path}`
const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

async function signInAgain(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.getByLabel('Password', { exact: true }).fill(editor.password)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('an unsaved connection is there again after leaving and reloading, but for its secret, until it is discarded', async () => {
  const { page, complaints } = await t.visitAs(editor, at(`connections/${sourceId}`))
  await heading(page, 'Pages')
  expect(await page.getByRole('button', { name: 'Discard changes' }).count()).toBe(0)
  await page.getByLabel('Address').fill('https://api.example.org/pages?since=2026')
  await page.getByRole('tab', { name: 'Authentication' }).click()
  await page.getByLabel('Token', { exact: true }).fill('typed and not to be kept')
  await page.getByRole('link', { name: 'Deploy', exact: true }).click()
  await heading(page, 'Endpoints')
  expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain('not to be kept')
  await page.goto(at(`connections/${sourceId}`))
  await page.getByRole('button', { name: 'Discard changes' }).waitFor()
  expect(await page.getByLabel('Address').inputValue()).toBe('https://api.example.org/pages?since=2026')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Pages is saved.').waitFor()
  await page.getByRole('button', { name: 'Discard changes' }).waitFor({ state: 'detached' })
  const stored = await editor.get(`/v1/projects/${projectId}/datasources/${sourceId}`)
  expect(stored.body.config).toMatchObject({ url: 'https://api.example.org/pages?since=2026', auth: { token: '***' } })

  await page.getByLabel('Name', { exact: true }).fill('Leaves')
  await page.reload()
  await page.getByRole('button', { name: 'Discard changes' }).click()
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Pages')
  await page.reload()
  await heading(page, 'Pages')
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Pages')
  expect(complaints).toEqual([])
})

test('what is typed while a connection is being saved stays, as the next edit', async () => {
  const { page, complaints } = await t.visitAs(editor, at(`connections/${sourceId}`))
  await heading(page, 'Pages')
  await page.getByLabel('Address').fill('https://api.example.org/pages?since=2027')
  // Saving ends for the page when the lists are fetched again: that waits until something was typed.
  const typed = Promise.withResolvers<void>()
  await page.route(/\/data-objects/, async (route) => {
    await typed.promise
    await route.continue()
  })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Pages is saved.').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Sheets')
  const fetched = page.waitForResponse(/\/data-objects/)
  typed.resolve()
  await fetched
  await t.quiet()
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Sheets')
  await page.getByRole('button', { name: 'Discard changes' }).click()
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Pages')
  expect(complaints).toEqual([])
})

test('a new connection that was begun is there again, and gone once it is saved', async () => {
  const { page, complaints } = await t.visitAs(editor, at('connections/new'))
  await page.getByLabel('Address').fill('https://api.example.org/chapters')
  await page.getByLabel('Name', { exact: true }).fill('Chapters')
  await page.getByRole('link', { name: 'Data', exact: true }).click()
  await heading(page, 'Data')
  await page.goto(at('connections/new'))
  expect(await page.getByLabel('Address').inputValue()).toBe('https://api.example.org/chapters')
  await page.getByRole('button', { name: 'Save' }).click()
  await heading(page, 'Chapters')
  await page.goto(at('connections/new'))
  expect(await page.getByLabel('Address').inputValue()).toBe('')
  expect(complaints).toEqual([])
})

test('a session that ends in the middle of a query loses nothing of it', async () => {
  const { page, complaints } = await t.visitAs(editor, at('queries/answer'))
  await heading(page, 'answer')
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByLabel('Description').fill('The answer to everything.')
  await t.quiet()
  t.advance(15 * 86_400_000)
  await page.getByRole('button', { name: 'Save draft' }).click()
  await signInAgain(page)
  await page.getByText('The draft is saved.').waitFor()
  const saved = await t.operator.get(`/v1/projects/${projectId}/queries/answer`)
  expect(saved.body.description).toBe('The answer to everything.')

  // Even where the page itself is loaded anew, and asks to sign in before it shows anything.
  await page.getByLabel('Description').fill('Six times nine.')
  await t.quiet()
  t.advance(15 * 86_400_000)
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.getByLabel('E-mail').fill(editor.email)
  await page.getByLabel('Password', { exact: true }).fill(editor.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await heading(page, 'answer')
  await page.getByRole('button', { name: 'Settings' }).click()
  expect(await page.getByLabel('Description').inputValue()).toBe('Six times nine.')
  expect(complaints).toEqual([])
})

test('a session that ends in the middle of a connection, an alert and a key loses nothing of them', async () => {
  const owner = await t.member(projectId, 'owner')
  const { page, complaints } = await t.visitAs(owner, at(`connections/${sourceId}`))
  const again = async (): Promise<void> => {
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel('Password', { exact: true }).fill(owner.password)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await heading(page, 'Pages')
  await page.getByRole('tab', { name: 'Authentication' }).click()
  await page.getByLabel('Token', { exact: true }).fill('typed while signed in')
  await t.quiet()
  t.advance(15 * 86_400_000)
  await page.getByRole('button', { name: 'Save' }).click()
  await again()
  await page.getByText('Pages is saved.').waitFor()

  await page.goto(`/p/${projectId}/deploy/alerts`)
  await page.getByRole('button', { name: 'New alert' }).click()
  const alert = page.getByRole('dialog', { name: 'New alert' })
  await alert.getByLabel('Name').fill('Nobody reads')
  await alert.getByLabel('Address of channel 1').fill('https://hooks.example.org/pages')
  await t.quiet()
  t.advance(15 * 86_400_000)
  await alert.getByRole('button', { name: 'Create alert' }).click()
  await again()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await page.getByText('Nobody reads', { exact: true }).waitFor()

  await page.goto(`/p/${projectId}/deploy/keys`)
  await page.getByRole('button', { name: 'New API key' }).click()
  const key = page.getByRole('dialog', { name: 'New API key' })
  await key.getByLabel('Name').fill('reader')
  await t.quiet()
  t.advance(15 * 86_400_000)
  await key.getByRole('button', { name: 'Create key' }).click()
  await again()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await page.getByRole('link', { name: 'reader' }).waitFor()
  expect(complaints).toEqual([])
})

test('a session that ends before a question is asked loses neither the question nor the answer', async () => {
  await expectStatus(200, t.operator.post(`/v1/projects/${projectId}/queries/answer/deploy`, { force: true }))
  const { page, complaints } = await t.visitAs(editor, `/p/${projectId}/ask`)
  await page.getByRole('textbox', { name: 'Question' }).fill('what is the answer')
  await t.quiet()
  t.advance(15 * 86_400_000)
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await signInAgain(page)
  await page.getByRole('article', { name: 'what is the answer' }).getByRole('link', { name: 'answer' }).waitFor()
  // What is looked at is in the address, so that it can be sent on and survives a reload.
  await page.reload()
  await page.getByRole('textbox', { name: 'Question' }).waitFor()
  expect(await page.getByRole('textbox', { name: 'Question' }).inputValue()).toBe('what is the answer')
  await page.goto(`/p/${projectId}/deploy/metrics?hours=168&query=answer`)
  await page.reload()
  await expect.poll(() => page.getByRole('combobox', { name: 'Time' }).inputValue()).toBe('The last week')
  expect(await page.getByRole('combobox', { name: 'Query' }).inputValue()).toBe('answer')
  expect(complaints).toEqual([])
})
