import { timingSafeEqual } from 'node:crypto'
import type { FailureReason } from '../../../api/failures.ts'
import type { App } from '../../app.ts'
import { Failure } from '../../failure.ts'
import { credentialKind, hashCredential } from '../credential.ts'
import type { KeyRecord } from './record.ts'
import { keyCredential, type KeyCredential } from './snapshot.ts'

/** Who calls a query endpoint. Not a `Caller`: no management verb can be handed one. */
export type KeyCaller = { kind: 'key'; key: KeyRecord; requestId: string }

/** Taking a secret apart costs more than finding its key, so what this answers can be kept. */
export function readKeyCredential(app: Pick<App, 'config'>, secret: string): KeyCredential {
  const kind = credentialKind(secret)
  if (kind === 'mgmt' || kind === 'link' || (kind === undefined && isOperator(app, secret))) {
    throw refused('wrong_kind', 'Query endpoints take an API key (slc_live_… or slc_test_…), not a management token.')
  }
  if (kind === undefined) throw refused('malformed', 'The API key is malformed: copy it whole.')
  return keyCredential(hashCredential(secret))
}

/** The caller behind an API key, without a look into the database. */
export function authenticateKey(
  app: Pick<App, 'keys' | 'keyUses' | 'now'>,
  input: { credential: KeyCredential; requestId: string },
): KeyCaller {
  const found = app.keys.find(input.credential)
  if (found === undefined) throw refused('unknown', 'This API key does not exist.')
  const { key, secret } = found
  if (key.state === 'revoked') throw refused('revoked', 'This API key was revoked.')
  if (key.state === 'disabled') throw refused('disabled', 'This API key is disabled. Its owner can enable it again.')
  if (key.expiresAtMs <= app.now()) throw refused('expired', 'This API key has expired.')
  if (secret === 'previous' && key.previousUntilMs <= app.now()) {
    throw refused('expired', 'This API key was rotated and its old secret has expired. Use the new one.')
  }
  app.keyUses.note(key.id)
  return { kind: 'key', key, requestId: input.requestId }
}

function isOperator({ config: { managementToken } }: Pick<App, 'config'>, secret: string): boolean {
  return managementToken !== undefined && timingSafeEqual(hashCredential(secret), hashCredential(managementToken))
}

function refused(reason: FailureReason<'authentication_failed'>, message: string): Failure {
  return new Failure('authentication_failed', { reason, message })
}
