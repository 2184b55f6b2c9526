import type { Value } from '../../../api/wire-codec.ts'
import type { authorization } from '../../../api/oauth.ts'
import { fixedLimits } from '../../../api/limits.ts'
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { HttpConfiguration } from '../../../api/connections.ts'
import { requireRole, resealColumn, type Caller, type UserCaller, type Vault } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { Failure } from '../../failure.ts'
import type { Database, LoadRule, Tables } from '../../store/index.ts'
import { parseUrl, readAuth } from '../request/build-request.ts'
import { startOf } from '../request/last-value.ts'
import { namedValuesFor } from '../apis/named-values.ts'
import { toFailure } from '../outbound/error.ts'
import type { Outbound } from '../outbound/send.ts'
import { openRequest, requestOrigin, selectRequests, type RequestOrigin } from '../apis/shared-apis.ts'
import { exampleRow, fillVariables } from '../request/variables.ts'
import { bindingOf, purposeOf, storeGrant, type CodeAuth, type OwnedPlace } from './upstream-grants.ts'
import { parametersOf } from './parameters.ts'
import { askForTokens, refusalWords } from './token-endpoint.ts'
import { recordSourceAct } from '../sources/source-acts.ts'

type App = { store: Database; vault: Vault; now: Clock; config: Pick<Config, 'limits'> }
type SourceKey = { projectId: string; datasourceId: string }

/** The proof that the browser has to come back with, and the binding of its session. */
type Attempt = { verifier: string; boundTo: string }

/** Whether a connection may ask its API in somebody's name. */
export type Authorization = Value<typeof authorization>

const maxAttemptsPerPerson = 20

/**
 * Where a person's browser goes to connect: the authorization server's own page, with a state that only this session can
 * redeem, once and soon, and the hash of a secret that only this server knows (PKCE, RFC 7636).
 */
export async function beginAuthorization(
  app: App,
  caller: UserCaller,
  input: SourceKey & { sessionId: string; baseUrl: string },
): Promise<{ authorizationUrl: string; redirectUri: string; expiresAt: Date }> {
  await requireRole(app, caller, input.projectId, 'editor')
  const { configuration, auth } = await readSource(app, input)
  const redirectUri = redirectFor(auth, input.baseUrl)
  const [state, verifier] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')]
  const expiresAt = new Date(app.now() + fixedLimits.authorizationSeconds.value * 1000)
  const attempt: Attempt = { verifier, boundTo: bindingOf(configuration, auth) }
  await app.store.db.transaction().execute(async (transaction) => {
    await forgetAttempts(transaction, caller.userId, new Date(app.now()))
    await transaction
      .insertInto('upstreamAttempts')
      .values({
        id: digest(state),
        projectId: input.projectId,
        datasourceId: input.datasourceId,
        userId: caller.userId,
        sessionHash: digest(input.sessionId),
        redirectUri,
        sealedAttempt: app.vault.seal(attempt),
        expiresAt,
      })
      .execute()
  })
  const asked = parametersOf(auth, {
    response_type: 'code',
    client_id: auth.client_id,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const url = parseUrl(auth.authorization_url, 'auth.authorization_url')
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value)
  return { authorizationUrl: url.href, redirectUri, expiresAt }
}

type Returned = {
  sessionId: string
  /** The page that the browser came back to. */
  redirectUri: string
  state: string
  code?: string | undefined
  error?: string | undefined
  errorDescription?: string | undefined
  signal?: AbortSignal | undefined
}

/** Redeems what the browser came back with for tokens, and keeps them with the connection. */
export async function finishAuthorization(
  app: App & { outbound: Outbound },
  caller: UserCaller,
  input: Returned,
): Promise<SourceKey> {
  const attempt = await takeAttempt(app, caller, input)
  const { projectId, datasourceId, redirectUri, verifier } = attempt
  await requireRole(app, caller, projectId, 'editor')
  const { configuration, auth, place } = await readSource(app, { projectId, datasourceId })
  // The code is worth tokens to whoever holds it: it goes where the person was told that it would.
  if (bindingOf(configuration, auth) !== attempt.boundTo) throw changedMeanwhile()
  if (input.code === undefined) throw refusedThere(auth, input)
  const parameters = parametersOf(
    { ...auth, scope: undefined },
    { grant_type: 'authorization_code', code: input.code, redirect_uri: redirectUri, code_verifier: verifier },
  )
  const timeoutMs = app.config.limits.testTimeoutMs
  const answer = await askForTokens(app.outbound, auth, parameters, { timeoutMs, signal: input.signal })
  if (!answer.ok) throw toFailure(answer.error)
  const { tokens } = answer
  await app.store.db.transaction().execute(async (transaction) => {
    await requireUnchanged(app, transaction, attempt)
    const grant = { place, boundTo: attempt.boundTo, tokens, connectedBy: caller.label }
    await storeGrant(app, transaction, grant)
    const details = { token_endpoint: new URL(auth.token_url).origin, renews: tokens.refreshToken !== null }
    await recordSourceAct(transaction, caller, { action: 'datasource.connected', projectId, datasourceId, details })
  })
  return { projectId, datasourceId }
}

export async function findAuthorization(
  app: App,
  caller: Caller,
  input: SourceKey & { baseUrl: string },
): Promise<Authorization> {
  await requireRole(app, caller, input.projectId, 'viewer')
  const { configuration, auth, place } = await readSource(app, input)
  const row = await app.store.db
    .selectFrom('upstreamGrants')
    .select(['sealedTokens', 'connectedAt', 'connectedBy', 'refusal'])
    .where('projectId', '=', input.projectId)
    .where('purpose', '=', purposeOf(place))
    .executeTakeFirst()
  const redirectUri = redirectFor(auth, input.baseUrl)
  if (row === undefined) {
    const nothing = { connectedAt: null, connectedBy: null, expiresAt: null, renews: false, refusal: null }
    return { redirectUri, status: 'none', ...nothing }
  }
  const tokens = app.vault.open(row.sealedTokens) as {
    boundTo: string
    refreshToken: string | null
    expiresAt: number | null
  }
  const isOutdated = tokens.boundTo !== bindingOf(configuration, auth)
  return {
    redirectUri,
    status: isOutdated ? 'outdated' : row.refusal === null ? 'connected' : 'refused',
    connectedAt: row.connectedAt,
    connectedBy: row.connectedBy,
    expiresAt: tokens.expiresAt === null ? null : new Date(tokens.expiresAt),
    renews: tokens.refreshToken !== null,
    refusal: row.refusal,
  }
}

/** Forgets the tokens of a connection. What the server that gave them thinks of it is between it and the person. */
export async function endAuthorization(app: App, caller: Caller, input: SourceKey): Promise<void> {
  const { projectId, datasourceId } = input
  await requireRole(app, caller, projectId, 'editor')
  const place = await placeOf(app, input)
  await app.store.db.transaction().execute(async (transaction) => {
    const gone = await transaction
      .deleteFrom('upstreamGrants')
      .where('projectId', '=', projectId)
      .where('purpose', '=', purposeOf(place))
      .returning('id')
      .executeTakeFirst()
    if (gone === undefined) throw new Failure('not_found', { message: 'This connection is not connected.' })
    await recordSourceAct(transaction, caller, { action: 'datasource.disconnected', projectId, datasourceId })
  })
}

/** Seals what attempts to connect hold anew, and answers how many there were. */
export const resealAttempts = resealColumn('upstreamAttempts', 'sealedAttempt')

/**
 * One address for each authorization server: what one of them sends back cannot be passed off as another's, and its code
 * not sent to the other's endpoint (RFC 9700, 4.4.2).
 */
function redirectFor(auth: CodeAuth, baseUrl: string): string {
  const servers = [auth.authorization_url, auth.token_url].map((url) => parseUrl(url, 'auth').origin)
  return new URL(`/connect/${digest(servers.join(' ')).slice(0, 16)}`, baseUrl).href
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

async function readSource(
  app: App,
  key: SourceKey,
): Promise<{ configuration: HttpConfiguration; auth: CodeAuth; place: OwnedPlace }> {
  const { row, from } = await storedSource(app, key)
  if (from?.configuration.authType !== 'OAuth2 Authorization Code') throw notByCode()
  const configuration = await filledFor(app, key.projectId, from.configuration, row)
  return { configuration, auth: readAuth('OAuth2 Authorization Code', configuration.auth), place: ownPlace(key, from) }
}

/** Also where it asks for nothing by a code any more. */
async function placeOf(app: App, key: SourceKey): Promise<OwnedPlace> {
  const { from } = await storedSource(app, key)
  return from === null ? key : ownPlace(key, from)
}

function ownPlace(key: SourceKey, { api, hasApiAuth }: RequestOrigin): OwnedPlace {
  return { ...key, ...(hasApiAuth && api !== null && { apiId: api.id }) }
}

async function storedSource(app: App, { projectId, datasourceId }: SourceKey) {
  const row = await selectRequests(app.store.db)
    .select(['forEach', 'load'])
    .where('datasources.projectId', '=', projectId)
    .where('datasources.id', '=', datasourceId)
    .executeTakeFirst()
  if (row === undefined) throw new Failure('not_found', { message: `The project has no datasource ${datasourceId}.` })
  const { configuration, api } = openRequest(app.vault, row)
  return { row, from: configuration === undefined ? null : requestOrigin({ configuration, api }, {}) }
}

async function filledFor(
  app: App,
  projectId: string,
  stored: HttpConfiguration,
  { forEach, load }: { forEach: object | null; load: LoadRule },
): Promise<HttpConfiguration> {
  const values = await namedValuesFor(app, projectId, stored)
  const row = exampleRow(stored, { forEach, load })
  return fillVariables(stored, { at: new Date(app.now()), values, row, lastValue: startOf(load, null) })
}

/** A person who begins again and again keeps the newest attempts. */
async function forgetAttempts(transaction: Transaction<Tables>, userId: string, at: Date): Promise<void> {
  const own = await transaction
    .selectFrom('upstreamAttempts')
    .select('id')
    .where('userId', '=', userId)
    .orderBy('expiresAt', 'desc')
    .offset(maxAttemptsPerPerson - 1)
    .execute()
  await transaction
    .deleteFrom('upstreamAttempts')
    .where((row) =>
      row.or([
        row('expiresAt', '<', at),
        ...(own.length === 0
          ? []
          : [
              row(
                'id',
                'in',
                own.map(({ id }) => id),
              ),
            ]),
      ]),
    )
    .execute()
}

type TakenAttempt = SourceKey & Attempt & { redirectUri: string }

/** A state is good once, for the person and the session that it was made for, and at the page it was made for. */
async function takeAttempt(app: App, caller: UserCaller, input: Returned): Promise<TakenAttempt> {
  const row = await app.store.db
    .deleteFrom('upstreamAttempts')
    .where('id', '=', digest(input.state))
    .where('userId', '=', caller.userId)
    .where('sessionHash', '=', digest(input.sessionId))
    .returning(['projectId', 'datasourceId', 'redirectUri', 'sealedAttempt', 'expiresAt'])
    .executeTakeFirst()
  if (row === undefined || row.expiresAt.getTime() <= app.now() || !isSame(row.redirectUri, input.redirectUri)) {
    throw new Failure('invalid_request', {
      reason: 'unknown_state',
      message: 'This answer belongs to no attempt to connect of this session, or is too late. Press Connect again.',
    })
  }
  const { projectId, datasourceId, redirectUri, sealedAttempt } = row
  return { projectId, datasourceId, redirectUri, ...(app.vault.open(sealedAttempt) as Attempt) }
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** The last moment at which a change of the connection counts: its row stays as it is until the tokens are there. */
async function requireUnchanged(app: App, transaction: Transaction<Tables>, attempt: TakenAttempt): Promise<void> {
  const row = await transaction
    .selectFrom('datasources')
    .select(['id'])
    .where('id', '=', attempt.datasourceId)
    .where('projectId', '=', attempt.projectId)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) throw changedMeanwhile()
  const { configuration, auth } = await readSource({ ...app, store: { ...app.store, db: transaction } }, attempt)
  if (bindingOf(configuration, auth) !== attempt.boundTo) throw changedMeanwhile()
}

function refusedThere(auth: CodeAuth, { error, errorDescription }: Returned): Failure {
  const { host } = new URL(auth.authorization_url)
  const { words } = refusalWords(error, errorDescription)
  const said = words === '' ? 'sent no code' : `answered${words}`
  return new Failure('upstream_error', {
    reason: 'token_refused',
    message: `${host} ${said}. Nothing was connected.`,
  })
}

function changedMeanwhile(): Failure {
  return new Failure('conflict', {
    reason: 'changed_meanwhile',
    message: 'The addresses or the client of this connection changed while you were away. Press Connect again.',
  })
}

function notByCode(): Failure {
  return new Failure('invalid_request', {
    reason: 'invalid_field',
    message: 'This connection does not use the authType "OAuth2 Authorization Code". Save it with that first.',
  })
}
