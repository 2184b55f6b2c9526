import { createHash, randomBytes } from 'node:crypto'
import { noBytes, withHeaders, type Signer } from './signer.ts'

type Credentials = { username: string; password: string }
type Challenge = { realm: string; nonce: string; opaque: string | undefined; algorithm: string; qop: string | null }

const hashes = new Map([
  ['md5', 'md5'],
  ['sha-256', 'sha256'],
  ['sha-512-256', 'sha512-256'],
])

/**
 * Digest authentication (RFC 7616). The server names a nonce with its first refusal; the calls after it count on from
 * there, until the server names another.
 */
export function digestSigner({ username, password }: Credentials): Signer {
  let challenge: Challenge | null = null
  let count = 0
  return {
    challenged(header) {
      const found = readChallenge(header)
      // The same nonce again says that the password is wrong.
      if (found === null || (challenge?.nonce === found.nonce && count > 0)) return false
      challenge = found
      count = 0
      return true
    },
    sign(request) {
      if (challenge === null) return request
      count += 1
      const { realm, nonce, opaque, algorithm, qop } = challenge
      const isSession = /-sess$/i.test(algorithm)
      const hash = (text: string | Buffer): string =>
        createHash(hashOf(algorithm) ?? 'md5')
          .update(text)
          .digest('hex')
      const { pathname, search } = new URL(request.url)
      const uri = pathname + search
      const nc = count.toString(16).padStart(8, '0')
      const cnonce = randomBytes(16).toString('hex')
      const plain = hash(`${username}:${realm}:${password}`)
      const secret = isSession ? hash(`${plain}:${nonce}:${cnonce}`) : plain
      const what = `${request.method}:${uri}${qop === 'auth-int' ? `:${hash(request.body ?? noBytes)}` : ''}`
      const middle = qop === null ? nonce : `${nonce}:${nc}:${cnonce}:${qop}`
      const fields = [
        `username=${quoted(username)}`,
        `realm=${quoted(realm)}`,
        `nonce=${quoted(nonce)}`,
        `uri=${quoted(uri)}`,
        `response="${hash(`${secret}:${middle}:${hash(what)}`)}"`,
        `algorithm=${algorithm}`,
        ...(opaque === undefined ? [] : [`opaque=${quoted(opaque)}`]),
        ...(qop === null ? [] : [`qop=${qop}`, `nc=${nc}`, `cnonce="${cnonce}"`]),
      ]
      return withHeaders(request, { authorization: `Digest ${fields.join(', ')}` })
    },
  }
}

/** The first challenge that can be answered. Several stand in one header, with commas between them and in them. */
function readChallenge(header: string): Challenge | null {
  for (const [, text = ''] of header.matchAll(
    /(?:^|[\s,])Digest\s+((?:[\w-]+\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s",]+)\s*,?\s*)+)/gi,
  )) {
    const fields = new Map(
      [...text.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/g)].map(([, name = '', long, short]) => {
        return [name.toLowerCase(), long?.replaceAll(/\\(.)/g, '$1') ?? short ?? '']
      }),
    )
    const algorithm = fields.get('algorithm') ?? 'MD5'
    const offered = new Set((fields.get('qop') ?? '').split(',').map((each) => each.trim().toLowerCase()))
    const qop = ['auth', 'auth-int'].find((each) => offered.has(each)) ?? null
    const nonce = fields.get('nonce')
    const isKnown = hashOf(algorithm) !== undefined
    if (nonce === undefined || !isKnown || (qop === null && fields.has('qop'))) continue
    return { realm: fields.get('realm') ?? '', nonce, opaque: fields.get('opaque'), algorithm, qop }
  }
  return null
}

function hashOf(algorithm: string): string | undefined {
  return hashes.get(algorithm.toLowerCase().replace(/-sess$/, ''))
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
