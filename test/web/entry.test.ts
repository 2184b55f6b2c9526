import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestWeb, type TestWeb } from '../harness/web.ts'

let t: TestWeb
beforeAll(async () => {
  t = await openTestWeb()
})
afterAll(() => t.close())

const pathOf = (page: Page): string => new URL(page.url()).pathname

test('the one-time link signs in, leaves the address and works only once', async () => {
  const link = await t.signInLink()
  const { page, complaints } = await t.visit(link)
  await page.getByRole('heading', { name: 'Projects' }).waitFor()
  expect(page.url()).toBe(`${t.origin}/`)

  await page.goBack()
  expect(page.url()).not.toContain('slc_link')

  const second = await t.visit(link)
  const refusal = second.page.getByRole('alert')
  await refusal.waitFor()
  expect(await refusal.textContent()).toMatch(/was used before.*req_/s)
  expect(second.page.url()).toBe(`${t.origin}/sign-in`)
  await second.page.getByLabel('E-mail').waitFor()
  expect([...complaints, ...second.complaints]).toEqual([])
})

test('nobody is asked who they are before they have signed in, and the browser has nothing to complain of', async () => {
  const { page } = await t.visit('about:blank')
  const refused: string[] = []
  page.on('response', (answer) => void (answer.status() >= 400 && refused.push(`${answer.status()} ${answer.url()}`)))
  page.on('console', (message) => void (message.type() === 'error' && refused.push(message.text())))
  for (const path of ['/', '/account', '/sign-in']) {
    await page.goto(path)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }
  await page.goto(await t.signInLink())
  await page.getByRole('heading', { name: 'Projects' }).waitFor()
  // The page of a stranger is not kept: who goes back after signing in is not taken for one.
  await page.goto('about:blank')
  await page.goBack()
  await page.getByRole('heading', { name: 'Projects' }).waitFor()
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  // Without a password there is no way back, which is said before it is so.
  const leaving = page.getByRole('dialog', { name: 'You could not come back' })
  await leaving.getByRole('link', { name: 'Set a password' }).waitFor()
  await leaving.getByRole('button', { name: 'Sign out anyway' }).click()
  await page.waitForURL(`${t.origin}/sign-in`)
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(refused).toEqual([])
})

test('the prompt for a password stays away once it is put off', async () => {
  const { page, complaints } = await t.visit(await t.signInLink())
  await page.getByText('one-time link').waitFor()
  await page.getByRole('button', { name: 'Not now' }).click()
  await page.reload()
  await page.getByRole('heading', { name: 'Projects' }).waitFor()
  expect(await page.getByText('one-time link').count()).toBe(0)
  expect(complaints).toEqual([])
})

test('the first user is asked for e-mail and password, and comes back with them by the keyboard alone', async () => {
  const { page, complaints } = await t.visit(await t.signInLink())
  await page.getByRole('link', { name: 'Set them' }).click()
  await page.getByLabel('E-mail').fill('ada@example.org')
  await page.getByLabel('Password', { exact: true }).fill('short')
  await page.getByRole('button', { name: 'Set e-mail and password' }).click()
  await page.getByText('Must have at least 10 characters.').waitFor()
  await page.getByLabel('Password', { exact: true }).fill('a long password')
  await page.getByRole('button', { name: 'Set e-mail and password' }).click()
  await page.getByText('Your sign-in is changed.').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL(`${t.origin}/sign-in`)

  await page.goto('/account')
  await page.waitForURL(`${t.origin}/sign-in?next=%2Faccount`)
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key)
  }
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await press('Tab')
  await page.keyboard.type('ada@example.org')
  await press('Tab')
  await page.keyboard.type('a wrong password')
  await press('Enter')
  await page.getByText('E-mail and password do not match.').waitFor()
  expect(await page.getByLabel('E-mail').inputValue()).toBe('ada@example.org')
  await press('Control+a')
  await page.keyboard.type('a long password')
  await press('Enter')
  await page.getByRole('heading', { name: 'Account' }).waitFor()
  expect(page.url()).toBe(`${t.origin}/account`)
  expect(complaints).toEqual([])
})

test('a sign-in leads back to where one wanted to go, and nowhere else', async () => {
  const projectId = await t.project('Harbour')
  const person = await t.member(projectId, 'viewer')
  const { page } = await t.visit(`/sign-in?next=${encodeURIComponent('//evil.example')}`)
  const signIn = async (): Promise<void> => {
    await page.getByLabel('E-mail').fill(person.email)
    await page.getByLabel('Password', { exact: true }).fill(person.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  await signIn()
  await page.getByRole('heading', { name: 'Ask' }).waitFor()
  expect(pathOf(page)).toBe(`/p/${projectId}/ask`)
})

test('an expired session asks again over the page and finishes what was begun', async () => {
  const projectId = await t.project('Bakery')
  const person = await t.member(projectId, 'owner')
  const { page, complaints } = await t.visitAs(person, `/p/${projectId}/settings/project`)
  await page.getByLabel('Project name').fill('Bakery and café')
  await t.quiet()
  t.advance(15 * 86_400_000)
  await page.getByRole('button', { name: 'Rename' }).click()

  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.waitFor()
  expect(await page.getByLabel('Project name').inputValue()).toBe('Bakery and café')
  expect(await dialog.getByLabel('E-mail').inputValue()).toBe(person.email)
  await dialog.getByLabel('Password', { exact: true }).fill(person.password)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('The project is called Bakery and café now.').waitFor()
  expect((await t.operator.get(`/v1/projects/${projectId}`)).body.name).toBe('Bakery and café')
  expect(complaints).toEqual([])
})

test('what one person began is not finished by another who signs in over it', async () => {
  const projectId = await t.project('Dairy')
  const person = await t.member(projectId, 'owner')
  const other = await t.member(projectId, 'owner')
  const { page } = await t.visitAs(person, `/p/${projectId}/settings/project`)
  await page.getByLabel('Project name').fill('Cheese')
  await t.quiet()
  t.advance(15 * 86_400_000)
  await page.getByRole('button', { name: 'Rename' }).click()
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.getByLabel('E-mail').fill(other.email)
  await dialog.getByLabel('Password', { exact: true }).fill(other.password)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'People and tokens' }).click()
  await page.getByText(other.email).waitFor()
  expect((await t.operator.get(`/v1/projects/${projectId}`)).body.name).toBe('Dairy')
})

test('declining to sign in again leaves the page as it was, with the reason', async () => {
  const projectId = await t.project('Mill')
  const person = await t.member(projectId, 'owner')
  const { page } = await t.visitAs(person, `/p/${projectId}/settings/project`)
  await page.getByLabel('Project name').fill('Windmill')
  await t.quiet()
  t.advance(15 * 86_400_000)
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('dialog', { name: 'Your session has ended' }).getByRole('button', { name: 'Close' }).click()
  await page.getByRole('alert').waitFor()
  expect(await page.getByLabel('Project name').inputValue()).toBe('Windmill')
})

test('signing out ends the session on the server, not only on the page', async () => {
  const projectId = await t.project('Forge')
  const person = await t.member(projectId, 'viewer')
  const { page } = await t.visitAs(person, '/account')
  const cookies = await page.context().cookies()
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(`${t.origin}/sign-in`)
  await page.context().addCookies(cookies)
  await page.goto('/account')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(pathOf(page)).toBe('/sign-in')
})
