import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { deviceCode, oauthError, tokens } from '../../api/authorization-server.ts'
import { CommandFailure } from '../terminal/exit.ts'

/** The service knows the command line by this name. */
const clientId = 'sluice-cli'
const requestMs = 30_000
const browserMs = 300_000
const slowDownSeconds = 5
const answerChars = 65_536

/**
 * Signs in with the browser of this machine: it comes back to a port of this process with a code, which nobody else can
 * exchange (RFC 8252, PKCE). `show` is given the address to open.
 */
export async function signInByBrowser(url: string, show: (address: string) => void): Promise<string> {
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(16).toString('base64url')
  // Loaded here: it brings a second HTTP client, which is a third of a start.
  const { createServer } = await import('node:http')
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const redirectUri = `http://127.0.0.1:${port}/signed-in`
  const address = new URL('/oauth/authorize', url)
  address.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    scope: 'manage',
    state,
  }).toString()
  const ended = new AbortController()
  const late = setTimeout(() => ended.abort(), browserMs)
  try {
    const back = waitForReturn(server, state, ended.signal)
    show(address.href)
    const code = await back
    const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
    const answer = await post(url, '/oauth/token', grant)
    return readToken(answer)
  } finally {
    clearTimeout(late)
    ended.abort()
    server.close()
    server.closeAllConnections()
  }
}

async function waitForReturn(server: Server, state: string, signal: AbortSignal): Promise<string> {
  for (;;) {
    const [request, response] = (await once(server, 'request', { signal }).catch(() => {
      throw new CommandFailure('credentials', 'Nobody signed in within five minutes.', { hint: again })
    })) as [IncomingMessage, ServerResponse]
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
    // Browsers ask for an icon too, and any page can call this port: only our own request came with this state.
    if (pathname !== '/signed-in' || searchParams.get('state') !== state) {
      response.writeHead(404).end()
      continue
    }
    const code = searchParams.get('code')
    const text = code === null ? 'Refused. You can close this page.' : 'Signed in. You can close this page.'
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${text}\n`)
    if (code !== null) return code
    throw new CommandFailure('credentials', 'It was refused in the browser.')
  }
}

/** Signs in with a browser anywhere: the person types a short code there (RFC 8628). */
export async function signInByDevice(
  url: string,
  show: (shown: { address: string; code: string; complete: string }) => void,
): Promise<string> {
  const begun = await post(url, '/oauth/device_authorization', { scope: 'manage' })
  const parsed = deviceCode.safeParse(begun.body)
  if (!parsed.success) throw failureOf(begun)
  const { device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval } = parsed.data
  show({ address: verification_uri, code: user_code, complete: verification_uri_complete })
  const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code }
  let seconds = interval
  for (const until = Date.now() + expires_in * 1000; Date.now() < until;) {
    await wait(seconds * 1000)
    const answer = await post(url, '/oauth/token', grant)
    const error = oauthError.safeParse(answer.body).data?.error
    if (error === 'slow_down') seconds += slowDownSeconds
    else if (error !== 'authorization_pending') return readToken(answer)
  }
  throw new CommandFailure('credentials', 'Nobody typed the code in time.', { hint: again })
}

/** Whether the service has ended this token; it ends only those that `sluice login` was given. */
export async function endToken(url: string, token: string): Promise<boolean> {
  await post(url, '/oauth/revoke', { token })
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(new URL('/v1/projects?limit=1', url), { headers, signal: AbortSignal.timeout(requestMs) })
  return answer.status === 401
}

const again = 'Run `sluice login` again; `sluice login --device` for a browser on another machine.'
type Answered = { status: number; body: unknown }

async function post(url: string, path: string, form: Record<string, string>): Promise<Answered> {
  try {
    const body = new URLSearchParams({ client_id: clientId, ...form })
    const answer = await fetch(new URL(path, url), { method: 'POST', body, signal: AbortSignal.timeout(requestMs) })
    const text = await answer.text()
    return { status: answer.status, body: text.length > answerChars ? null : readJson(text) }
  } catch (error) {
    throw new CommandFailure('unreachable', `${url} cannot be reached.`, {
      hint: 'Is the service running there? --url and SLUICE_URL say where it is.',
      cause: error,
    })
  }
}

function readToken(answer: Answered): string {
  const parsed = tokens.safeParse(answer.body)
  if (parsed.success) return parsed.data.access_token
  throw failureOf(answer)
}

function failureOf({ status, body }: Answered): CommandFailure {
  const refusal = oauthError.safeParse(body).data
  const message = refusal?.error_description ?? z.object({ message: z.string() }).safeParse(body).data?.message
  return new CommandFailure('credentials', message ?? `The service answered ${status}.`, { hint: again })
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}
