import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'

const usualPlaces = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The Chromium of this machine: the one that is named, else one in a usual place, else Playwright's own. */
function findChromium(named: string | undefined): string {
  if (named !== undefined && named !== '') return named
  return (
    usualPlaces.find((path) => existsSync(path) && !(isVisible && path.endsWith('shell'))) ?? chromium.executablePath()
  )
}

/** To watch a test: the shell, which most runs use, has no window. */
const isVisible = process.env['TEST_BROWSER'] === 'visible'

let shared: Promise<Browser> | undefined

/** The browser of this process, which starts once; each visitor has a profile of their own. It ends with the process. */
export function openBrowser(): Promise<Browser> {
  shared ??= chromium.launch({
    executablePath: findChromium(process.env['CHROMIUM_PATH']),
    headless: !isVisible,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    timeout: 30_000,
  })
  return shared
}

/** A browser profile for one app, with one page. */
export type Profile = { origin: string; page: Page }

/** Profiles that nobody uses at the moment. */
const free: Profile[] = []

/**
 * A profile without cookies, and nothing stored. One that was used before where there is one: its page has a process,
 * which has compiled the app's scripts, and both are more than half of what a first visit takes.
 */
export async function takeProfile(origin: string): Promise<Profile> {
  const known = free.findIndex((each) => each.origin === origin)
  const [profile = await newProfile(origin)] = known < 0 ? [] : free.splice(known, 1)
  return profile
}

async function newProfile(origin: string): Promise<Profile> {
  const browser = await openBrowser()
  const context = await browser.newContext({
    baseURL: origin,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  // On a machine that others use a page can take its time.
  context.setDefaultTimeout(60_000)
  return { origin, page: await context.newPage() }
}

/** For the next visitor, who finds nothing of this one. */
export async function giveBack(profile: Profile): Promise<void> {
  const { page } = profile
  const context = page.context()
  try {
    page.removeAllListeners()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await context.setOffline(false)
    for (const other of context.pages().filter((each) => each !== page)) await other.close()
    // A page of the same address without scripts: it keeps the process, and has the same stores.
    await page.goto('/healthz')
    await page.evaluate('(localStorage.clear(), sessionStorage.clear())')
    await context.clearCookies()
    free.push(profile)
  } catch {
    // The app is gone, or a test has closed the page.
    await context.close()
  }
}
