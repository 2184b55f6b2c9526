import { createHash, timingSafeEqual } from 'node:crypto'
import { failures } from '../../../api/failures.ts'
import { Failure } from '../../failure.ts'

/** Words of RFC 6749 and RFC 8628 for what a client did wrong, or has to wait for. */
export type OAuthRefusal = {
  error:
    | 'invalid_request'
    | 'invalid_grant'
    | 'invalid_target'
    | 'unsupported_grant_type'
    | 'authorization_pending'
    | 'slow_down'
    | 'access_denied'
    | 'expired_token'
  description: string
  /** The person may not give this access any longer. */
  endsAccess?: boolean
}
/** Access to queries is renewed; access to build ends, and a person gives it again. */
type OAuthTokens = { accessToken: string; refreshToken?: string; expiresInSeconds: number; scope: 'queries' | 'manage' }
export type TokenOutcome = OAuthTokens | OAuthRefusal

/** A client may do no more than its person: the person's role is asked at each refresh. */
export async function orRefusal(work: () => Promise<OAuthTokens>): Promise<TokenOutcome> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'internal_error') throw error
    // Two refreshes at once, and a database without room, say nothing about the person.
    const { code, reason, message }: Failure = error
    const endsAccess = reason !== 'changed_meanwhile' && failures[code].status < 500
    return { ...refused(message), endsAccess }
  }
}

export function refused(description: string): OAuthRefusal {
  return { error: 'invalid_grant', description }
}

const verifierShape = /^[A-Za-z0-9._~-]{43,128}$/

export function provesChallenge(verifier: string, challenge: string): boolean {
  if (!verifierShape.test(verifier)) return false
  const proof = Buffer.from(createHash('sha256').update(verifier).digest('base64url'))
  const wanted = Buffer.from(challenge)
  return proof.length === wanted.length && timingSafeEqual(proof, wanted)
}
