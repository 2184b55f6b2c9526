import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { Failure } from '../../failure.ts'
import type { Attempts } from './attempts.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const shape = /^slc_(live|test|mgmt|link|share)_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/

export type CredentialKind = 'live' | 'test' | 'mgmt' | 'link' | 'share'

/** `slc_<kind>_<32 base62>_<checksum>`: scanners find it, and a typo is refused without a look-up. */
export function newCredential(kind: CredentialKind): { secret: string; hash: Buffer; start: string; last4: string } {
  let random = ''
  // randomInt draws without modulo bias.
  while (random.length < 32) random += base62[randomInt(62)]
  const body = `slc_${kind}_${random}`
  const secret = `${body}_${checksum(body)}`
  return { secret, hash: hashCredential(secret), start: secret.slice(0, 13), last4: secret.slice(-4) }
}

/** The kind of a well-formed credential with a right checksum, else undefined. */
export function credentialKind(secret: string): CredentialKind | undefined {
  const kind = shape.exec(secret)?.[1] as CredentialKind | undefined
  return kind !== undefined && checksum(secret.slice(0, -7)) === secret.slice(-6) ? kind : undefined
}

/** Credentials have 190 bits of randomness, so a plain fast hash is enough at rest. */
export function hashCredential(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

function checksum(body: string): string {
  let rest = crc32(body)
  let digits = ''
  while (digits.length < 6) {
    digits = (base62[rest % 62] ?? '0') + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/**
 * Answer to a failed credential: it counts for the address it came from, and too many are told to wait. A good
 * credential passes however many failed before it.
 */
export function countedFailure(
  { authenticationAttempts }: { authenticationAttempts: Attempts },
  address: string,
  error: unknown,
): unknown {
  if (!(error instanceof Failure) || error.code !== 'authentication_failed') return error
  // A call without a credential guesses none.
  if (error.reason === 'missing') return error
  const waitSeconds = authenticationAttempts.waitSeconds(address)
  authenticationAttempts.recordFailure(address)
  if (waitSeconds === 0) return error
  return new Failure('rate_limit_exceeded', {
    message: `Too many failed credentials from this address. Wait ${waitSeconds} s.`,
    retryAfterSeconds: waitSeconds,
    cause: error,
  })
}
