import fastifyCookie from '@fastify/cookie'
import fastifyHelmet from '@fastify/helmet'
import fastifySession from '@fastify/session'
import fastifySwagger from '@fastify/swagger'
import { fastify, type FastifyReply, type FastifyRequest } from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { labelOf } from '../access/index.ts'
import type { App } from '../app.ts'
import type { Holder } from '../flow/index.ts'
import { Failure } from '../failure.ts'
import { newId } from '../ids.ts'
import { onBehalfOf } from '../store/index.ts'
import { admitToManagement } from './request/caller.ts'
import { answerClientError } from './answer/client-error.ts'
import { allowOrigin, allowRefusal, servePreflights } from './request/cross-origin.ts'
import { answerError, sendFailure } from './answer/errors.ts'
import { openEventStreams } from './answer/event-streams.ts'
import type { Http } from './request/http.ts'
import { acceptJsonOnly } from './request/json-body.ts'
import { openapiOptions } from './request/openapi.ts'
import { limitRequestTime, maxRequestMs } from './request/request-time.ts'
import { openRouteTable, type RouteTable } from './request/route-table.ts'
import { serveAlertChannels } from './routes/usage/alert-channels.ts'
import { serveAlertActs, serveAlerts, serveAlertTrials } from './routes/usage/alerts.ts'
import { serveAudit, serveAuditExport } from './routes/access/audit.ts'
import { serveAskedQuestions, serveQuestionSettings, serveTrials } from './routes/questions/asked-questions.ts'
import { serveBrowserTokens } from './routes/access/browser-tokens.ts'
import { serveConnections } from './routes/connections/connections.ts'
import { serveDataObjects, serveObjectContent } from './routes/connections/data.ts'
import { serveDatasources } from './routes/connections/datasources.ts'
import { serveRowTests } from './routes/queries/row-tests.ts'
import { serveModels } from './routes/connections/models.ts'
import { serveLineage } from './routes/connections/lineage.ts'
import { serveCounterExamples } from './routes/questions/counter-examples.ts'
import { serveFiles } from './routes/connections/files.ts'
import { serveEvaluationRuns, serveEvaluations } from './routes/questions/evaluations.ts'
import { serveJobEvents, serveJobs } from './routes/service/jobs.ts'
import { serveDefinition } from './routes/queries/definition.ts'
import { serveDeploying, serveVersions } from './routes/queries/deployments.ts'
import { admitQueryCall, projectNamed } from './request/query-call.ts'
import { serveKeyActs, serveKeyAddresses, serveKeys, servePlans } from './routes/access/keys.ts'
import { serveMcp } from './routes/service/mcp.ts'
import { serveMcpBuild } from './routes/service/mcp-build.ts'
import { serveMembers, serveInvitations } from './routes/access/members.ts'
import { serveAuthorizations } from './routes/connections/oauth.ts'
import { serveApprovals, serveClients, serveDiscovery } from './routes/access/authorization-server.ts'
import { serveQueryLinks, serveSharedQueries } from './routes/access/query-links.ts'
import { serveOwnKey } from './routes/access/own-key.ts'
import { serveProjectDocument } from './routes/queries/project-document.ts'
import { serveEnvironments, serveProjects } from './routes/service/projects.ts'
import { serveReleases } from './routes/queries/releases.ts'
import { separateSample, serveSample } from './routes/service/sample.ts'
import { serveAuthoring, serveQueries } from './routes/queries/queries.ts'
import { serveQueryCalls, serveReadCalls } from './routes/queries/query-calls.ts'
import { serveQuestions } from './routes/questions/questions.ts'
import { serveReplays } from './routes/queries/replays.ts'
import { serveEngineMoves } from './routes/queries/engine-moves.ts'
import { serveDataVersions, serveTableSchemas } from './routes/connections/table-schemas.ts'
import { serveSharedReferences } from './routes/access/shared-references.ts'
import { serveHealth, serveLimits, serveMetrics, serveTrinoRules } from './routes/service/service.ts'
import { serveSession } from './routes/access/session.ts'
import { serveRequest, serveRequestEvents, serveUsage } from './routes/usage/usage.ts'
import { serveApis } from './routes/connections/apis.ts'
import { serveVariables } from './routes/connections/variables.ts'
import { serveManagementTokens } from './routes/access/tokens.ts'
import { serveTimeline } from './routes/usage/timeline.ts'
import { serveViews } from './routes/usage/views.ts'
import { openSessionStore, sessionCookie } from './request/session-store.ts'
import { endSilentConnections } from './request/silent-connections.ts'
import { isLostVisitor, openWebPage, serveWeb, type WebPage } from './request/web.ts'

/** Builds the server without listening, so that a test can call it without a port. */
export async function buildHttp(app: App): Promise<Http> {
  const { limits } = app.config
  const http = fastify({
    bodyLimit: limits.bodyBytes,
    requestTimeout: maxRequestMs(limits),
    keepAliveTimeout: 72_000,
    trustProxy: app.config.trustedProxies.length > 0 ? app.config.trustedProxies : false,
    genReqId: () => newId('request'),
    // The observations are the log.
    logger: false,
    http: { maxHeaderSize: limits.headerBytes, headersTimeout: limits.requestTimeoutMs },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => void answerError(app, error, request, reply),
    forceCloseConnections: 'idle',
  }).withTypeProvider<ZodTypeProvider>()
  http.setValidatorCompiler(validatorCompiler)
  http.setSerializerCompiler(serializerCompiler)
  http.decorateRequest('caller', null)
  http.decorateRequest('keyCaller', null)

  const routes = openRouteTable(http)
  const page = await openWebPage()
  const nowhere = { routes, page }
  http.setErrorHandler<Parameters<typeof answerError>[1]>((error, request, reply) =>
    answerError(app, error, request, reply),
  )
  http.setNotFoundHandler((request, reply) => answerNowhere(nowhere, request, reply))
  separateSample(http)
  if (app.config.role === 'worker') refuseCalls(http)
  acceptJsonOnly(http, limits)
  observeRequests(http, app)
  limitRequestTime(http, limits)
  // Whatever else is wrong with a request to nowhere, that is what it is told, and its body is not read.
  http.addHook('onRequest', (request, reply, done) => {
    if (request.is404) answerNowhere(nowhere, request, reply)
    else done()
  })
  endSilentConnections(http)

  await http.register(fastifySwagger, openapiOptions)
  servePreflights(http, app)
  await http.register(async (calls) => serveCalls(calls.withTypeProvider<ZodTypeProvider>(), app))
  await http.register(async (shared) => serveSharedQueries(shared.withTypeProvider<ZodTypeProvider>(), app))
  await http.register(async (mcp) => serveMcp(mcp.withTypeProvider<ZodTypeProvider>(), app))
  await http.register(async (build) => serveMcpBuild(build.withTypeProvider<ZodTypeProvider>(), app))
  await http.register(async (clients) => serveClients(clients.withTypeProvider<ZodTypeProvider>(), app))
  await http.register(async (pages) => servePages(pages.withTypeProvider<ZodTypeProvider>(), app, page))
  await http.ready()
  return http
}

/** Routes of a process that runs jobs: its health, and the data of the example. */
const workerPaths = /^\/(healthz|readyz|metrics|trino|sample)(\/|\?|$)/

/** A balancer that sends calls to a worker is told so, and its callers to come again. */
function refuseCalls(http: Http): void {
  http.addHook('onRequest', async (request) => {
    if (workerPaths.test(request.url)) return
    const message = 'This process runs jobs (SLUICE_ROLE=worker). Calls go to those that answer them.'
    throw new Failure('overloaded', { message, retryAfterSeconds: 1 })
  })
}

type Nowhere = { routes: RouteTable; page: WebPage | null }

function answerNowhere({ routes, page }: Nowhere, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // A browser may have been sent here.
  void reply.headers(dataHeaders).header('content-security-policy', dataPolicy)
  const allowed = routes.methodsOf(request.url)
  if (allowed.length === 0 && page !== null && isLostVisitor(request)) return page.answer(request, reply.code(404))
  if (allowed.length === 0) {
    const failure = new Failure('not_found', { message: `There is nothing at ${request.method} ${pathOf(request)}.` })
    return sendFailure(failure, request, reply)
  }
  void reply.header('allow', allowed.join(', '))
  const message = `${pathOf(request)} takes ${allowed.join(' or ')}, not ${request.method}.`
  return sendFailure(new Failure('method_not_allowed', { message }), request, reply)
}

/** Everything but calls: what browsers see, and so what Helmet's headers are for. */
async function servePages(http: Http, app: App, page: WebPage | null): Promise<void> {
  await http.register(fastifyHelmet, {
    // Answers of the API are data: nothing in them may load or run. The web app's page sets its own.
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  })
  serveHealth(http, app)
  serveTrinoRules(http, app)
  serveDiscovery(http, app)
  serveSample(http, app)
  await http.register(async (management) => serveManagement(management.withTypeProvider<ZodTypeProvider>(), app))
  await serveWeb(http, page)
}

/** The holder of a request's connections to the database: its project, and in it the caller. */
function holderOf({ params, caller }: FastifyRequest): Holder | null {
  const { project_id: projectId } = params as { project_id?: string }
  return projectId === undefined || caller === null ? null : [projectId, labelOf(caller)]
}

/** Everything that takes a management credential: a session or a management token. */
// Over 70 lines: a list of routes.
async function serveManagement(http: Http, app: App): Promise<void> {
  await http.register(fastifyCookie)
  const maxAge = app.config.limits.sessionSeconds * 1000
  await http.register(fastifySession, {
    cookieName: sessionCookie,
    // The id is random and looked up by its hash; a signature would add a secret to share and nothing else.
    secret: { sign: (id) => id, unsign: (id) => ({ valid: true, renew: false, value: id }) },
    store: openSessionStore(app),
    cookie: { httpOnly: true, sameSite: 'lax', secure: 'auto', path: '/', maxAge },
    rolling: false,
    saveUninitialized: false,
  })
  http.addHook('onRequest', async (request, reply) => {
    // Secrets and what only some may read: no cache keeps it, not even the browser's.
    void reply.header('cache-control', 'no-store')
    if (request.routeOptions.url === '/metrics') return
    await admitToManagement(app, request)
    const { person, endsAt } = request.session
    // Any change to the session makes the library store it again with a full life.
    if (person !== undefined && endsAt !== undefined && endsAt - app.now() < maxAge / 2) {
      request.session.renewedAt = app.now()
    }
  })
  http.addHook('preHandler', (request, _reply, done) => {
    const holder = holderOf(request)
    if (holder === null) done()
    else onBehalfOf(holder, done)
  })
  serveMetrics(http, app)
  serveLimits(http, app)
  serveSession(http, app)
  serveProjects(http, app)
  serveEnvironments(http, app)
  serveProjectDocument(http, app)
  serveSharedReferences(http, app)
  serveMembers(http, app)
  serveInvitations(http, app)
  serveConnections(http, app)
  serveDatasources(http, app)
  serveModels(http, app)
  serveRowTests(http, app)
  serveAuthorizations(http, app)
  await http.register(async (files) => serveFiles(files.withTypeProvider<ZodTypeProvider>(), app))
  serveVariables(http, app)
  serveApis(http, app)
  serveTableSchemas(http, app)
  serveDataVersions(http, app)
  serveDataObjects(http, app)
  serveLineage(http, app)
  serveObjectContent(http, app)
  serveJobs(http, app)
  const streams = openEventStreams(http, app, {
    most: app.config.limits.eventStreams,
    // Each replica has its share, so that a person has no more by going round them.
    each: () => Math.max(1, Math.floor(app.config.limits.eventStreamsPerPerson / app.replicas.answering())),
  })
  serveJobEvents(http, app, streams)
  serveUsage(http, app)
  serveRequest(http, app)
  serveRequestEvents(http, app, streams)
  serveAlerts(http, app)
  serveAlertActs(http, app)
  serveAlertTrials(http, app)
  serveAlertChannels(http, app)
  serveTimeline(http, app)
  serveViews(http, app)
  serveManagementTokens(http, app)
  serveQueries(http, app)
  serveAuthoring(http, app)
  serveDeploying(http, app)
  serveVersions(http, app)
  serveReleases(http, app)
  serveDefinition(http, app)
  serveReplays(http, app)
  serveEngineMoves(http, app)
  serveAskedQuestions(http, app)
  serveQuestionSettings(http, app)
  serveTrials(http, app)
  serveEvaluations(http, app)
  serveEvaluationRuns(http, app)
  serveCounterExamples(http, app)
  serveKeys(http, app)
  serveKeyActs(http, app)
  serveKeyAddresses(http, app)
  serveQueryLinks(http, app)
  serveApprovals(http, app)
  servePlans(http, app)
  serveAudit(http, app)
  serveAuditExport(http, app)
  http.get('/v1/openapi.json', { config: { door: 'open' }, schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').serializer(JSON.stringify).send(http.swagger()),
  )
}

/**
 * Data needs one of Helmet's headers: the others are for pages, and what no browser shows needs no
 * policy. Each header of a call costs a hundredth of an answer given from memory.
 */
const dataHeaders = { 'x-content-type-options': 'nosniff' }
const dataPolicy = "default-src 'none';frame-ancestors 'none'"

/** Everything that takes an API key and nothing else. No cookie is read here. */
async function serveCalls(http: Http, app: App): Promise<void> {
  http.addHook('onRequest', (request, reply, done) => {
    void reply.headers(dataHeaders)
    if (request.headers.origin !== undefined) return admitFromPage(app, request, reply)
    const waiting = admitQueryCall(app, request)
    // A hook may return a promise instead of calling back; most calls need none.
    if (waiting === undefined) done()
    return waiting
  })
  serveOwnKey(http)
  serveBrowserTokens(http, app)
  serveQueryCalls(http, app)
  serveReadCalls(http, app)
  serveQuestions(http, app)
}

/** Also a refusal is for the page to read, so that it can say what is wrong and when to come again. */
async function admitFromPage(app: App, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  try {
    await admitQueryCall(app, request)
  } catch (error) {
    if (request.keyCaller === null) allowRefusal(app, request, reply)
    else allowOrigin(app, request, reply, projectNamed(request))
    throw error
  }
  allowOrigin(app, request, reply, projectNamed(request))
}

function observeRequests(http: Http, app: App): void {
  // With callbacks, because a promise for each of them is what a fast call would mostly be made of.
  http.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id)
    done()
  })
  http.addHook('onResponse', (request, reply, done) => {
    app.observe({
      kind: 'request-answered',
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      status: reply.statusCode,
      elapsedMs: reply.elapsedTime,
      traceParent: request.headers['traceparent'] as string | undefined,
    })
    done()
  })
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? ''
}
