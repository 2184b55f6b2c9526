import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'

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
