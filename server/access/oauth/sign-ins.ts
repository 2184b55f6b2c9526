import { randomBytes, randomInt } from 'node:crypto'
import type { Selectable, Transaction } from 'kysely'
import { fixedLimits } from '../../../api/limits.ts'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { Failure, invalidField } from '../../failure.ts'
import { newId } from '../../ids.ts'
import { countOf, lockQuota, type Database, type Role, type Tables } from '../../store/index.ts'
import type { Attempts } from '../credentials/attempts.ts'
import { hashCredential } from '../credentials/credential.ts'
import { recordAct } from '../people/audit.ts'
import { systemCaller } from '../people/caller.ts'
import { actAs, type UserCaller } from '../people/people.ts'
import { requireRole } from '../people/roles.ts'
import { createManagementToken, endManagementToken } from '../people/tokens.ts'
import { isClientAddress, type ClientDocuments } from './client-documents.ts'
import { findClient, findRegistered, keepClient } from './clients.ts'
import { orRefusal, provesChallenge, refused, type TokenOutcome } from './refusals.ts'

/**
 * A person lets a program build for them: the command line, or an assistant at `/mcp/build`. It gets a management token,
 * which does no more than the person may, and stands under Tokens, where it can be revoked. A program with a browser on
 * its machine comes back with a code (RFC 8252); any other shows a short code that the person types (RFC 8628).
 */
type Parts = { store: Database; now: Clock; config: Pick<Config, 'limits'> }
type Permission = { role: Role; projectId?: string | undefined }
type SignIn = Selectable<Tables['programSignIns']>

const codeMs = 60_000
const deviceSeconds = 600
/** A device asks no faster than this. */
const intervalSeconds = 5
const earlyMs = 1_000
/** More devices than these at once are not waited for. */
const maxPending = 1_000

// Eight of twenty consonants: no word, no letter that looks like a digit, and a guess in 25 thousand million.
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const half = (): string => Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join('')

/** The person's yes to a program whose browser they are in: a code that it exchanges once, within a minute. */
export async function approveProgram(
  app: Parts & { clientDocuments: ClientDocuments },
  caller: UserCaller,
  input: Permission & { clientId: string; redirectUri: string; codeChallenge: string; address: string },
): Promise<string> {
  const { role, projectId, redirectUri, codeChallenge, address } = input
  if (projectId !== undefined) await requireRole(app, caller, projectId, role)
  const client = await findClient(app, input)
  const code = randomBytes(32).toString('base64url')
  await app.store.db.transaction().execute(async (transaction) => {
    if (isClientAddress(client.id)) await keepClient(app, transaction, client)
    await transaction
      .insertInto('programSignIns')
      .values({
        id: newId('programSignIn'),
        clientId: client.id,
        userId: caller.userId,
        role,
        projectId: projectId ?? null,
        redirectUri,
        codeChallenge,
        codeHash: hashCredential(code),
        address,
        expiresAt: new Date(app.now() + codeMs),
      })
      .execute()
    await recordApproval(transaction, caller, { client, role, projectId })
  })
  return code
}

export type DeviceCode = { deviceCode: string; userCode: string; expiresInSeconds: number; intervalSeconds: number }

/** A program without a browser asks for a code that a person types elsewhere. */
export async function beginDevice(
  app: Parts & { clientRegistrations: Attempts },
  { clientId, address }: { clientId: string; address: string },
): Promise<DeviceCode> {
  const waitSeconds = app.clientRegistrations.waitSeconds(address)
  if (waitSeconds > 0) {
    const message = `Too many codes were asked for from this address. Wait ${waitSeconds} s.`
    throw new Failure('rate_limit_exceeded', { message, retryAfterSeconds: waitSeconds })
  }
  app.clientRegistrations.recordFailure(address)
  await findRegistered(app, clientId).catch((error: unknown) => {
    if (error instanceof Failure && error.code === 'not_found')
      throw invalidField('client_id', 'is not registered here')
    throw error
  })
  const deviceCode = randomBytes(32).toString('base64url')
  const userCode = `${half()}-${half()}`
  await app.store.db.transaction().execute(async (transaction) => {
    await lockQuota(transaction, 'program_sign_ins')
    const pending = transaction
      .selectFrom('programSignIns')
      .where('userCode', 'is not', null)
      .where('userId', 'is', null)
      .where('expiresAt', '>', new Date(app.now()))
    if ((await countOf(pending)) >= maxPending) {
      throw new Failure('overloaded', { message: 'Too many devices are waiting for their code. Try again later.' })
    }
    const expiresAt = new Date(app.now() + deviceSeconds * 1000)
    await transaction
      .insertInto('programSignIns')
      .values({
        id: newId('programSignIn'),
        clientId,
        codeHash: hashCredential(deviceCode),
        userCode,
        address,
        expiresAt,
      })
      .execute()
  })
  return { deviceCode, userCode, expiresInSeconds: deviceSeconds, intervalSeconds }
}

export type WaitingDevice = { clientName: string; address: string; createdAt: Date }

/** The device that shows this code. Wrong codes count for the person, who would otherwise have as many guesses as they like. */
export async function findDevice(
  app: Parts & { signInAttempts: Attempts },
  caller: UserCaller,
  userCode: string,
): Promise<WaitingDevice & { id: string }> {
  const key = `device ${caller.userId}`
  const waitSeconds = app.signInAttempts.waitSeconds(key)
  if (waitSeconds > 0) {
    const message = `Too many codes were wrong. Wait ${waitSeconds} s and try again.`
    throw new Failure('rate_limit_exceeded', { message, retryAfterSeconds: waitSeconds })
  }
  const device = await app.store.db
    .selectFrom('programSignIns')
    .innerJoin('oauthClients', 'oauthClients.id', 'programSignIns.clientId')
    .select(['programSignIns.id', 'oauthClients.name as clientName', 'address', 'programSignIns.createdAt'])
    .where('userCode', '=', spelled(userCode))
    .where('userId', 'is', null)
    .where('refusedAt', 'is', null)
    .where('expiresAt', '>', new Date(app.now()))
    .executeTakeFirst()
  if (device !== undefined) return device
  app.signInAttempts.recordFailure(key)
  throw invalidField('user_code', 'belongs to no device that waits: a code is good once, for ten minutes')
}

/** The person's yes or no to a device. */
export async function decideDevice(
  app: Parts & { signInAttempts: Attempts },
  caller: UserCaller,
  { userCode, allow, role, projectId }: Permission & { userCode: string; allow: boolean },
): Promise<void> {
  const { id, clientName } = await findDevice(app, caller, userCode)
  if (allow && projectId !== undefined) await requireRole(app, caller, projectId, role)
  await app.store.db.transaction().execute(async (transaction) => {
    const decided = await transaction
      .updateTable('programSignIns')
      .set(
        allow
          ? { userId: caller.userId, role, projectId: projectId ?? null, userCode: null }
          : { refusedAt: new Date(app.now()), userCode: null },
      )
      .where('id', '=', id)
      .where('userId', 'is', null)
      .where('refusedAt', 'is', null)
      .returning('clientId')
      .executeTakeFirst()
    if (decided === undefined) throw new Failure('conflict', { reason: 'changed_meanwhile' })
    if (!allow) return
    await recordApproval(transaction, caller, { client: { id: decided.clientId, name: clientName }, role, projectId })
  })
}

/** The typed code, as the screen of the device shows it. */
function spelled(typed: string): string {
  const only = typed.toUpperCase().replaceAll(/[^A-Z]/g, '')
  return `${only.slice(0, 4)}-${only.slice(4)}`
}

/** Undefined where the code is that of a client which calls queries. */
export async function exchangeProgramCode(
  app: Parts,
  input: { code: string; clientId: string; redirectUri: string; codeVerifier: string },
): Promise<TokenOutcome | undefined> {
  const signIn = await findByCode(app, input.code)
  if (signIn === undefined || signIn.redirectUri === null) return undefined
  const isMeant = signIn.clientId === input.clientId && signIn.redirectUri === input.redirectUri
  const isProved = provesChallenge(input.codeVerifier, signIn.codeChallenge ?? '')
  if (!isMeant || !isProved || signIn.expiresAt.getTime() <= app.now()) {
    return refused('The code is not good: it has expired, or was given to another client. Connect anew.')
  }
  return tokenFor(app, signIn)
}

/** A device asks whether its person has said yes. */
export async function exchangeDeviceCode(
  app: Parts,
  { deviceCode, clientId }: { deviceCode: string; clientId: string },
): Promise<TokenOutcome> {
  const signIn = await findByCode(app, deviceCode)
  if (signIn === undefined || signIn.redirectUri !== null || signIn.clientId !== clientId) {
    return refused('The device code is not good. Ask for a new one.')
  }
  if (signIn.refusedAt !== null) return { error: 'access_denied', description: 'The person refused.' }
  if (signIn.userId !== null) return tokenFor(app, signIn)
  if (signIn.expiresAt.getTime() <= app.now()) {
    return { error: 'expired_token', description: 'Nobody typed the code in time. Ask for a new one.' }
  }
  const isEarly = app.now() - (signIn.askedAt?.getTime() ?? 0) < intervalSeconds * 1000 - earlyMs
  await app.store.db
    .updateTable('programSignIns')
    .set({ askedAt: new Date(app.now()) })
    .where('id', '=', signIn.id)
    .execute()
  return isEarly
    ? { error: 'slow_down', description: `Ask every ${intervalSeconds} s.` }
    : { error: 'authorization_pending', description: 'Nobody has typed the code yet.' }
}

async function findByCode(app: Parts, code: string): Promise<SignIn | undefined> {
  return app.store.db
    .selectFrom('programSignIns')
    .selectAll()
    .where('codeHash', '=', hashCredential(code))
    .executeTakeFirst()
}

/** Once: a code that comes twice was seen by somebody else, and what it gave is taken back. */
async function tokenFor(app: Parts, { id, clientId, userId, role, projectId, tokenId }: SignIn): Promise<TokenOutcome> {
  if (userId === null || role === null) throw new Failure('internal_error')
  if (tokenId !== null) {
    await endManagementToken(app, systemCaller, tokenId)
    return refused('The code was used already: its access was ended. Connect anew.')
  }
  return orRefusal(async () => {
    const caller = await actAs(app, userId)
    const { name } = await findRegistered(app, clientId)
    const expiresInSeconds = fixedLimits.oauthProgramSeconds.value
    const made = await createManagementToken(app, caller, {
      name: `${name} for ${caller.label}`.slice(0, fixedLimits.nameChars.value),
      role,
      projectId: projectId ?? undefined,
      expiresAt: new Date(app.now() + expiresInSeconds * 1000),
    })
    const { numUpdatedRows } = await app.store.db
      .updateTable('programSignIns')
      .set({ tokenId: made.id })
      .where('id', '=', id)
      .where('tokenId', 'is', null)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 1n) return { accessToken: made.secret, expiresInSeconds, scope: 'manage' }
    await endManagementToken(app, systemCaller, made.id)
    throw new Failure('conflict', { message: 'The code was used already. Connect anew.' })
  })
}

/** Ends the token that this client was given; one that a person made is not its to end. */
export async function revokeProgramToken(
  app: Parts,
  { token, clientId }: { token: string; clientId: string },
): Promise<boolean> {
  const found = await app.store.db
    .selectFrom('programSignIns')
    .innerJoin('managementTokens', 'managementTokens.id', 'programSignIns.tokenId')
    .select('managementTokens.id')
    .where('programSignIns.clientId', '=', clientId)
    .where('managementTokens.secretHash', '=', hashCredential(token))
    .executeTakeFirst()
  if (found !== undefined) await endManagementToken(app, systemCaller, found.id)
  return found !== undefined
}

/** Those that nobody answered, and those whose token is no good any more; called now and then. */
export async function forgetOldSignIns(app: Parts): Promise<void> {
  const before = new Date(app.now() - fixedLimits.oauthProgramSeconds.value * 1000)
  await app.store.db
    .deleteFrom('programSignIns')
    .where((row) =>
      row.or([
        row('expiresAt', '<', before),
        row.and([row('tokenId', 'is', null), row('expiresAt', '<', new Date(app.now() - codeMs))]),
      ]),
    )
    .execute()
}

type Approved = { client: { id: string; name: string }; role: string; projectId: string | undefined }

async function recordApproval(
  transaction: Transaction<Tables>,
  caller: UserCaller,
  { client, role, projectId }: Approved,
): Promise<void> {
  await recordAct(transaction, caller, {
    action: 'oauth_client.approved',
    target: client.id,
    ...(projectId !== undefined && { projectId }),
    details: { client: client.name, role },
  })
}
