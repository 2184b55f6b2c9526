import { timingSafeEqual } from 'node:crypto'
import { Failure } from '../failure.ts'
import type { FailureReason } from '../../api/failures.ts'
import type { Attempts } from './attempts.ts'
import type { Caller } from './caller.ts'
import { credentialKind, hashCredential } from './credential.ts'
import { countedFailure } from './failed-credentials.ts'
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
  const kind = credentialKind(input.secret)
  if (kind === undefined) throw refused('malformed', 'The token is malformed: copy it whole.')
  if (kind !== 'mgmt') {
    throw refused('wrong_kind', 'Management calls need a management token (slc_mgmt_…), not an API key.')
  }
  const token = await app.store.db
    .selectFrom('management_tokens')
    .leftJoin('users', 'users.id', 'management_tokens.created_by')
    .select([
      'management_tokens.id',
      'management_tokens.name',
      'management_tokens.project_id',
      'management_tokens.role',
      'management_tokens.expires_at',
      'management_tokens.revoked_at',
      'management_tokens.last_used_at',
      'users.id as maker_id',
      'users.administrator',
    ])
    .where('management_tokens.secret_hash', '=', hash)
    .executeTakeFirst()
  if (token === undefined) throw refused('unknown', 'This management token does not exist.')
  if (token.revoked_at !== null) throw refused('revoked', 'This management token was revoked.')
  if (token.expires_at !== null && token.expires_at.getTime() <= app.now()) {
    throw refused('expired', 'This management token has expired.')
  }
  await noteUse(app, token)
  return {
    kind: 'token',
    tokenId: token.id,
    label: token.name,
    projectId: token.project_id,
    role: token.role,
    maker: token.maker_id === null ? null : { userId: token.maker_id, administrator: token.administrator ?? false },
    requestId: input.requestId,
  }
}

async function noteUse(
  app: { store: Database; now: Clock },
  token: { id: string; last_used_at: Date | null },
): Promise<void> {
  if (token.last_used_at !== null && app.now() - token.last_used_at.getTime() < lastUseGrainMs) return
  await app.store.db
    .updateTable('management_tokens')
    .set({ last_used_at: new Date(app.now()) })
    .where('id', '=', token.id)
    .execute()
}

function refused(reason: FailureReason<'authentication_failed'>, message: string): Failure {
  return new Failure('authentication_failed', { reason, message })
}
