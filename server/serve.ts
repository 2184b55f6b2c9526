import { setTimeout as wait } from 'node:timers/promises'
import { actAs, ensureFirstUser, makeSignInLink } from './access/index.ts'
import { openApp, type App } from './app.ts'
import { collectAll, say, type StopRequests } from './process/index.ts'
import type { Config } from './config.ts'
import { ensureExample, type Example } from './example/index.ts'
import { maintain } from './housekeeping.ts'
import { buildHttp, type Http } from './http/index.ts'
import { warmProjects } from './queries/index.ts'
import { readQueries, warmQuestions } from './questions/index.ts'
import type { OpeningStore } from './store/index.ts'

/** A caller whose connection finds no room here tries again after 1, 3, 7, 15 and 31 seconds, and blames the answer. */
const connectionsWaiting = 4_096
const idleLookMs = 50
const warmAfterMs = 250
/** Without a request for so long, nobody minds a pause of a quarter of a second. */
const quietMs = 2_000
/** As long as a database takes that has to be started again. */
const maxLinkAttempts = 15
const linkPauseMs = 1_000

type Start = {
  config: Config
  requests: StopRequests
  store: OpeningStore
  /** Whether somebody is at the terminal who wants to be let in. */
  withWelcome: boolean
  startedAtMs: number
  /** Ends the process: all is closed. */
  end: () => void
}

/** Opens the service over a database that is on its way, and answers until a signal asks for its end. */
export async function serve({ config, requests, store, withWelcome, startedAtMs, end }: Start): Promise<void> {
  const app = await openApp(config, { store })
  const [http] = await Promise.all([buildHttp(app), app.started]).catch(async (error: unknown) => {
    // A start that fails leaves no database behind.
    await app.close()
    throw error
  })
  const first = await ensureFirstUser(app, { example: config.example === 'on' ? 'wanted' : 'off' })
  if (config.role !== 'api') await startWork(app)
  app.example.isPrepared = config.role === 'worker' || config.example !== 'on'
  await http.listen({ port: config.port, host: config.host, backlog: connectionsWaiting })
  collectWhenQuiet(http, config.limits.restAfterSeconds * 1_000)
  requests.onStop(stopper(app, http, { stopHousekeeping: maintain(app), end }))
  // Behind the first answers: a start does not wait for it, and the first question seldom does.
  if (config.role !== 'worker') setTimeout(() => void warm(app), warmAfterMs).unref()
  const address = addressOf(app, http)
  app.observe({
    kind: 'app-started',
    address,
    elapsedMs: Math.round(performance.now() - startedAtMs),
    database: app.store.kind,
  })
  // Its source is this service, under an address that answers calls.
  const example = config.role === 'worker' ? undefined : await prepareExample(app, first.userId, address)
  // Under a process manager the link would end up in its log, so there it is printed only to let the first user in.
  if (withWelcome || first.created) {
    say(welcome(address, await linkFor(app, first.userId), example))
  }
}

/** Jobs and schedules, alerts, and releases that are tried out. Several processes take turns at each. */
async function startWork(app: App): Promise<void> {
  await app.jobs.start()
  app.alerts.start()
  app.canaries.start()
}

/** Data first: calls are more than questions. */
async function warm(app: App): Promise<void> {
  await warmProjects(app)
  await warmQuestions(app)
}

/**
 * Gives memory back when nobody has called for a while: soon after the start, which needed much of it, and then after
 * every stretch of work.
 */
function collectWhenQuiet(http: Http, restAfterMs: number): void {
  let calledMs = performance.now()
  let waitMs = quietMs
  let isClean = false
  http.server.on('request', () => {
    calledMs = performance.now()
    isClean = false
  })
  const look = (): void => {
    if (isClean || performance.now() - calledMs < waitMs) return
    // Memory that only starting needed goes first; that of the first jobs, with the next collection.
    isClean = waitMs === restAfterMs
    waitMs = restAfterMs
    collectAll()
  }
  setInterval(look, quietMs / 2).unref()
}

/** The service answers already: it does not end because its database is away just now. */
async function linkFor(app: App, userId: string): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await makeSignInLink(app, userId)
    } catch (error) {
      app.observe({ kind: 'fault', where: 'sign-in link', error })
      if (attempt === maxLinkAttempts) return undefined
      await wait(linkPauseMs)
    }
  }
}

/** The service does not fail with its example. */
async function prepareExample(app: App, userId: string, address: string): Promise<Example | undefined> {
  try {
    const example = await ensureExample(app, await actAs(app, userId), address)
    if (example !== undefined) await readQueries(app, { projectId: example.projectId, environment: 'production' })
    return example
  } catch (error) {
    app.observe({ kind: 'fault', where: 'example project', error })
    say('  The example project could not be set up; the log says why. The next start tries again.')
    return undefined
  } finally {
    app.example.isPrepared = true
  }
}

function welcome(address: string, linkSecret: string | undefined, example: Example | undefined): string {
  const lines = ['', `Sluice runs at ${address}`, '']
  if (linkSecret === undefined)
    lines.push('No sign-in link could be made; the log says why. The next start tries again.')
  else lines.push('Sign in, once, with this link:', `  ${address}/sign-in#${linkSecret}`)
  if (example !== undefined) {
    const call = (path: string, body: object): string =>
      `  curl -s ${address}${path} -H 'Authorization: Bearer ${example.keySecret}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
    lines.push(
      '',
      'Call a deployed query of the example project, or ask it:',
      call('/v1/queries/sales_by_region', { region: 'north' }),
      call('/v1/query', { query: 'what are the top 5 coffee products', project_id: example.projectId }),
    )
  }
  return `${lines.map((line) => `  ${line}`.trimEnd()).join('\n')}\n`
}

/** Finishes what is in flight, then closes everything. */
function stopper(
  app: App,
  http: Http,
  { stopHousekeeping, end }: { stopHousekeeping: () => Promise<void>; end: () => void },
): (signal: NodeJS.Signals) => void {
  return (signal) => {
    const startedAt = performance.now()
    app.observe({ kind: 'app-stopping', signal })
    const late = setTimeout(() => http.server.closeAllConnections(), app.config.limits.shutdownTimeoutMs)
    // Closing ends the connections that are idle at that moment; one whose call ends later would be waited for.
    const idle = setInterval(() => http.server.closeIdleConnections(), idleLookMs)
    void http
      .close()
      .then(stopHousekeeping)
      .then(() => app.close())
      .catch((error: unknown) => app.observe({ kind: 'fault', where: 'shutdown', error }))
      .finally(() => {
        clearTimeout(late)
        clearInterval(idle)
        app.observe({ kind: 'app-stopped', elapsedMs: Math.round(performance.now() - startedAt) })
        end()
      })
  }
}

function addressOf(app: App, http: Http): string {
  if (app.config.publicUrl !== undefined) return app.config.publicUrl.replace(/\/$/, '')
  const bound = http.server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : app.config.port
  const host = ['0.0.0.0', '::'].includes(app.config.host) ? 'localhost' : app.config.host
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
