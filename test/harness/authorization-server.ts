import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

type Grant = { family: string; scope: string }
type Code = { challenge: string; redirectUri: string; scope: string }
type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

export type AuthorizationServer = {
  origin: string
  host: string
  authorizationUrl: string
  tokenUrl: string
  /** An API behind it: rows for whoever brings an access token that is good. */
  apiUrl: string
  client: { id: string; secret: string }
  /** What the token endpoint was asked, without the values of secrets. */
  asked: Array<{ grantType: string; clientBy: 'basic' | 'body' | 'nobody'; parameters: Record<string, string> }>
  /** Requests of the API, by the status they were answered with. */
  apiAnswers: number[]
  /** How the server behaves from now on. */
  manners: {
    expiresIn: number | null
    /** Each refresh token is good once, and using one twice ends all that came from the same agreement. */
    rotates: boolean
    givesRefreshTokens: boolean
    takesClientBy: 'either' | 'basic' | 'body'
    /** Before the token endpoint answers. */
    delayMs: number
    /** Takes the place of the token endpoint. */
    token: Handler | null
    rows: unknown[]
  }
  /** Access tokens that were given so far are good no longer. */
  endAccessTokens(): void
  /** Where the person's browser is sent back to, after agreeing. */
  agree(authorizationUrl: string): Promise<URL>
  close(): Promise<void>
}

/** How it behaves until a test wants it otherwise. */
export const usualManners: AuthorizationServer['manners'] = {
  expiresIn: 3600,
  rotates: true,
  givesRefreshTokens: true,
  takesClientBy: 'either',
  delayMs: 0,
  token: null,
  rows: [{ id: 1 }, { id: 2 }],
}

/** A real OAuth2 server over HTTP: authorization codes with PKCE, refresh tokens that rotate, and an API behind it. */
// Over 70 lines: three endpoints over the same codes and tokens.
export async function openAuthorizationServer(): Promise<AuthorizationServer> {
  const client = { id: 'sluice-client', secret: 'the-client-secret' }
  const codes = new Map<string, Code>()
  const refreshTokens = new Map<string, Grant & { isUsed: boolean }>()
  const accessTokens = new Set<string>()
  const endedFamilies = new Set<string>()
  const manners = { ...usualManners }
  const asked: AuthorizationServer['asked'] = []
  const apiAnswers: number[] = []

  const issue = (grant: Grant) => {
    const accessToken = `access-${randomUUID()}`
    accessTokens.add(accessToken)
    const refreshToken = `refresh-${randomUUID()}`
    if (manners.givesRefreshTokens) refreshTokens.set(refreshToken, { ...grant, isUsed: false })
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      ...(manners.expiresIn !== null && { expires_in: manners.expiresIn }),
      ...(manners.givesRefreshTokens && { refresh_token: refreshToken }),
    }
  }

  const authorize: Handler = (request, response) => {
    const { searchParams: given } = new URL(request.url ?? '/', 'http://server')
    const redirectUri = given.get('redirect_uri') ?? ''
    const isGood =
      given.get('response_type') === 'code' &&
      given.get('client_id') === client.id &&
      given.get('code_challenge_method') === 'S256' &&
      /^[\w-]{43}$/.test(given.get('code_challenge') ?? '')
    if (!isGood) return void response.writeHead(400).end('not as RFC 6749 and 7636 say')
    const code = `code-${randomUUID()}`
    const scope = given.get('scope') ?? ''
    codes.set(code, { challenge: given.get('code_challenge') ?? '', redirectUri, scope })
    const back = new URL(redirectUri)
    back.searchParams.set('code', code)
    back.searchParams.set('state', given.get('state') ?? '')
    return void response.writeHead(302, { location: back.href }).end()
  }

  const grantOf = (form: URLSearchParams): Grant | string => {
    if (form.get('grant_type') === 'client_credentials') return { family: randomUUID(), scope: form.get('scope') ?? '' }
    if (form.get('grant_type') === 'authorization_code') {
      const code = codes.get(form.get('code') ?? '')
      codes.delete(form.get('code') ?? '')
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      const isGood = code?.challenge === challenge && code.redirectUri === form.get('redirect_uri')
      return isGood ? { family: randomUUID(), scope: code.scope } : 'invalid_grant'
    }
    const known = refreshTokens.get(form.get('refresh_token') ?? '')
    if (known === undefined || endedFamilies.has(known.family)) return 'invalid_grant'
    if (manners.rotates && known.isUsed) {
      endedFamilies.add(known.family)
      return 'invalid_grant'
    }
    known.isUsed = true
    return known
  }

  const token: Handler = async (request, response) => {
    const form = new URLSearchParams(await text(request))
    const basic = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString()
    const byBasic = basic === `${client.id}:${client.secret}`
    const byBody = form.get('client_id') === client.id && form.get('client_secret') === client.secret
    const clientBy = byBasic ? 'basic' : byBody ? 'body' : 'nobody'
    const hidden = new Set(['code', 'code_verifier', 'refresh_token', 'client_secret'])
    const parameters = Object.fromEntries([...form].filter(([name]) => !hidden.has(name)))
    asked.push({ grantType: form.get('grant_type') ?? '', clientBy, parameters })
    await new Promise((resolve) => setTimeout(resolve, manners.delayMs))
    const isTaken = clientBy !== 'nobody' && (manners.takesClientBy === 'either' || manners.takesClientBy === clientBy)
    const grant = isTaken ? grantOf(form) : 'invalid_client'
    const isGood = typeof grant !== 'string'
    const answer = isGood ? issue(grant) : { error: grant, error_description: `no: ${form.get('refresh_token') ?? ''}` }
    response
      .writeHead(isGood ? 200 : grant === 'invalid_client' ? 401 : 400, { 'content-type': 'application/json' })
      .end(JSON.stringify(answer))
  }

  const api: Handler = (request, response) => {
    const isGood = accessTokens.has((request.headers.authorization ?? '').replace('Bearer ', ''))
    apiAnswers.push(isGood ? 200 : 401)
    response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isGood ? manners.rows : { error: 'invalid_token' }))
  }

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://server')
    const handlers: Record<string, Handler> = {
      '/authorize': authorize,
      '/token': manners.token ?? token,
      '/rows': api,
    }
    const handler = handlers[pathname]
    if (handler === undefined) response.writeHead(404).end()
    else void handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const origin = `http://${host}`
  return {
    origin,
    host,
    authorizationUrl: `${origin}/authorize`,
    tokenUrl: `${origin}/token`,
    apiUrl: `${origin}/rows`,
    client,
    asked,
    apiAnswers,
    manners,
    endAccessTokens: () => accessTokens.clear(),
    async agree(url) {
      const answer = await fetch(url, { redirect: 'manual' })
      if (answer.status !== 302) throw new Error(`The server refused: ${await answer.text()}`)
      return new URL(answer.headers.get('location') ?? '')
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A connection that is connected by an authorization code of this server. */
export function configurationBy(server: AuthorizationServer, more: Record<string, unknown> = {}) {
  return {
    url: server.apiUrl,
    method: 'GET',
    authType: 'OAuth2 Authorization Code',
    auth: {
      authorization_url: server.authorizationUrl,
      token_url: server.tokenUrl,
      client_id: server.client.id,
      client_secret: server.client.secret,
      ...more,
    },
  }
}
