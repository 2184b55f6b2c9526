import { AxeBuilder } from '@axe-core/playwright'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

export type Scheme = 'light' | 'dark'

/** Where screenshots are kept, to be looked at. */
export const artefacts = join(import.meta.dirname, '../artefacts')

export async function takePicture(page: Page, name: string): Promise<void> {
  await mkdir(artefacts, { recursive: true })
  await page.screenshot({ path: join(artefacts, `${name}.png`) })
}

/** Takes a picture of the page at both widths, and says what stands in anyone's way there. */
export async function findBarriers(page: Page, name: string, scheme: Scheme): Promise<string[]> {
  const found: string[] = []
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: width === 390 ? 844 : 800 })
    // What depends on the width is drawn in the frames after it.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))')
    found.push(...(await askAxe(page, scheme)).map((barrier) => `${name} at ${width}: ${barrier}`))
    // Only now: what was drawn anew for the width may lack its words in the first frames.
    await takePicture(page, `${name}-${scheme}-${width}`)
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    if (overflow !== 0) found.push(`${name} at ${width}: ${String(overflow)} px too wide`)
  }
  return found
}

/** What axe finds, in one line each. The schemes share their structure, so the dark one is asked only for contrast. */
async function askAxe(page: Page, scheme: Scheme): Promise<string[]> {
  const axe = new AxeBuilder({ page })
  const asked =
    scheme === 'dark'
      ? axe.withRules(['color-contrast'])
      : axe.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
  const { violations } = await asked.analyze()
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.failureSummary} ${node.html.slice(0, 200)}`),
  )
}
