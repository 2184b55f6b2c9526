import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { openTestApp, type Person, type TestApp } from './app.ts'
import { openBrowser } from './browser.ts'

export type Visitor = {
  page: Page
  /** What the browser complained about: errors of scripts, refusals of the policy, requests to anywhere else. */
  complaints: string[]
}

export type TestWeb = TestApp & {
  origin: string
  /** Someone with a browser profile of their own, at a path of the app. */
  visit(path: string, options?: VisitOptions): Promise<Visitor>
  /** The same, signed in by password. */
  visitAs(person: Person, path: string, options?: VisitOptions): Promise<Visitor>
}

type VisitOptions = { scheme?: 'light' | 'dark'; width?: number; height?: number }

/** A real app that listens, and a real browser that visits it. */
export async function openTestWeb(environment: Record<string, string> = {}): Promise<TestWeb> {
  if (!existsSync(join(import.meta.dirname, '../../web/dist/index.html'))) {
    throw new Error('The web app is not built: run npm run build first.')
  }
  const app = await openTestApp(environment)
  const origin = await app.listen()
  const browser = await openBrowser()

  const visitors: Visitor[] = []
  const visit: TestWeb['visit'] = async (path, options) => {
    const visitor = await openVisitor(browser, origin, path, options)
    visitors.push(visitor)
    return visitor
  }

  return {
    ...app,
    origin,
    visit,
    async visitAs(person, path, options) {
      const visitor = await visit('about:blank', options)
      const { page } = visitor
      // As the form does it, without the two pages around it; the session's cookie is the profile's from then on.
      const { email, password } = person
      const signedIn = await page.context().request.post('/v1/session', { data: { email, password } })
      if (!signedIn.ok()) throw new Error(`${email} cannot sign in: ${await signedIn.text()}`)
      await page.goto(path)
      return visitor
    },
    async close() {
      // The browser stays for the next file.
      for (const { page } of visitors) await page.context().close()
      await app.close()
    },
  }
}

/** A browser profile at a path of a running app. */
export async function openVisitor(
  browser: Browser,
  origin: string,
  path: string,
  { scheme = 'light', width = 1280, height = 800 }: VisitOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    baseURL: origin,
    colorScheme: scheme,
    viewport: { width, height },
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  // On a machine that others use a page can take its time.
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // The browser reports every refused call by itself; what it means is on the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text())
    }
  })
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url())
    if (protocol !== 'data:' && protocol !== 'about:' && asked !== origin) complaints.push(`asked ${request.url()}`)
  })
  await page.goto(path)
  return { page, complaints }
}
