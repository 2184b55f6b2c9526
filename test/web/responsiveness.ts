import type { Page } from 'playwright-core'

/** What was clicked or typed in, and how long it took until the page had drawn its answer. */
export type Interaction = { what: string; durationMs: number }

/**
 * Measures how soon the page draws after each click and key, as browsers do for "interaction to next paint". Gives the
 * slowest of each kind since it was last asked.
 */
export async function watchInteractions(page: Page): Promise<() => Promise<Interaction[]>> {
  const slowest = new Map<string, number>()
  // Its own name each time: a page may be watched again, and a name cannot be given twice.
  const tell = `tellInteraction${Date.now()}`
  await page.exposeFunction(tell, (what: string, durationMs: number) => {
    slowest.set(what, Math.max(slowest.get(what) ?? 0, durationMs))
  })
  const watch = `{ let pressed = ''
  addEventListener('keydown', ({ key }) => (pressed = key.length === 1 ? '' : ' ' + key), true)
  new PerformanceObserver((list) => {
    for (const { interactionId, name, duration, target } of list.getEntries()) {
      if (interactionId === 0) continue
      const label = target === null ? 'what is gone' : (target.getAttribute('aria-label') ?? target.textContent ?? '')
      const how = name.startsWith('key') ? 'key' + pressed : 'pointer'
      void window.${tell}(how + ' on ' + label.slice(0, 30), duration)
    }
  }).observe({ type: 'event', buffered: true, durationThreshold: 16 }) }`
  await page.addInitScript(watch)
  await page.evaluate(watch)
  return async () => {
    // Entries are handed over after the frame they measure.
    await page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))',
    )
    const found = [...slowest].map(([what, durationMs]) => ({ what, durationMs }))
    slowest.clear()
    return found
  }
}

/**
 * What the app itself costs: other work on the machine only ever adds, so of several walks along the same way each kind
 * of interaction counts with its best. One too quick to be measured in a walk was drawn within a frame there.
 */
export function bestOf(walks: Interaction[][]): Interaction[] {
  const kinds = new Set(walks.flat().map(({ what }) => what))
  return [...kinds]
    .map((what) => ({
      what,
      durationMs: Math.min(...walks.map((walk) => walk.find((each) => each.what === what)?.durationMs ?? 16)),
    }))
    .toSorted((one, other) => other.durationMs - one.durationMs)
}

/** The longest time for which the page could answer nothing while `act` went on. */
export async function longestBlock(page: Page, act: () => Promise<void>): Promise<number> {
  await page.evaluate(`{
    let last = performance.now()
    window.longestGapMs = 0
    window.beating = setInterval(() => {
      const now = performance.now()
      window.longestGapMs = Math.max(window.longestGapMs, now - last)
      last = now
    }, 10)
  }`)
  await act()
  return Number(await page.evaluate('(clearInterval(window.beating), window.longestGapMs)'))
}
