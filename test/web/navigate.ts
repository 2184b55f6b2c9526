import type { Page } from 'playwright-core'

/** Through an empty page: a path that differs only after its # would load nothing. */
export async function load(page: Page, path: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(path)
}

/**
 * As a click within the app does, by way of another page, so that what was open is closed. Loading the app anew for every
 * page costs a process and half of a test's time.
 */
export async function moveTo(page: Page, path: string): Promise<void> {
  // What lies above every page stays open from one to the next.
  await page.keyboard.press('Escape')
  await page.evaluate("history.pushState(null, '', '/docs/none')")
  await page.getByRole('heading', { level: 1, name: 'There is nothing here' }).waitFor()
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
}
