import { timingSafeEqual } from 'node:crypto'
import { Failure } from '../failure.ts'
import type { FailureReason } from '../../api/failures.ts'
import type { Attempts } from './credentials/attempts.ts'
import type { Caller } from './people/caller.ts'
import { countedFailure, credentialKind, hashCredential } from './credentials/credential.ts'
import { isBrowserToken } from './keys/browser-token.ts'
import type { Database } from '../store/index.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'

/** A last use is worth one write a minute, not one a call. */
const lastUseGrainMs = 60_000

type Parts = { store: Database; now: Clock; config: Config; authenticationAttempts: Attempts }
type Presented = { secret: string; address: string; requestId: string }

/** The caller behind the bearer credential of a management call. One that is not good counts for its address. */
export async function authenticateManagement(app: Parts, input: Presented): Promise<Caller> {
  try {
    return await findCaller(app, input)
  } catch (error) {
    throw countedFailure(app, input.address, error)
  }
}

async function findCaller(app: Parts, input: Presented): Promise<Caller> {
  const hash = hashCredential(input.secret)
  const { managementToken } = app.config
  if (managementToken !== undefined && timingSafeEqual(hash, hashCredential(managementToken))) {
    return { kind: 'operator', requestId: input.requestId }
  }
  if (isBrowserToken(input.secret)) {
    throw refused('wrong_kind', 'A browser token asks questions and calls queries. Management needs slc_mgmt_….')
  }
  const kind = credentialKind(input.secret)
  if (kind === undefined) throw refused('malformed', 'The token is malformed: copy it whole.')
  if (kind !== 'mgmt') {
    throw refused('wrong_kind', 'Management calls need a management token (slc_mgmt_…), not an API key.')
  }
  const token = await app.store.db
    .selectFrom('managementTokens')
    .leftJoin('users', 'users.id', 'managementTokens.createdBy')
    .select([
      'managementTokens.id',
      'managementTokens.name',
      'managementTokens.projectId',
      'managementTokens.role',
      'managementTokens.expiresAt',
      'managementTokens.revokedAt',
      'managementTokens.lastUsedAt',
      'users.id as makerId',
      'users.administrator',
    ])
    .where('managementTokens.secretHash', '=', hash)
    .executeTakeFirst()
  if (token === undefined) throw refused('unknown', 'This management token does not exist.')
  if (token.revokedAt !== null) throw refused('revoked', 'This management token was revoked.')
  if (token.expiresAt !== null && token.expiresAt.getTime() <= app.now()) {
    throw refused('expired', 'This management token has expired.')
  }
  await noteUse(app, token)
  return {
    kind: 'token',
    tokenId: token.id,
    label: token.name,
    projectId: token.projectId,
    role: token.role,
    maker: token.makerId === null ? null : { userId: token.makerId, administrator: token.administrator ?? false },
    requestId: input.requestId,
  }
}

async function noteUse(
  app: { store: Database; now: Clock },
  token: { id: string; lastUsedAt: Date | null },
): Promise<void> {
  if (token.lastUsedAt !== null && app.now() - token.lastUsedAt.getTime() < lastUseGrainMs) return
  await app.store.db
    .updateTable('managementTokens')
    .set({ lastUsedAt: new Date(app.now()) })
    .where('id', '=', token.id)
    .execute()
}

function refused(reason: FailureReason<'authentication_failed'>, message: string): Failure {
  return new Failure('authentication_failed', { reason, message })
}
