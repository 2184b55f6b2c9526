import type { Page } from 'playwright-core'

/** Rows, names, questions and errors come from APIs and callers that nobody knows. */
export const payloads = [
  '<img src=x onerror="window.hit = 1">',
  '"><svg onload="window.hit = 2">',
  "javascript:window.hit=3//'",
  '</script><script>window.hit = 4</script>',
  '[click](javascript:window.hit=5)',
  '{{constructor.constructor("window.hit = 6")()}}',
  'data:text/html,<script>window.hit = 7</script>',
]
export const image = '<img src=x onerror="window.hit = 1">'

/**
 * What ran; what was put into the page as markup, whether or not the page's policy lets it run; addresses that would run
 * something; and what the browser complained about.
 */
export async function whatRan(page: Page, complaints: readonly string[]): Promise<unknown[]> {
  // What was put into the page as markup has had its time to fail to load.
  await page.waitForTimeout(500)
  const found = (await page.evaluate(`(() => {
    const all = [...document.querySelectorAll('*')]
    const attributes = all.flatMap((element) => [...element.attributes])
    return [
      ...(window.hit === undefined ? [] : [window.hit]),
      ...attributes.filter(({ name }) => name.startsWith('on')).map(({ name, value }) => name + '=' + value),
      ...attributes
        .filter(({ name, value }) => /^(href|src|action|formaction|xlink:href)$/.test(name) && /^\\s*(javascript:|data:text)/i.test(value))
        .map(({ value }) => value),
      ...all.filter((element) => element.matches('script') && element.textContent.includes('window.hit')).map(String),
    ]
  })()`)) as unknown[]
  return [...found, ...complaints]
}

/** Whether a payload stands on the page for somebody to read, whole or where it was cut. */
export async function showsPayload(page: Page): Promise<boolean> {
  return page.evaluate(`(() => {
    const fields = [...document.querySelectorAll('input, textarea')].map((each) => each.value)
    return [document.body.innerText, ...fields].some((text) => text.includes('window.hit'))
  })()`)
}

/** Tabs and everything folded in the main part of a page, each opened once and looked at by the caller. */
export async function openEverything(
  page: Page,
  { withTabs }: { withTabs: boolean },
  look: (what: string) => Promise<void>,
): Promise<void> {
  const main = page.getByRole('main')
  const address = page.url()
  const tabs = withTabs ? await main.getByRole('tab').count() : 0
  for (let at = 0; at < tabs; at += 1) {
    const tab = main.getByRole('tab').nth(at)
    await tab.click()
    await look(`tab ${await tab.innerText()}`)
  }
  if (tabs > 0) await main.getByRole('tab').first().click()
  const closed = main.locator('details:not([open]) > summary:visible')
  // One that is open is none of them any more.
  for (let left = 20; left > 0 && (await closed.count()) > 0; left -= 1) {
    await closed.first().click({ timeout: 10_000 })
    await look(`details ${left}`)
  }
  for (let left = 20; left > 0; left -= 1) {
    const folded = main.locator('button[aria-expanded="false"]:not([aria-haspopup]):not(:disabled):visible').first()
    if ((await folded.count()) === 0) break
    await folded.click({ timeout: 10_000 })
    await look(`unfolded ${left}`)
    // What unfolds as a page of its own is walked by itself.
    if (page.url() !== address) break
    await folded.evaluate('(element) => element.setAttribute("aria-expanded", "seen")').catch(() => {})
  }
}
