import { createHash, createHmac } from 'node:crypto'
import type { z } from 'zod'
import type { authShapes } from '../../../api/authentication.ts'
import { noBytes, withHeaders, type Signable, type Signer } from './signer.ts'

type AwsAuth = z.output<(typeof authShapes)['AWS Signature']>

const algorithm = 'AWS4-HMAC-SHA256'

/** AWS Signature, version 4. */
export function awsSigner(auth: AwsAuth): Signer {
  return { sign: (request, nowMs) => signed(request, auth, new Date(nowMs)) }
}

function signed<Request extends Signable>(request: Request, auth: AwsAuth, at: Date): Request {
  const time = at.toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const day = time.slice(0, 8)
  const url = new URL(request.url)
  const bodyHash = sha256(request.body ?? noBytes)
  const own: Record<string, string> = {
    'x-amz-date': time,
    ...(auth.session_token !== undefined && { 'x-amz-security-token': auth.session_token }),
    ...(auth.service === 's3' && { 'x-amz-content-sha256': bodyHash }),
  }
  // Proxies may change the others.
  const given = Object.entries({ ...request.headers, ...own, host: url.host }).filter(
    ([name]) => name === 'host' || name === 'content-type' || name.startsWith('x-amz-'),
  )
  const headers = given
    .map(([name, value]): [string, string] => [name, value.trim().replaceAll(/ +/g, ' ')])
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
  const names = headers.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    pathOf(url, auth.service),
    queryOf(url),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    bodyHash,
  ].join('\n')
  const scope = `${day}/${auth.region}/${auth.service}/aws4_request`
  const text = [algorithm, time, scope, sha256(canonical)].join('\n')
  const key = [day, auth.region, auth.service, 'aws4_request'].reduce<Buffer | string>(
    (secret, part) => hmac(secret, part),
    `AWS4${auth.secret_access_key}`,
  )
  const credential = `${auth.access_key_id}/${scope}`
  const signature = hmac(key, text).toString('hex')
  const authorization = `${algorithm} Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`
  return withHeaders(request, { ...own, authorization })
}

/** S3 means the path as it is; other services encode what is sent once more, and leave empty parts out. */
function pathOf({ pathname }: URL, service: string): string {
  const parts = pathname.split('/')
  if (service === 's3') return parts.map((part) => encoded(decoded(part))).join('/')
  const filled = parts.filter((part) => part !== '').map(encoded)
  return `/${filled.join('/')}${filled.length > 0 && pathname.endsWith('/') ? '/' : ''}`
}

function queryOf({ search }: URL): string {
  return search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=')
      const [name, value] = at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
      return [encoded(decoded(name.replaceAll('+', ' '))), encoded(decoded(value.replaceAll('+', ' ')))] as const
    })
    .toSorted(([left, first], [right, second]) => (left === right ? (first < second ? -1 : 1) : left < right ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** RFC 3986: everything but letters, digits and `-._~`. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex')
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
