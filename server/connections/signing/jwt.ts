import { randomUUID, sign, type KeyObject } from 'node:crypto'
import type { z } from 'zod'
import type { authShapes } from '../../../api/authentication.ts'
import { invalidField } from '../../failure.ts'
import { privateKeyIn } from './private-key.ts'

type JwtAuth = z.output<(typeof authShapes)['Signed JWT']>

const hashes = { RS256: 'sha256', RS384: 'sha384', RS512: 'sha512', ES256: 'sha256', ES384: 'sha384', EdDSA: null }
const keyTypes = { RS: 'rsa', ES: 'ec', Ed: 'ed25519' }

/** A JSON web token by a private key (RFC 7519), good for as long as its author says. */
export function signedJwt(auth: JwtAuth, nowMs: number): string {
  const key = privateKeyOf(auth)
  const at = Math.floor(nowMs / 1000)
  const head = { alg: auth.algorithm, typ: 'JWT', ...(auth.key_id !== undefined && { kid: auth.key_id }) }
  const claims = {
    ...(auth.issuer !== undefined && { iss: auth.issuer }),
    ...(auth.subject !== undefined && { sub: auth.subject }),
    ...(auth.audience !== undefined && { aud: auth.audience }),
    ...(auth.scope !== undefined && { scope: auth.scope }),
    // A clock that is a little ahead must not make a token of tomorrow.
    iat: at - 10,
    exp: at + auth.lifetime_seconds,
    jti: randomUUID(),
    ...auth.claims,
  }
  const text = [head, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = sign(hashes[auth.algorithm], Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

export function privateKeyOf({ private_key: pem, algorithm }: Pick<JwtAuth, 'private_key' | 'algorithm'>): KeyObject {
  const key = privateKeyIn(pem)
  const type = keyTypes[algorithm.slice(0, 2) as keyof typeof keyTypes]
  if (key.asymmetricKeyType !== type) {
    throw invalidField(
      'auth.private_key',
      `is a key of the type ${key.asymmetricKeyType}, and ${algorithm} needs ${type}`,
    )
  }
  return key
}
