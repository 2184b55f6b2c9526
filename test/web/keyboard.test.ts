import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStage, waitMs, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  await stage.deploy('sales_by_region')
})
afterAll(() => stage.close())

/** More presses than any page has things to stop at. */
const mostPresses = 80

/** Goes on with Tab until the focus is there, as someone without a mouse does, and sees where it is. */
async function tabTo(page: Page, place: Locator, key = 'Tab'): Promise<void> {
  await place.waitFor()
  for (let press = 0; press < mostPresses; press += 1) {
    if (await hasFocus(place)) {
      const seen = await page.evaluate('document.querySelector(":focus-visible") !== null')
      expect(seen, `the focus on ${String(place)} is to be seen`).toBe(true)
      return
    }
    await page.keyboard.press(key)
  }
  throw new Error(`the focus never reached ${String(place)}`)
}

/** The tests are typed without a browser, so what an element can do is asked of it. */
function hasFocus(place: Locator): Promise<boolean> {
  return place.evaluate(
    (element) =>
      'matches' in element && typeof element.matches === 'function' && element.matches(':focus-within') === true,
  )
}

async function press(page: Page, place: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, place)
  await page.keyboard.press(key)
}

const rail = (page: Page, name: string): Locator =>
  page.getByRole('navigation', { name: 'Deploy' }).getByRole('link', { name })

test('keys, console, metrics, alerts and requests work by the keyboard alone', { timeout: 180_000 }, async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/deploy`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor()

  await press(page, rail(page, 'API keys'))
  await press(page, page.getByRole('button', { name: 'New API key' }))
  const making = page.getByRole('dialog', { name: 'New API key' })
  await tabTo(page, making.getByLabel('Name'))
  await page.keyboard.type('by hand')
  await press(page, making.getByRole('radio', { name: 'All that are deployed there' }), 'ArrowUp')
  await press(page, making.getByRole('checkbox', { name: 'sales_by_region' }), 'Space')
  await press(page, making.getByRole('button', { name: 'Create key' }))
  const secret = await page.getByRole('dialog').getByLabel('API key', { exact: true }).inputValue()
  await press(page, page.getByRole('button', { name: 'I have stored it' }))
  await page.getByRole('link', { name: 'by hand' }).waitFor()
  await press(page, page.getByRole('button', { name: 'What to do with by hand' }))
  await tabTo(page, page.getByRole('menuitem', { name: 'Edit' }), 'ArrowDown')
  await page.keyboard.press('Enter')
  const editing = page.getByRole('dialog', { name: 'Edit by hand' })
  await tabTo(page, editing.getByLabel('Name'))
  await page.keyboard.press('End')
  await page.keyboard.type(' and eye')
  await page.keyboard.press('Enter')
  await page.getByText('by hand and eye is changed.').waitFor()

  await press(page, rail(page, 'Try it'))
  await page.getByRole('heading', { level: 1, name: 'Try it' }).waitFor()
  await tabTo(page, page.getByRole('radiogroup', { name: 'Call as' }))
  await page.keyboard.press('ArrowRight')
  await tabTo(page, page.getByLabel('API key', { exact: true }))
  await page.keyboard.type(secret)
  await tabTo(page, page.getByRole('textbox', { name: 'region' }))
  await page.keyboard.press('Control+a')
  await page.keyboard.type('east')
  await page.keyboard.press('Escape')
  await press(page, page.getByRole('button', { name: 'Call', exact: true }))
  await page.getByRole('cell', { name: 'east' }).waitFor()
  await tabTo(page, page.getByRole('region', { name: 'Rows of the answer' }))

  await press(page, rail(page, 'Metrics'))
  await page.getByRole('heading', { level: 1, name: 'Metrics' }).waitFor()
  await tabTo(page, page.getByRole('combobox', { name: 'Time' }))
  await page.keyboard.press('Enter')
  await page.getByRole('option', { name: 'The last week' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).searchParams.get('hours')).toBe('168')
  await press(page, page.getByRole('button', { name: 'Show calls as a table' }))
  await tabTo(page, page.getByRole('region', { name: 'Calls', exact: true }))

  await press(page, rail(page, 'Alerts'))
  await press(page, page.getByRole('button', { name: 'New alert' }))
  const alert = page.getByRole('dialog', { name: 'New alert' })
  await tabTo(page, alert.getByLabel('Address of channel 1'))
  await page.keyboard.type('https://hooks.example.org/keyboard')
  await press(page, alert.getByRole('button', { name: 'Create alert' }))
  await press(page, page.getByRole('button', { name: 'I have stored it' }))
  await press(page, page.getByRole('switch', { name: 'Too many errors is on' }), 'Space')
  await page.getByText('Off', { exact: true }).waitFor()
  await press(page, page.getByRole('button', { name: 'Delete Too many errors' }))
  await press(page, page.getByRole('dialog').getByRole('button', { name: 'Delete Too many errors' }))
  await page.getByText('Hear of trouble before your callers tell you').waitFor()

  await press(page, rail(page, 'Requests'))
  await press(page, page.getByRole('switch', { name: 'Live' }), 'Space')
  await page.getByText('New ones wait until you go on.').waitFor()
  expect(complaints).toEqual([])
})

test('a query is changed, run and deployed by the keyboard alone', { timeout: 120_000 }, async () => {
  const { page, complaints } = await stage.visitAs(stage.owner, `/p/${stage.projectId}/build/queries/all_orders`)
  page.setDefaultTimeout(waitMs)
  await page.getByRole('heading', { level: 1, name: 'all_orders' }).waitFor()
  await tabTo(page, page.getByRole('textbox', { name: 'SQL' }))
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' limit 7')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('region', { name: 'Result', exact: true }).getByText('7 rows').waitFor()
  // Tab writes in the editor, so it says how to leave.
  await page.getByText('leaves the editor').waitFor()
  await page.keyboard.press('Escape')
  await tabTo(page, page.getByLabel('Description'))
  await page.keyboard.press('Control+a')
  await page.keyboard.type('Seven orders.')
  await page.keyboard.press('Shift+Tab')
  await press(page, page.getByRole('button', { name: 'Save draft' }))
  await page.getByText('The draft is saved.').waitFor()
  await press(page, page.getByRole('button', { name: 'Deploy…' }))
  await press(page, page.getByRole('button', { name: 'Deploy all_orders to production' }))
  await page.getByText('production v1').waitFor()
  expect(complaints).toEqual([])
})
