import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestWeb, type TestWeb } from '../harness/web.ts'
import { hasFocus } from './by-keyboard.ts'

let t: TestWeb
beforeAll(async () => {
  t = await openTestWeb()
})
afterAll(() => t.close())

test('everything from jumping to making a project works by the keyboard, and the focus follows', async () => {
  const { page, complaints } = await t.visit(await t.signInLink())
  await page.getByRole('heading', { name: 'Projects' }).waitFor()
  await page.keyboard.press('Tab')
  expect(await page.locator(':focus').textContent()).toBe('Skip to the content')
  expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')

  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Jump to a page').waitFor()
  await page.keyboard.type('new proj')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'New project' })
  await dialog.waitFor()
  await expect.poll(() => hasFocus(dialog.getByLabel('Name'))).toBe(true)
  await page.keyboard.type('Vineyard')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await page.getByRole('link', { name: 'Settings' }).press('Enter')
  await page.getByRole('heading', { name: 'Project', exact: true }).waitFor()

  const rail = page.getByRole('navigation', { name: 'Settings' })
  await rail.getByRole('link', { name: 'Audit' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Audit log' }).waitFor()
  expect(await page.locator(':focus').textContent()).toBe('Audit')

  await page.getByRole('link', { name: 'Sluice: your projects' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  await expect.poll(() => hasFocus(page.locator('main'))).toBe(true)
  expect(complaints).toEqual([])
})

test('light and dark follow the system until someone chooses, and then the choice', async () => {
  const { page } = await t.visit(await t.signInLink(), { scheme: 'dark' })
  await page.getByRole('button', { name: 'Your account' }).waitFor()
  const shown = () => page.locator('html').getAttribute('data-mantine-color-scheme')
  await page.goto('/account')
  await page.getByRole('heading', { name: 'Account' }).waitFor()
  expect(await shown()).toBe('dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await expect.poll(shown).toBe('light')
  await page.getByText('Dark', { exact: true }).click()
  await expect.poll(shown).toBe('dark')
  await page.reload()
  await page.getByRole('heading', { name: 'Account' }).waitFor()
  expect(await shown()).toBe('dark')
})

test('a server that cannot be reached costs nothing that was typed', async () => {
  const projectId = await t.project('Canal')
  const person = await t.member(projectId, 'owner')
  const { page } = await t.visitAs(person, `/p/${projectId}/settings/project`)
  await page.getByLabel('Project name').fill('Great canal')
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByText('The server cannot be reached.').waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByText('The project is called Great canal now.').waitFor()
  expect(await page.getByText('The server cannot be reached.').count()).toBe(0)
})

test('a page that cannot be drawn says so and offers a way on', async () => {
  const { page } = await t.visit('/sign-in')
  await page.route('**/v1/projects?*', (route) => route.fulfill({ json: { data: [null, null], next_cursor: null } }))
  await page.goto(await t.signInLink())
  await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor()
  await page.unroute('**/v1/projects?*')
  await page.getByRole('button', { name: 'Load it again' }).click()
  await page.getByRole('button', { name: 'New project' }).first().waitFor()
  expect(await page.getByRole('heading', { name: 'This page could not be shown' }).count()).toBe(0)
})

test('what takes its time shows that it is on its way', async () => {
  const projectId = await t.project('Slow river')
  const person = await t.member(projectId, 'owner')
  const { page, complaints } = await t.visitAs(person, '/account')
  const { promise: arrival, resolve: arrive } = Promise.withResolvers<void>()
  await page.route('**/v1/projects/*/members', async (route) => {
    await arrival
    await route.continue()
  })
  await page.goto(`/p/${projectId}/settings/members`)
  await page.getByText('Loading', { exact: true }).waitFor({ state: 'attached' })
  arrive()
  await page.getByText(person.email).waitFor()
  expect(await page.getByText('Loading', { exact: true }).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('nothing moves for those who ask for stillness', async () => {
  const person = await t.member(await t.project('Pond'), 'owner')
  const { page } = await t.visitAs(person, '/?all')
  /** The longest that anything on the page takes to move. */
  const longestMs = async (): Promise<number> =>
    Number(
      await page.evaluate(`Math.max(...[...document.querySelectorAll('*')].flatMap((element) => {
        const { transitionDuration, animationDuration } = getComputedStyle(element)
        return [transitionDuration, animationDuration].join(',').split(',').map((time) => parseFloat(time) * 1000)
      }))`),
    )
  const open = async (): Promise<void> => {
    await page.getByRole('button', { name: 'New project' }).first().click()
    await page.getByRole('dialog').waitFor()
  }
  await open()
  expect(await longestMs()).toBeLessThan(1)
  await page.keyboard.press('Escape')
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await page.reload()
  await open()
  expect(await longestMs()).toBeGreaterThan(50)
})
