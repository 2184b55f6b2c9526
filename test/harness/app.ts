import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureFirstUser, makeSignInLink } from '../../server/access/index.ts'
import { inject } from 'vitest'
import { openApp, type App, type AppOptions } from '../../server/app.ts'
import { readConfig, type Bounds } from '../../server/config.ts'
import { buildHttp, type Http } from '../../server/http/index.ts'
import type { Observation } from '../../server/observe.ts'
import { createDatabase } from './database.ts'
import { openSharedEncoder, openSharedEngine } from './shared-parts.ts'

export const operatorToken = 'operator-token-of-the-tests'

export type Answer = {
  status: number
  headers: Record<string, string | string[] | number | undefined>
  /** The parsed JSON body, or the text where it is no JSON. */
  body: any // oxlint-disable-line typescript/no-explicit-any -- a test asserts on whatever came back
}

type Body = Record<string, unknown> | unknown[]
type Call = (path: string, body?: Body, headers?: Record<string, string>) => Promise<Answer>

/** Someone who calls the API with a credential of their own. */
export type Client = Record<'get' | 'post' | 'put' | 'patch' | 'delete', Call>
export type Person = Client & { userId: string; email: string; password: string }

export type TestApp = {
  app: App
  http: Http
  /** Moves the app's clock. */
  advance(ms: number): void
  observations: Observation[]
  anonymous: Client
  operator: Client
  /** A new client that keeps cookies, for calls that sign in. */
  browser(): Client
  withToken(secret: string): Client
  /** The installation's first user, signed in. */
  administrator(): Promise<Client & { userId: string }>
  /** A person with a role in a project, who came by invitation. */
  member(projectId: string, role: 'owner' | 'editor' | 'viewer'): Promise<Person>
  /** A project made by the operator. */
  project(name?: string): Promise<string>
  /** Opens this port for a browser, or one that is free, and says where. */
  listen(port?: number): Promise<string>
  /** A one-time link for the first user. */
  signInLink(): Promise<string>
  close(): Promise<void>
}

export type TestOptions = Pick<AppOptions, 'modelDir' | 'outboundCa' | 'openEngine'> & {
  /**
   * The app that files of one process use one after the other, with projects of their own: for tests that change no
   * setting, do not move the clock, and look at nothing that all projects have in common.
   */
  isShared?: boolean
  /** Executors and encoders that no other app uses: for tests that kill or flood them. */
  ownProcesses?: boolean
  /** Limits that no installation sets. */
  bounds?: Partial<Bounds>
}

/** A real app on a database of its own, built but not listening: calls go through `inject`. */
export function openTestApp(environment: Record<string, string> = {}, options: TestOptions = {}): Promise<TestApp> {
  return options.isShared === true ? takeShared() : openOwn(environment, options)
}

/** Open until the process ends: the run removes its folder and its database. */
let shared: Promise<TestApp> | undefined
let isTaken = false

async function takeShared(): Promise<TestApp> {
  // Somebody has left without giving it back.
  if (isTaken) return openOwn({}, {})
  isTaken = true
  shared ??= openOwn({}, {}, inject('scratchDir'))
  const t = await shared
  t.observations.length = 0
  const advance = (): never => {
    throw new Error('The clock of an app that files share is not moved: open one of your own.')
  }
  return { ...t, advance, close: async () => void (isTaken = false) }
}

async function openOwn(
  environment: Record<string, string>,
  { ownProcesses = false, bounds = {}, isShared: _isShared, ...more }: TestOptions,
  parent = tmpdir(),
): Promise<TestApp> {
  const dataDir = await mkdtemp(join(parent, 'sluice-app-'))
  const database = await createDatabase()
  const config = readConfig({
    SLUICE_DATA_DIR: dataDir,
    SLUICE_DATABASE_URL: database.url,
    // Hundreds of apps are opened; tests that crash executors ask for a spare.
    SLUICE_SPARE_EXECUTORS: '0',
    SLUICE_MANAGEMENT_TOKEN: operatorToken,
    // Apps that share a database share it.
    SLUICE_SECRET_KEY: 'the vault key of every app in tests',
    SLUICE_DATABASE_CONNECTIONS: '4',
    SLUICE_EXAMPLE: 'off',
    // A call would be answered by the engine or from a file, as time has it; tests of lookups ask for them.
    SLUICE_LOOKUP_BYTES: '0',
    // Each costs a third of a second of every test file; pools of several are tested with engines of their own.
    SLUICE_EXECUTOR_PROCESSES: '1',
    // A process that reads questions costs a second to start; what a second one does for speed is no test's matter.
    ...(!ownProcesses && { SLUICE_ENCODER_THREADS: '1' }),
    ...environment,
  })
  if ('mistakes' in config) throw new Error(config.mistakes.join('\n'))
  Object.assign(config.limits, bounds)
  let movedMs = 0
  const observations: Observation[] = []
  const app = await openApp(config, {
    now: () => Date.now() + movedMs,
    log: (event) => void observations.push(event),
    // Hundreds of people are made and sign in; the usual cost is tested by itself.
    passwordCost: { memoryCost: 64, timeCost: 1, parallelism: 1 },
    sharesDatabase: environment['SLUICE_DATABASE_URL'] !== undefined,
    ...(!ownProcesses && { openEngine: openSharedEngine }),
    ...(!ownProcesses && more.modelDir === undefined && { openEncoder: openSharedEncoder }),
    ...more,
  })
  const [http] = await Promise.all([buildHttp(app), app.started])
  const first = await ensureFirstUser(app, { example: 'off' })
  const operator = client(http, { authorization: `Bearer ${operatorToken}` })
  const forget = (error: unknown): never => {
    address = undefined
    throw error
  }
  const browser = (): Client => client(http, {}, new Map())
  let people = 0
  let address: Promise<string> | undefined

  return {
    app,
    http,
    observations,
    operator,
    browser,
    anonymous: client(http, {}),
    advance: (ms) => void (movedMs += ms),
    withToken: (secret) => client(http, { authorization: `Bearer ${secret}` }),
    async administrator() {
      const self = browser()
      await expectStatus(201, self.post('/v1/session/link', { token: await makeSignInLink(app, first.userId) }))
      return { ...self, userId: first.userId }
    },
    async member(projectId, role) {
      const invitation = await expectStatus(201, operator.post(`/v1/projects/${projectId}/invitations`, { role }))
      people += 1
      const person = { name: `Person ${people}`, email: `person${people}@example.org`, password: `password-${people}` }
      const self = browser()
      const token = String(invitation.body.link).split('#')[1]
      const joined = await expectStatus(201, self.post('/v1/invitations/accept', { token, ...person }))
      return { ...self, ...person, userId: joined.body.user.id }
    },
    async project(name = 'Shop') {
      return (await expectStatus(201, operator.post('/v1/projects', { name }))).body.id
    },
    listen: (port = 0) => (address ??= http.listen({ host: '127.0.0.1', port }).catch(forget)),
    signInLink: async () => `/sign-in#${await makeSignInLink(app, first.userId)}`,
    async close() {
      await http.close()
      await app.close()
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** For steps that only prepare: the answer, or an error that shows it. */
export async function expectStatus(status: number, answer: Promise<Answer>): Promise<Answer> {
  const got = await answer
  if (got.status !== status) throw new Error(`expected ${status}, got ${got.status}: ${JSON.stringify(got.body)}`)
  return got
}

function client(http: Http, headers: Record<string, string>, cookies?: Map<string, string>): Client {
  const call =
    (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'): Call =>
    async (path, body, more) => {
      const response = await http.inject({
        method,
        url: path,
        headers: { ...headers, ...more },
        ...(cookies !== undefined && { cookies: Object.fromEntries(cookies) }),
        ...(body !== undefined && { payload: body }),
      })
      for (const { name, value } of response.cookies as Array<{ name: string; value: string }>)
        cookies?.set(name, value)
      const isJson = (response.headers['content-type'] ?? '').startsWith('application/json')
      return {
        status: response.statusCode,
        headers: response.headers,
        body: isJson ? response.json() : response.body,
      }
    }
  return { get: call('GET'), post: call('POST'), put: call('PUT'), patch: call('PATCH'), delete: call('DELETE') }
}
