import axe, { type AxeResults, type RunOnly, type RunOptions } from 'axe-core'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'

type Scheme = 'light' | 'dark'

/** `npm test` leaves looking at pages to `npm test -- --all`: it is most of what a browser test takes. */
export const areLookedFor = process.env['TEST_LOOKS'] !== 'none'

/** Where screenshots are kept, to be looked at. */
export const artefacts = join(import.meta.dirname, '../artefacts')

/** Only for those who look at them (`npm test -- pictures`): no test reads one, and drawing them is most of a page's cost. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (process.env['TEST_PICTURES'] !== 'yes') return
  await mkdir(artefacts, { recursive: true })
  await page.screenshot({ path: join(artefacts, `${name}.png`) })
}

/** Says what stands in anyone's way on the page. `look` is what the pictures are about, where it is not at the top. */
export async function findBarriers(page: Page, name: string, look?: Locator): Promise<string[]> {
  if (!areLookedFor) return []
  const found: string[] = []
  const known = new Set<number>()
  const sizeBefore = page.viewportSize()
  // Changing the scheme draws everything anew, so it is changed as seldom as can be.
  for (const [width, scheme] of looksFor(name)) {
    const height = width === 390 ? 844 : width === 720 ? 450 : 800
    await page.setViewportSize({ width, height })
    await show(page, scheme)
    // From the top: what the bar half covers after a scroll is no smaller for that.
    await page.evaluate('scrollTo(0, 0)')
    const asksOnlyContrast = known.has(width)
    known.add(width)
    found.push(
      ...(await askAxe(page, asksOnlyContrast)).map((barrier) => `${name} at ${width} in ${scheme}: ${barrier}`),
    )
    if (!asksOnlyContrast) {
      const tree = await page.locator('body').ariaSnapshot()
      if (width === 1280) await keepTree(name, tree)
      found.push(...unnamed(tree).map((part) => `${name} at ${width}: a screen reader finds no name of a ${part}`))
    }
    // Only now: what was drawn anew for the width may lack its words in the first frames.
    await look?.scrollIntoViewIfNeeded()
    await takePicture(page, `${name}-${scheme}-${width}`)
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    if (overflow !== 0) found.push(`${name} at ${width} in ${scheme}: ${String(overflow)} px too wide`)
    const blank = Number(await page.evaluate(blankBelow))
    if (blank > 100) found.push(`${name} at ${width} in ${scheme}: the page goes on for ${blank} px below its end`)
    if ((await page.evaluate(sidewaysTables)) !== 0) {
      found.push(`${name} at ${width} in ${scheme}: a table that wraps scrolls sideways all the same`)
    }
  }
  // Who goes on with the page finds it as wide as it was: where it is narrow, the menu lies over it.
  if (sizeBefore !== null) await page.setViewportSize(sizeBefore)
  return found
}

/** What a screen reader goes through, to be read by whoever looks at the pictures. */
async function keepTree(name: string, tree: string): Promise<void> {
  if (process.env['TEST_PICTURES'] !== 'yes') return
  await mkdir(artefacts, { recursive: true })
  await writeFile(join(artefacts, `${name}.aria.yml`), `${tree}\n`)
}

/** Parts that people jump to or choose by their name. Axe asks for the names of what can be clicked only. */
const named = new Set(['table', 'grid', 'dialog', 'form', 'region', 'tabpanel', 'tablist', 'tree', 'listbox'])

function unnamed(tree: string): string[] {
  return tree.split('\n').flatMap((line) => {
    const role = /^\s*- (\w+)(?: \[[^\]]*\])*:?$/.exec(line)?.[1]
    return role !== undefined && named.has(role) ? [role] : []
  })
}

type Look = [width: number, scheme: Scheme]

/**
 * One of the four, by turns, for a test that is run by hand. `TEST_LOOKS=all`, which CI sets, and pictures show every page
 * in all four, and at a zoom of 200 %.
 */
function looksFor(name: string): Look[] {
  const isAll = process.env['TEST_LOOKS'] === 'all' || process.env['TEST_PICTURES'] === 'yes'
  const looks: Look[] = [
    [390, 'light'],
    [1280, 'light'],
    [1280, 'dark'],
    [390, 'dark'],
  ]
  // Half of 1440 is what is left of it at a zoom of 200 %.
  if (isAll) return [...looks, [1440, 'dark'], [720, 'dark']]
  return looks.filter((_look, at) => at === name.length % looks.length)
}

/** What is placed by the page and not by the part that scrolls it makes the page longer than what it shows. */
const blankBelow = `document.documentElement.scrollHeight -
  Math.max(document.documentElement.clientHeight, Math.round(document.body.getBoundingClientRect().height))`

const sidewaysTables = `[...document.querySelectorAll('table[data-wraps]')].filter(({ parentElement: place }) =>
  place.scrollWidth > place.clientWidth).length`

/** The page follows the system, so it needs not be loaded again. */
async function show(page: Page, scheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
  await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor()
  await page.evaluate(settled)
}

/**
 * What depends on the width and the scheme is drawn in the frames after them. A colour that is inherited through several
 * elements passes each in a frame of its own; what turns for ever is not waited for.
 */
const settled = `(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done))
  await frame()
  for (let frames = 0; frames < 60; frames += 1) {
    await frame()
    const moving = document.getAnimations().filter(({ effect }) => effect.getComputedTiming().iterations !== Infinity)
    if (moving.length === 0) return
  }
})()`

/** What axe finds, in one line each. The schemes share their structure, so once it was asked, only contrast is. */
export async function askAxe(page: Page, asksOnlyContrast: boolean): Promise<string[]> {
  if (!areLookedFor) return []
  const runOnly: RunOnly = asksOnlyContrast
    ? { type: 'rule', values: ['color-contrast'] }
    : { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }
  // Half a megabyte: once for each page that is loaded is enough.
  if ((await page.evaluate('"axe" in window')) === false) await page.evaluate(axe.source)
  // Half of its time went into selectors of elements, which nobody reads, and into reading the style sheets again, which
  // none of these rules looks at.
  const unread = { resultTypes: ['violations'], selectors: false, preload: { assets: ['media'] } } satisfies RunOptions
  const options = JSON.stringify({ runOnly, ...unread } satisfies RunOptions)
  const violations = await page.evaluate<AxeResults['violations']>(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.failureSummary} ${node.html.slice(0, 200)}`),
  )
}
