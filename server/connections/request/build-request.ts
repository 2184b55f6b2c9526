import { createSecureContext } from 'node:tls'
import { type z } from 'zod'
import { authShapes, type AuthType } from '../../../api/authentication.ts'
import type { ExecuteRequest, HttpConfiguration } from '../../../api/connections.ts'
import { Failure } from '../../failure.ts'
import { encodeBody } from './encode-body.ts'
import { awsSigner } from '../signing/aws.ts'
import { digestSigner } from '../signing/digest.ts'
import { hmacSigner } from '../signing/hmac.ts'
import { privateKeyOf } from '../signing/jwt.ts'
import { privateKeyIn } from '../signing/private-key.ts'
import type { Signer } from '../signing/signer.ts'
import { hasSecretBody, isSecretHeader } from '../secrets/places.ts'

/** One call of an external API, ready to go. */
export type OutboundRequest = {
  url: string
  method: string
  headers: Record<string, string>
  body?: Buffer
  /** The body must not go to another origin. */
  hasSecretBody?: boolean
  /** Names of headers, in lower case, that must not go to another origin whatever their name. */
  secretHeaders: string[]
  /** A key that goes with every address of the same origin, as a query parameter. */
  secretQuery: [name: string, value: string][]
  /** The header that carries a token which may be renewed, and what stands before the token in it. */
  tokenHeader?: { name: string; before: string }
  /** Signs each call for itself. */
  signer?: Signer
  /** The certificate by which the client is known. */
  certificate?: ClientCertificate
}

export type ClientCertificate = { cert: string; key: string }

type Auth<Type extends AuthType> = z.output<(typeof authShapes)[Type]>

/** Headers of the client and of one connection are not the caller's to set (RFC 9110, 7.6.1). */
const droppedHeaders = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'upgrade',
  'te',
  'trailer',
  'expect',
])
const defaultHeaders: [string, string][] = [
  ['accept', 'application/json, application/x-ndjson;q=0.9, text/csv;q=0.8, */*;q=0.5'],
  ['user-agent', 'Sluice'],
]

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const headerValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

function refuse(
  field: string,
  message: string,
  reason: 'invalid_field' | 'body_not_accepted' = 'invalid_field',
): Failure {
  return new Failure('invalid_request', { reason, message: `${field} ${message}.`, details: [{ field, message }] })
}

/** Turns a configuration into the call it describes, or says which field is wrong. `token` is the one that was issued for it. */
export function buildRequest(configuration: HttpConfiguration, token?: string): OutboundRequest {
  const url = parseUrl(configuration.url, 'url')
  const query = [
    ...queryOf(configuration.parameters ?? {}, 'parameters'),
    ...groupQuery(configuration.parameterGroups ?? []),
  ]
  const plainPairs = query.length
  const headers = new Map(defaultHeaders)
  const given = Object.entries(configuration.headers ?? {})
  for (const [name, header] of given) setHeader(headers, name, headerText(header))
  const secretNames = new Set(
    given.flatMap(([name, header]) => (isSecretHeader(name, header) ? [name.toLowerCase()] : [])),
  )
  const draft: Draft = { headers, query, token }
  const authHeader = authenticate(configuration.authType ?? 'None', configuration.auth, draft)
  const encoded = encodeBody(configuration.method, configuration.body)
  if (encoded !== null) {
    const isFixed = encoded.contentType.startsWith('multipart/')
    if (isFixed || !headers.has('content-type')) headers.set('content-type', encoded.contentType)
  }
  const secretQuery = query.splice(plainPairs)
  return {
    url: withQuery(url, [...query, ...secretQuery]),
    method: configuration.method,
    headers: Object.fromEntries(headers),
    ...(encoded === null ? {} : { body: encoded.bytes }),
    hasSecretBody: hasSecretBody(configuration.body),
    secretHeaders: [...headers.keys()].filter((name) => name === authHeader || secretNames.has(name)),
    secretQuery,
    ...(draft.tokenHeader !== undefined && { tokenHeader: draft.tokenHeader }),
    ...(draft.signer !== undefined && { signer: draft.signer }),
    ...(draft.certificate !== undefined && { certificate: draft.certificate }),
  }
}

/** A header's value, however it is written. */
export function headerText(header: NonNullable<HttpConfiguration['headers']>[string]): string {
  return typeof header === 'string' ? header : header.value
}

function setHeader(headers: Map<string, string>, name: string, value: string): void {
  const field = `headers.${name}`
  if (!headerName.test(name)) throw refuse(field, 'is no header name: letters, digits and - only')
  if (!headerValue.test(value)) throw refuse(field, 'holds a line break or a character that headers cannot carry')
  if (!droppedHeaders.has(name.toLowerCase())) headers.set(name.toLowerCase(), value.trim())
}

/** An http or https address without user information: that would be stored and shown. */
export function parseUrl(text: string, field: string): URL {
  if (!URL.canParse(text)) throw refuse(field, 'is no complete address; it starts with http:// or https://')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Failure('invalid_request', {
      reason: 'url_not_allowed',
      message: `${field} must start with http:// or https://, not ${url.protocol}//.`,
      details: [{ field, message: 'must start with http:// or https://' }],
    })
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse(field, 'holds a user name or password; give them as authType "Basic Auth" instead')
  }
  url.hash = ''
  return url
}

type Pair = [name: string, value: string]
type Parameters = NonNullable<HttpConfiguration['parameters']>

function valuesOf(value: Parameters[string]['value']): string[] {
  const list = Array.isArray(value) ? value : [value]
  return list.filter((each) => each !== undefined && each !== null && each !== '').map(String)
}

function queryOf(parameters: Parameters, field: string): Pair[] {
  return Object.entries(parameters).flatMap(([name, { value, required }]) => {
    const values = valuesOf(value)
    if (required && values.length === 0) throw refuse(`${field}.${name}`, 'is required and has no value')
    return values.map((each): Pair => [name, each])
  })
}

/** Groups exclude one another: the active one counts, else the first whose required parameters all have values. */
function groupQuery(groups: NonNullable<HttpConfiguration['parameterGroups']>): Pair[] {
  const active = groups.filter((group) => group.active === true)
  if (active.length > 1) {
    const names = active.map((group) => group.name).join(' and ')
    throw refuse('parameterGroups', `exclude one another, but ${names} are both active; mark one only`)
  }
  const isFilled = (group: (typeof groups)[number]) =>
    Object.values(group.parameters).every(({ value, required }) => !required || valuesOf(value).length > 0)
  const chosen = active[0] ?? groups.find((group) => group.active !== false && isFilled(group))
  return chosen === undefined ? [] : queryOf(chosen.parameters, `parameterGroups.${chosen.name}`)
}

/** Adds parameters; one that the address already has is replaced. What stays of the query keeps its spelling. */
export function withQuery(url: URL, pairs: Pair[]): string {
  if (pairs.length === 0) return url.href
  const names = new Set(pairs.map(([name]) => name))
  const nameOf = (part: string) => [...new URLSearchParams(part).keys()][0] ?? ''
  const kept = url.search
    .slice(1)
    .split('&')
    .filter((part) => part !== '' && !names.has(nameOf(part)))
  const added = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  const result = new URL(url)
  result.search = [...kept, ...added].join('&')
  return result.href
}

type Draft = {
  headers: Map<string, string>
  query: Pair[]
  token: string | undefined
  tokenHeader?: OutboundRequest['tokenHeader']
  signer?: Signer
  certificate?: ClientCertificate
}

/** Each `authType` adds its part to a call, and answers which header it made secret, if any. */
const authenticators: { [Type in AuthType]: (auth: Auth<Type>, draft: Draft) => string | null } = {
  None: () => null,
  'API Key': addApiKey,
  'Bearer Token': ({ token, prefix }, draft) =>
    addSecretHeader(draft, 'authorization', `${prefix ?? 'Bearer'} ${token}`.trim()),
  'Basic Auth': (auth, draft) => addSecretHeader(draft, 'authorization', basic(auth)),
  'OAuth2 Client Credentials': ({ token_url: tokenUrl }, draft) => {
    parseUrl(tokenUrl, 'auth.token_url')
    return addToken(draft)
  },
  'OAuth2 Authorization Code': ({ token_url: tokenUrl, authorization_url: authorizationUrl }, draft) => {
    parseUrl(tokenUrl, 'auth.token_url')
    parseUrl(authorizationUrl, 'auth.authorization_url')
    return addToken(draft)
  },
  'Login Request': (auth, draft) => {
    parseUrl(auth.token_url, 'auth.token_url')
    return addToken(draft, loginHeader(auth, draft))
  },
  'Digest Auth': (auth, draft) => addSigner(draft, digestSigner(auth)),
  'Signed JWT': (auth, draft) => {
    privateKeyOf(auth)
    if (auth.token_url !== undefined) parseUrl(auth.token_url, 'auth.token_url')
    return addToken(draft)
  },
  'AWS Signature': (auth, draft) => addSigner(draft, awsSigner(auth)),
  HMAC: (auth, draft) => {
    const named = [auth.header, auth.timestamp_header, auth.nonce_header].find((name) => {
      return name !== undefined && droppedHeaders.has(name.toLowerCase())
    })
    if (named !== undefined) throw refuse('auth.header', `must not be ${named}`)
    if (!headerValue.test(auth.format)) throw refuse('auth.format', 'holds a character that headers cannot carry')
    return addSigner(draft, hmacSigner(auth))
  },
  'Client Certificate': (auth, draft) => {
    draft.certificate = certificateOf(auth)
    return null
  },
}

function addSigner(draft: Draft, signer: Signer): null {
  draft.signer = signer
  return null
}

/** Read and decrypted at once, so that a wrong one is no failure of the connection. */
function certificateOf({ certificate, private_key: pem, passphrase }: Auth<'Client Certificate'>): ClientCertificate {
  const cert = certificate.replaceAll(String.raw`\n`, '\n')
  const key = String(privateKeyIn(pem, passphrase).export({ type: 'pkcs8', format: 'pem' }))
  try {
    createSecureContext({ cert, key })
  } catch {
    throw refuse('auth.certificate', 'and auth.private_key are not a certificate and its key in PEM')
  }
  return { cert, key }
}

const bearerHeader = { name: 'authorization', before: 'Bearer ' }

function addToken(draft: Draft, header: OutboundRequest['tokenHeader'] = bearerHeader): string | null {
  if (draft.token === undefined) return null
  draft.tokenHeader = header
  return addSecretHeader(draft, header.name, header.before + draft.token)
}

/** Where the token of a login goes: `Authorization: Bearer …` unless its author says otherwise. */
function loginHeader({ in: place, key = 'authorization', prefix }: Auth<'Login Request'>, { headers }: Draft) {
  const name = key.toLowerCase()
  if (place === 'cookie') {
    if (/[;\s,"\\=]/.test(key)) throw refuse('auth.key', 'holds a character that cookies cannot carry')
    const others = headers.get('cookie')
    return { name: 'cookie', before: `${others === undefined ? '' : `${others}; `}${key}=` }
  }
  if (!headerName.test(key)) throw refuse('auth.key', 'is no header name: letters, digits and - only')
  if (droppedHeaders.has(name)) throw refuse('auth.key', `must not be ${key}`)
  const words = prefix ?? (name === 'authorization' ? 'Bearer' : '')
  return { name, before: words === '' ? '' : `${words} ` }
}

function authenticate(type: AuthType, auth: HttpConfiguration['auth'], draft: Draft): string | null {
  // Each type is read with its own shape; the table ties the two together.
  const authenticator = authenticators[type] as (auth: unknown, draft: Draft) => string | null
  return authenticator(readAuth(type, auth), draft)
}

function addSecretHeader({ headers }: Draft, name: string, value: string): string {
  if (!headerValue.test(value)) throw refuse('auth', 'holds a line break or a character that headers cannot carry')
  headers.set(name, value)
  return name
}

function addApiKey({ key, value, in: place }: Auth<'API Key'>, draft: Draft): string | null {
  if (place === 'query') {
    draft.query.push([key, value])
    return null
  }
  if (place === 'cookie') {
    if (/[;\s,"\\]/.test(key + value)) throw refuse('auth.value', 'holds a character that cookies cannot carry')
    const others = draft.headers.get('cookie')
    return addSecretHeader(draft, 'cookie', others === undefined ? `${key}=${value}` : `${others}; ${key}=${value}`)
  }
  if (!headerName.test(key)) throw refuse('auth.key', 'is no header name: letters, digits and - only')
  if (droppedHeaders.has(key.toLowerCase())) throw refuse('auth.key', `must not be ${key}`)
  return addSecretHeader(draft, key.toLowerCase(), value)
}

export function basic({ username, password }: { username: string; password: string }): string {
  if (username.includes(':')) throw refuse('auth.username', 'must not hold a colon')
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** The `auth` of a type, complete, or a refusal that names what is missing. */
export function readAuth<Type extends AuthType>(type: Type, auth: HttpConfiguration['auth']): Auth<Type> {
  if (type === 'None') return {} as Auth<Type>
  const parsed = authShapes[type].safeParse(auth ?? {})
  if (parsed.success) return parsed.data as Auth<Type>
  const details = parsed.error.issues.map((issue) => ({
    field: ['auth', ...issue.path].join('.'),
    message: issue.message,
  }))
  const message = `auth is not complete for authType "${type}": ${details.map((each) => each.message).join('; ')}.`
  throw new Failure('invalid_request', { reason: 'invalid_field', message, details })
}

/** The call of an execute request: `connect_spec.config` wins field by field, the top level fills in the rest. */
export function executeConfiguration(request: ExecuteRequest): HttpConfiguration {
  const { connect_spec: spec, body: topBody, project_id: _p, datasource_id: _d, pagination: _n, ...top } = request
  const { body, ...config } = spec.config
  const bodies = [topBody, body].filter((each) => each !== undefined && Object.keys(each).length > 0)
  if (bodies.length > 0) {
    const way =
      'is not accepted by execute-request. Save this configuration in a datasource (POST or PATCH /v1/projects/{project_id}/datasources) and call its refresh: that sends the body'
    throw refuse('body', way, 'body_not_accepted')
  }
  const given = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))
  const merged: HttpConfiguration = { ...top, ...given }
  readAuth(merged.authType ?? 'None', merged.auth)
  return merged
}
