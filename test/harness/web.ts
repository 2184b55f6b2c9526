import { existsSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { onTestFinished, TestRunner } from 'vitest'
import { openTestApp, type Person, type TestApp } from './app.ts'
import { giveBack, takeProfile } from './browser.ts'

export type Visitor = {
  page: Page
  /** What the browser complained about: errors of scripts, refusals of the policy, requests to anywhere else. */
  complaints: string[]
}

export type TestWeb = TestApp & {
  origin: string
  /**
   * Someone with a browser profile of their own, at a path of the app. Who comes in a test leaves with it: pages that
   * stay open follow what happens on the server, and draw it. Who comes before the tests stays for all of them.
   */
  visit(path: string, options?: VisitOptions): Promise<Visitor>
  /** The same, signed in by password. */
  visitAs(person: Person, path: string, options?: VisitOptions): Promise<Visitor>
  /**
   * The pages have been answered all they asked for. Before the clock is moved past a session's end: an answer on its way
   * would give that session new time.
   */
  quiet(): Promise<void>
}

type VisitOptions = { scheme?: 'light' | 'dark' }

/** A real app that listens, and a real browser that visits it. */
export async function openTestWeb(
  environment: Record<string, string> = {},
  options: Parameters<typeof openTestApp>[1] = {},
): Promise<TestWeb> {
  if (!existsSync(join(import.meta.dirname, '../../web/dist/index.html'))) {
    throw new Error('The web app is not built: run npm run build first.')
  }
  const app = await openTestApp(environment, options)
  const origin = await listenAsBefore(app)
  const pages = new Set<Page>()
  const quiet = watchRequests(app, pages)

  const staying: Array<() => Promise<void>> = []
  const open = async (options?: VisitOptions): Promise<Visitor> => {
    const { leave: giveUp, ...visitor } = await openVisitor(origin, options)
    pages.add(visitor.page)
    const leave = (): Promise<void> => {
      pages.delete(visitor.page)
      return giveUp()
    }
    if (TestRunner.getCurrentTest() === undefined) staying.push(leave)
    else {
      onTestFinished(async ({ task }) => {
        if (task.result?.state === 'fail') await sayPage(visitor.page)
        await leave()
      })
    }
    return visitor
  }

  return {
    ...app,
    origin,
    quiet,
    async visit(path, options) {
      const visitor = await open(options)
      await visitor.page.goto(path)
      return visitor
    },
    async visitAs(person, path, options) {
      const visitor = await open(options)
      // As the form does it, without the two pages around it; the session's cookie is the profile's from then on.
      const { email, password } = person
      const request = visitor.page.context().request
      const signedIn = await request.post('/v1/session', { data: { email, password } })
      if (!signedIn.ok()) throw new Error(`${email} cannot sign in: ${await signedIn.text()}`)
      await visitor.page.goto(path)
      return visitor
    },
    async close() {
      for (const leave of staying) await leave()
      await app.close()
    },
  }
}

/** Apps of one test process follow one another at one address, by which the browser knows the app's files again. */
let usualPort = 0

async function listenAsBefore(app: TestApp): Promise<string> {
  const origin = await app.listen(usualPort).catch(() => app.listen())
  usualPort = Number(new URL(origin).port)
  return origin
}

function watchRequests({ http }: TestApp, pages: ReadonlySet<Page>): () => Promise<void> {
  let open = 0
  http.server.on('request', ({ url }: IncomingMessage, response: ServerResponse) => {
    // A stream of events lasts as long as its page.
    if (url?.endsWith('/events') === true) return
    open += 1
    response.once('close', () => (open -= 1))
  })
  return async () => {
    // What a page makes of an answer may be the next question: it has made it once it has nothing left to do.
    for (let looks = 0; looks < 3; looks = open === 0 ? looks + 1 : 0) {
      await Promise.all([...pages].map((page) => page.evaluate(idle)))
      await wait(20)
    }
  }
}

/** What a failed test had before it: from a machine that nobody can look at, this is all that is seen of the page. */
async function sayPage(page: Page): Promise<void> {
  const shown = await page.locator('body').ariaSnapshot({ timeout: 5_000 }).catch(String)
  process.stdout.write(`\n${page.url()}\n${shown.slice(0, 6_000)}\n`)
}

const idle = 'new Promise((done) => requestIdleCallback(done, { timeout: 5_000 }))'

/** Someone with a browser profile of their own, who leaves nothing behind in it. */
export async function openVisitor(
  origin: string,
  { scheme = 'light' }: VisitOptions = {},
): Promise<Visitor & { leave: () => Promise<void> }> {
  const profile = await takeProfile(origin)
  const { page } = profile
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.emulateMedia({ colorScheme: scheme })
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
  return { page, complaints, leave: () => giveBack(profile) }
}
