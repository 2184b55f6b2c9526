import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  approveClient,
  approvedClient,
  approveProgram,
  askedClient,
  askedDevice,
  decideDevice,
  deviceCode,
  deviceRequest,
  oauthError,
  registerClient,
  registeredClient,
  revokeRequest,
  shownClient,
  tokenRequest,
  tokens,
  waitingDevice,
} from '../../../../api/authorization-server.ts'
import { failures } from '../../../../api/failures.ts'
import * as access from '../../../access/index.ts'
import type { App } from '../../../app.ts'
import { Failure, invalidField } from '../../../failure.ts'
import { headersTooLarge } from '../../answer/answers.ts'
import { personCallerOf } from '../../request/caller.ts'
import { callerFailure } from '../../answer/errors.ts'
import { loopbackHost, pageLink, type Http } from '../../request/http.ts'
import { made, nothing, one, operations } from '../operations.ts'

const tags = ['oauth']
const open = { door: 'open' } as const
const mcpPath = '/mcp'
const buildPath = '/mcp/build'
/** The scope of access to what is deployed, and of access to build. */
const [queriesScope, manageScope] = ['queries', 'manage']
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const metadataPath = '/.well-known/oauth-protected-resource'

/** How an assistant that was given a link gets its access, as OAuth 2.1 and the protocol of its tools ask for it. */
export function serveDiscovery(http: Http, app: App): void {
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    void reply.headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' })
    refuseUnknownHost(app, request)
  }
  const discovery = { config: open, schema: { hide: true }, onRequest }
  const resources = [
    { url: metadataPath, path: mcpPath, scope: queriesScope },
    { url: `${metadataPath}${mcpPath}`, path: mcpPath, scope: queriesScope },
    { url: `${metadataPath}${buildPath}`, path: buildPath, scope: manageScope },
  ]
  for (const { url, path, scope } of resources) {
    http.get(url, discovery, async (request) => {
      return {
        resource: pageLink(app, request, path),
        resource_name: path === buildPath ? 'Sluice, to build' : 'Sluice',
        authorization_servers: [issuerOf(app, request)],
        scopes_supported: [scope],
        bearer_methods_supported: ['header'],
      }
    })
  }
  for (const url of ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']) {
    http.get(url, discovery, async (request) => {
      return {
        issuer: issuerOf(app, request),
        authorization_endpoint: pageLink(app, request, '/oauth/authorize'),
        token_endpoint: pageLink(app, request, '/oauth/token'),
        registration_endpoint: pageLink(app, request, '/oauth/register'),
        revocation_endpoint: pageLink(app, request, '/oauth/revoke'),
        device_authorization_endpoint: pageLink(app, request, '/oauth/device_authorization'),
        scopes_supported: [queriesScope, manageScope],
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token', deviceGrant],
        token_endpoint_auth_methods_supported: ['none'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
      }
    })
  }
}

/** A Host header is anybody's claim. Without a public address this server knows itself on its own machine only. */
function refuseUnknownHost({ config }: App, request: FastifyRequest): void {
  if (config.publicUrl !== undefined || loopbackHost.test(request.host)) return
  const message = 'Clients find this server under SLUICE_PUBLIC_URL, which is not set, or on its own machine.'
  throw new Failure('not_found', { message })
}

function issuerOf(app: App, request: FastifyRequest): string {
  return pageLink(app, request, '/').replace(/\/$/, '')
}

/** For the page on which a person lets a client in. */
export function serveApprovals(http: Http, app: App): void {
  const { get, post } = operations(http, app, 'oauth')
  get(
    '/v1/oauth/client',
    { config: { door: 'person' }, summary: 'Who asks to be let in', query: askedClient, answer: one(shownClient) },
    async (app, _caller, { clientId, redirectUri }) => {
      const client = await access.findClient(app, { clientId, redirectUri })
      return { clientId: client.id, clientName: client.name, redirectUri }
    },
  )
  post(
    '/v1/oauth/approvals',
    {
      config: { door: 'person' },
      summary: 'Let a client call the queries of an environment',
      description:
        'For owners of the project. The client gets an API key of its own, which lives for an hour at a time and stands in the list of keys.',
      body: approveClient,
      answer: made(approvedClient),
    },
    async (app, _caller, { resource, state, ...input }, { request }) => {
      refuseOtherResource(app, request, resource)
      const code = await access.approveClient(app, personCallerOf(request), input)
      return { redirectTo: wayBack({ ...input, code, state, issuer: issuerOf(app, request) }) }
    },
  )
  post(
    '/v1/oauth/sign-ins',
    {
      config: { door: 'person' },
      summary: 'Let a program build, with a management token of its own',
      description: 'For `sluice login` and assistants at `/mcp/build`. The token does no more than the person may.',
      body: approveProgram,
      answer: made(approvedClient),
    },
    async (app, _caller, { resource, state, ...input }, { request }) => {
      refuseOtherResource(app, request, resource)
      const given = { ...input, address: request.ip }
      const code = await access.approveProgram(app, personCallerOf(request), given)
      return { redirectTo: wayBack({ ...input, code, state, issuer: issuerOf(app, request) }) }
    },
  )
  get(
    '/v1/oauth/device',
    {
      config: { door: 'person' },
      summary: 'Which device shows a code',
      query: askedDevice,
      answer: one(waitingDevice),
    },
    async (app, _caller, { userCode }, { request }) => {
      const { clientName, address, createdAt } = await access.findDevice(app, personCallerOf(request), userCode)
      return { clientName, address, createdAt }
    },
  )
  post(
    '/v1/oauth/device',
    {
      config: { door: 'person' },
      summary: 'Let the device that shows a code build, or refuse it',
      body: decideDevice,
      answer: nothing,
    },
    (app, _caller, input, { request }) => access.decideDevice(app, personCallerOf(request), input),
  )
}

type Way = { redirectUri: string; code: string; state: string | undefined; issuer: string }

function wayBack({ redirectUri, code, state, issuer }: Way): string {
  const back = new URL(redirectUri)
  back.searchParams.set('code', code)
  back.searchParams.set('iss', issuer)
  if (state !== undefined) back.searchParams.set('state', state)
  return back.href
}

/** Routes that clients themselves call: they have no credential yet, and bodies are forms. */
export async function serveClients(http: Http, app: App): Promise<void> {
  http.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, formOf(body as string))
  })
  http.setErrorHandler<FastifyError>((error, request, reply) => answerClient(app, { error, request, reply }))
  http.addHook('onRequest', async (_request, reply) => {
    void reply.headers({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // No cookie is read here: whoever may call may call from a page.
      'access-control-allow-origin': '*',
    })
  })
  serveRegistration(http, app)
  serveTokens(http, app)
  serveDevices(http, app)
  for (const url of ['/oauth/register', '/oauth/device_authorization', '/oauth/token', '/oauth/revoke']) {
    http.options(url, { config: open, schema: { hide: true } }, async (_request, reply) =>
      reply
        .code(204)
        .headers({ 'access-control-allow-methods': 'POST', 'access-control-allow-headers': 'Content-Type' })
        .send(),
    )
  }
}

const clientRefusals = {
  400: oauthError,
  413: oauthError,
  415: oauthError,
  429: oauthError,
  431: headersTooLarge,
  500: oauthError,
  503: oauthError,
}

function serveRegistration(http: Http, app: App): void {
  http.post(
    '/oauth/register',
    {
      config: open,
      schema: {
        tags,
        summary: 'Register a client that people may let in',
        security: [],
        body: registerClient,
        response: { 201: registeredClient, ...clientRefusals },
      },
    },
    async (request, reply) => {
      const { client_name: name, redirect_uris: redirectUris } = request.body
      const client = await access.registerClient(app, { name, redirectUris, address: request.ip })
      return reply.code(201).send({
        client_id: client.id,
        client_id_issued_at: Math.floor(app.now() / 1000),
        client_name: client.name,
        redirect_uris: client.redirectUris,
        token_endpoint_auth_method: 'none' as const,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      })
    },
  )
}

function serveTokens(http: Http, app: App): void {
  http.post(
    '/oauth/token',
    {
      config: open,
      schema: {
        tags,
        summary: 'Exchange a code for access, or a refresh token for new access',
        description:
          'A form. The access token is an API key or, to build, a management token, and reaches what its person chose.',
        security: [],
        consumes: ['application/x-www-form-urlencoded'],
        body: tokenRequest,
        response: { 200: tokens, ...clientRefusals },
      },
    },
    async (request, reply) => {
      const outcome = await tokensFor(app, request, request.body)
      if ('error' in outcome) {
        return reply.code(400).send({ error: outcome.error, error_description: outcome.description })
      }
      return {
        access_token: outcome.accessToken,
        token_type: 'Bearer' as const,
        expires_in: outcome.expiresInSeconds,
        ...(outcome.refreshToken !== undefined && { refresh_token: outcome.refreshToken }),
        scope: outcome.scope,
      }
    },
  )

  http.post(
    '/oauth/revoke',
    {
      config: open,
      schema: {
        tags,
        summary: 'Give access back',
        security: [],
        consumes: ['application/x-www-form-urlencoded'],
        body: revokeRequest,
        response: { 200: z.object({}), ...clientRefusals },
      },
    },
    async (request) => {
      const input = { token: request.body.token, clientId: request.body.client_id }
      if (!(await access.revokeProgramToken(app, input))) await access.revokeGrant(app, input)
      return {}
    },
  )
}

function serveDevices(http: Http, app: App): void {
  http.post(
    '/oauth/device_authorization',
    {
      config: open,
      schema: {
        tags,
        summary: 'Ask for a code that a person types in their browser',
        description: 'For programs without a browser (RFC 8628): they show the code, and ask `/oauth/token` meanwhile.',
        security: [],
        consumes: ['application/x-www-form-urlencoded'],
        body: deviceRequest,
        response: { 200: deviceCode, ...clientRefusals },
      },
    },
    async (request) => {
      const input = { clientId: request.body.client_id, address: request.ip }
      const begun = await access.beginDevice(app, input)
      const page = pageLink(app, request, '/device')
      return {
        device_code: begun.deviceCode,
        user_code: begun.userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?code=${begun.userCode}`,
        expires_in: begun.expiresInSeconds,
        interval: begun.intervalSeconds,
      }
    },
  )
}

async function tokensFor(
  app: App,
  request: FastifyRequest,
  body: z.output<typeof tokenRequest>,
): Promise<access.TokenOutcome> {
  if (body.resource !== undefined && !isOwnResource(app, request, body.resource)) {
    return { error: 'invalid_target', description: 'This server gives access to its own /mcp and /mcp/build only.' }
  }
  if (body.grant_type === 'authorization_code') {
    const exchange = {
      code: body.code,
      clientId: body.client_id,
      redirectUri: body.redirect_uri,
      codeVerifier: body.code_verifier,
    }
    return (await access.exchangeProgramCode(app, exchange)) ?? access.exchangeCode(app, exchange)
  }
  if (body.grant_type === deviceGrant) {
    return access.exchangeDeviceCode(app, { deviceCode: body.device_code, clientId: body.client_id })
  }
  if (body.grant_type === 'refresh_token') {
    return access.refreshGrant(app, { refreshToken: body.refresh_token, clientId: body.client_id })
  }
  return { error: 'unsupported_grant_type', description: 'Send authorization_code, refresh_token or a device code.' }
}

function isOwnResource(app: App, request: FastifyRequest, resource: string): boolean {
  const own = [mcpPath, buildPath].map((path) => pageLink(app, request, path)).concat(issuerOf(app, request))
  return own.includes(resource.replace(/\/$/, ''))
}

function refuseOtherResource(app: App, request: FastifyRequest, resource: string | undefined): void {
  if (resource === undefined || isOwnResource(app, request, resource)) return
  throw invalidField('resource', `must be ${pageLink(app, request, mcpPath)}`, {
    message: 'The client asks for access to another server. Nothing was given to it.',
  })
}

/** Each name once: of two values neither is known to be the one that is meant. */
function formOf(text: string): Record<string, string> {
  const form: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(text)) {
    if (Object.hasOwn(form, name))
      throw new Failure('invalid_request', { message: `${name.slice(0, 100)} is given twice.` })
    Object.defineProperty(form, name, { value, enumerable: true })
  }
  return form
}

/** In the words of OAuth, which its clients know. */
function answerClient(
  app: App,
  { error, request, reply }: { error: FastifyError; request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const failure = callerFailure(app, error, request)
  if (failure.retryAfterSeconds !== undefined) void reply.header('retry-after', failure.retryAfterSeconds)
  const { status } = failures[failure.code]
  const isRegistration = request.routeOptions.url === '/oauth/register'
  const theirs = isRegistration ? 'invalid_client_metadata' : 'invalid_request'
  const word = status >= 500 ? 'server_error' : status === 429 ? 'temporarily_unavailable' : theirs
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send({ error: word, error_description: failure.message })
}
