import { rm } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { expect } from 'vitest'
import { operatorToken } from '../harness/app.ts'
import { makeDataDir } from '../harness/data-dir.ts'
import { endService, startService, type ServiceProcess } from '../harness/process.ts'
import { openUpstream, type Routes } from '../harness/upstream.ts'
import type { Place } from './planted.ts'

/** What the service is given, by what it is. */
const plantedSecrets = (): Record<string, string> => ({
  'the operator’s token': operatorToken,
  'the secret key': 'planted-vault-key-6d1f0c4e9a8b-aaf0',
  'the key of the language model': 'planted-llm-key-77aa01',
  'the password of the mail server': 'planted-smtp-password',
  'a password': 'planted password of a person',
  'a second password': 'planted password of that person, changed',
  'a wrong password': 'planted password that is wrong',
  'a bearer token': 'planted-bearer-81',
  'a password of basic authentication': 'planted-basic-82',
  'an API key in a header': 'planted-apikey-header-83',
  'an API key in a query': 'planted-apikey-query-84',
  'an API key in a URL': 'planted-apikey-url-85',
  'a header by its name': 'planted-header-86',
  'a header that is marked': 'planted-header-marked-87',
  'a parameter that is marked': 'planted-parameter-88',
  'a client secret': 'planted-client-secret-89',
  'a bought token': 'planted-access-token-90',
  'a field of a body': 'planted-body-field-91',
  'a raw body': 'planted-raw-body-92',
  'a secret of a test that is not stored': 'planted-ad-hoc-93',
  'a secret of a request that is refused': 'planted-refused-94',
  'a secret in a body that is no JSON': 'planted-malformed-95',
  'a secret of a webhook': 'planted-webhook-url-96',
  'a secret of a Slack address': 'planted-slack-97',
  'a pasted command’s secret': 'planted-curl-98',
  'a secret of the project': 'planted-project-secret-99',
  'a token of an API': 'planted-api-token-108',
  'a header of an API': 'planted-api-header-109',
  'a secret of an HMAC': 'planted-hmac-110',
  'a password of digest': 'planted-digest-111',
  'a secret key of AWS': 'planted-aws-112',
  'a changed secret of the project': 'planted-project-secret-100',
  'a client secret of a grant': 'planted-grant-client-101',
  'the code of a grant': 'planted-grant-code-102',
  'an access token of a grant': 'planted-grant-access-103',
  'a refresh token of a grant': 'planted-grant-refresh-104',
  'a renewed access token of a grant': 'planted-grant-access-105',
  'a renewed refresh token of a grant': 'planted-grant-refresh-106',
  'the verifier of a client': 'planted-verifier-of-a-client-that-was-let-in-107',
  'a secret of a shared channel': 'planted-shared-channel-110',
  'a value of a recorded call': 'planted-recorded-value-108',
  'a value that is kept out of the record': 'planted-redacted-value-109',
})

/** Not a secret: found wherever it should be, it shows that the search sees. */
export const canary = 'canary_of_the_search'

/** A test asserts on whatever came back. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = Record<string, any>
type Sent = { status: number; body: Json; headers: Headers }
type CallOptions = { body?: unknown; headers?: Record<string, string>; shows?: true }

/** A service that is given secrets, the external API that it calls, and all that both have said. */
export type Stage = {
  /** What the service was given or has given, by what it is. */
  secrets: Record<string, string>
  dataDir: string
  /** The external API's. */
  origin: string
  api: (route?: string) => string
  /** From now on the API takes no token of a grant. */
  endGrant: () => void
  /** Calls and keeps the answer for the search, but for one that shows a secret to who made it, once. */
  call: (method: string, path: string, options?: CallOptions) => Promise<Sent>
  made: (path: string, body: unknown, shows?: true) => Promise<Json>
  answers: Place[]
  traces: Buffer[]
  /** The one that runs. */
  service: () => ServiceProcess
  start: () => Promise<void>
  stop: () => Promise<void>
  /** What the services that were stopped have printed. */
  log: () => string
  close: () => Promise<void>
}

/** Tokens that expire at once and are renewed once; then the server refuses, and says which token it does not take. */
function answerGrant(secrets: Stage['secrets'], form: URLSearchParams): { status: number; body: Json } {
  const tokens = (access: string, refresh: string, lifeSeconds: number) => ({
    status: 200,
    body: { access_token: secrets[access], refresh_token: secrets[refresh], expires_in: lifeSeconds },
  })
  if (form.get('grant_type') === 'authorization_code') {
    secrets['the verifier of a grant'] = form.get('code_verifier') ?? ''
    return tokens('an access token of a grant', 'a refresh token of a grant', 1)
  }
  const token = form.get('refresh_token')
  if (token === secrets['a refresh token of a grant'])
    return tokens('a renewed access token of a grant', 'a renewed refresh token of a grant', 3600)
  return { status: 400, body: { error: 'invalid_grant', error_description: `The token ${token} is not good.` } }
}

/** What the external API answers, beside what every upstream of the tests does. */
function routesOf(secrets: Stage['secrets'], traces: Buffer[], isGrantOver: () => boolean): Routes {
  const json = { 'content-type': 'application/json' }
  return {
    '/v1/traces': async (request, response) => {
      traces.push(await buffer(request))
      response.writeHead(200, json).end('{}')
    },
    '/token': (_request, response) =>
      response.writeHead(200, json).end(JSON.stringify({ access_token: secrets['a bought token'], expires_in: 3600 })),
    '/grants/token': async (request, response) => {
      const { status, body } = answerGrant(secrets, new URLSearchParams((await buffer(request)).toString()))
      response.writeHead(status, json).end(JSON.stringify(body))
    },
    '/granted': (_request, response) =>
      response
        .writeHead(isGrantOver() ? 401 : 200, json)
        .end(isGrantOver() ? '{"error":"invalid_token"}' : '[{"id":1}]'),
    '/denied': (_request, response) => response.writeHead(403, json).end('{"message":"no"}'),
    [`/hooks/${secrets['a secret of a Slack address']}`]: (_request, response) => response.writeHead(500).end('no'),
  }
}

function environmentOf(secrets: Stage['secrets'], origin: string): Record<string, string> {
  return {
    SLUICE_LOG_LEVEL: 'debug',
    SLUICE_OUTBOUND_ALLOW: '127.0.0.1',
    SLUICE_SECRET_KEY: secrets['the secret key'] ?? '',
    SLUICE_LLM_BASE_URL: `${origin}/denied`,
    SLUICE_LLM_MODEL: 'm',
    SLUICE_LLM_API_KEY: secrets['the key of the language model'] ?? '',
    SLUICE_SMTP_URL: `smtp://sluice:${secrets['the password of the mail server']}@127.0.0.1:1`,
    OTEL_EXPORTER_OTLP_ENDPOINT: origin,
  }
}

/** All but the service, which is started by the test. */
export async function openStage(): Promise<Stage> {
  const secrets = plantedSecrets()
  const answers: Place[] = []
  const traces: Buffer[] = []
  let isGrantOver = false
  let running: ServiceProcess | null = null
  let log = ''
  const upstream = await openUpstream(routesOf(secrets, traces, () => isGrantOver))
  const dataDir = await makeDataDir()

  const service = (): ServiceProcess => {
    if (running === null) throw new Error('The service does not run.')
    return running
  }
  const stop = async (): Promise<void> => {
    const ended = service()
    await endService(ended)
    log += ended.output()
    running = null
  }
  const call: Stage['call'] = async (method, path, options = {}) => {
    const { body, headers = { authorization: `Bearer ${operatorToken}` }, shows } = options
    const answer = await fetch(service().url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
    const text = await answer.text()
    const told = JSON.stringify([...answer.headers].filter(([name]) => name !== 'set-cookie'))
    if (shows === undefined)
      answers.push({ name: `the answer to ${method} ${path}`, content: Buffer.from(told + text) })
    const isJson = answer.headers.get('content-type')?.includes('json') === true
    return { status: answer.status, body: isJson ? JSON.parse(text) : {}, headers: answer.headers }
  }
  return {
    secrets,
    dataDir,
    origin: upstream.origin,
    api: (route = '/rows') => `${upstream.origin}${route}`,
    endGrant: () => void (isGrantOver = true),
    call,
    async made(path, body, shows) {
      const sent = await call('POST', path, { body, ...(shows && { shows }) })
      expect([200, 201, 202], `${path}: ${JSON.stringify(sent.body)}`).toContain(sent.status)
      return sent.body
    },
    answers,
    traces,
    service,
    async start() {
      running = await startService(dataDir, environmentOf(secrets, upstream.origin))
    },
    stop,
    log: () => log,
    async close() {
      // None where it did not start.
      if (running !== null) await stop()
      await upstream.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
