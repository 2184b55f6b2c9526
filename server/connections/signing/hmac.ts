import { createHash, createHmac, randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { hmacParts, type authShapes } from '../../../api/authentication.ts'
import { noBytes, withHeaders, type Signer } from './signer.ts'

type HmacAuth = z.output<(typeof authShapes)['HMAC']>

/** A keyed hash over parts of the request, as its author writes them: `{timestamp}{method}{path}{body}`. */
export function hmacSigner(auth: HmacAuth): Signer {
  const key = Buffer.from(auth.secret, auth.secret_encoding === 'text' ? 'utf8' : auth.secret_encoding)
  return {
    sign(request, nowMs) {
      const url = new URL(request.url)
      const body = request.body ?? noBytes
      const timestamp = {
        unix: () => String(Math.floor(nowMs / 1000)),
        unix_ms: () => String(nowMs),
        iso: () => new Date(nowMs).toISOString(),
      }[auth.timestamp]()
      const nonce = randomUUID()
      const parts: Record<(typeof hmacParts)[number], () => string | Buffer> = {
        method: () => request.method,
        host: () => url.host,
        path: () => url.pathname,
        query: () => url.search.slice(1),
        path_and_query: () => url.pathname + url.search,
        url: () => request.url,
        body: () => body,
        body_sha256: () => createHash('sha256').update(body).digest('hex'),
        content_type: () => request.headers['content-type'] ?? '',
        timestamp: () => timestamp,
        nonce: () => nonce,
      }
      const hash = createHmac(auth.algorithm, key)
      for (const piece of auth.template.split(/(\{[a-z_0-9]+\})/)) {
        const part = hmacParts.find((name) => piece === `{${name}}`)
        hash.update(part === undefined ? piece.replaceAll(String.raw`\n`, '\n') : parts[part]())
      }
      const signature = hash.digest(auth.encoding)
      const filled = (text: string): string =>
        text.replaceAll('{signature}', signature).replaceAll('{timestamp}', timestamp).replaceAll('{nonce}', nonce)
      return withHeaders(request, {
        [auth.header.toLowerCase()]: filled(auth.format),
        ...(auth.timestamp_header !== undefined && { [auth.timestamp_header.toLowerCase()]: timestamp }),
        ...(auth.nonce_header !== undefined && { [auth.nonce_header.toLowerCase()]: nonce }),
      })
    },
  }
}
