import { createHash, createHmac, createPrivateKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { authShapes } from '../../../api/authentication.ts'
import type { HttpConfiguration } from '../../../api/connections.ts'
import { retargeted } from '../../../server/connections/outbound/redirect.ts'
import { buildRequest, type OutboundRequest } from '../../../server/connections/request/build-request.ts'
import { signedJwt } from '../../../server/connections/signing/jwt.ts'
import { rounds } from '../../harness/rounds.ts'

const built = (configuration: Partial<HttpConfiguration>): OutboundRequest =>
  buildRequest({ url: 'https://api.example/a', method: 'GET', ...configuration })
const signed = (configuration: Partial<HttpConfiguration>, at: number): OutboundRequest => {
  const request = built(configuration)
  return request.signer?.sign(request, at) ?? request
}

const hexOf = (letter: string): string => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`

describe('AWS Signature', () => {
  const auth = {
    access_key_id: 'AKIDEXAMPLE',
    secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
    service: 'service',
  }
  const at = Date.UTC(2015, 7, 30, 12, 36)

  test("is the one of AWS's own example", () => {
    const url = 'https://example.amazonaws.com/'
    expect(signed({ url, authType: 'AWS Signature', auth }, at).headers['authorization']).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    )
  })

  test("is the one of AWS's own library, whatever is asked for", async () => {
    const word = fc.string({ unit: fc.constantFrom(..."abZ09-._~ /+&=%é*!()'"), minLength: 1, maxLength: 8 })
    const asked = fc.record({
      path: fc.array(word, { maxLength: 3 }),
      query: fc.uniqueArray(fc.tuple(word, word), { selector: ([name]) => name, maxLength: 4 }),
      service: fc.constantFrom('s3', 'execute-api', 'dynamodb'),
      body: fc.option(fc.dictionary(word, word, { maxKeys: 2 }), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(asked, async ({ path, query, service, body }) => {
        const parts = path.map((part) => encodeURIComponent(part))
        const url = new URL(`https://api.example:8443/${parts.join('/')}`)
        // A dot is no step of a path for itself.
        fc.pre(decodeURIComponent(url.pathname) === `/${path.join('/')}`)
        const parameters = Object.fromEntries(query.map(([name, value]) => [name, { value, required: false }]))
        const content = { type: 'json', content: body }
        const own = signed(
          {
            url: url.href,
            method: body === undefined ? 'GET' : 'POST',
            parameters,
            ...(body !== undefined && { body: content }),
            authType: 'AWS Signature',
            auth: { ...auth, service },
          },
          at,
        )
        const sha256 = class {
          private readonly hash
          constructor(secret?: unknown) {
            this.hash =
              secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string | Uint8Array)
          }
          update(data: unknown) {
            this.hash.update(data as string | Uint8Array)
          }
          digest() {
            return Promise.resolve(new Uint8Array(this.hash.digest()))
          }
          reset() {}
        }
        const credentials = { accessKeyId: auth.access_key_id, secretAccessKey: auth.secret_access_key }
        const options = { credentials, region: auth.region, service, sha256, applyChecksum: service === 's3' }
        const signer = new SignatureV4({ ...options, uriEscapePath: service !== 's3' })
        const headers: Record<string, string> = { host: url.host }
        if (own.headers['content-type'] !== undefined) headers['content-type'] = own.headers['content-type']
        const theirs = await signer.sign(
          {
            method: own.method,
            protocol: 'https:',
            hostname: url.host,
            // For S3 its clients write these letters otherwise.
            path: service === 's3' ? url.pathname.replaceAll(/[!'()*]/g, hexOf) : url.pathname,
            query: Object.fromEntries(query),
            headers,
            body: own.body ?? '',
          },
          { signingDate: new Date(at) },
        )
        expect(own.headers['authorization']).toBe(theirs.headers['authorization'])
      }),
      { numRuns: rounds(60, 400) },
    )
  })
})

describe('HMAC over a template', () => {
  test('is over the parts that its author names', () => {
    const auth = {
      secret: Buffer.from('the key').toString('base64'),
      secret_encoding: 'base64',
      encoding: 'base64',
      template: '{timestamp}{method}{path_and_query}\\n{body}',
      header: 'X-Sign',
      format: 'v1 {signature}',
      timestamp: 'unix_ms',
      timestamp_header: 'X-Time',
    }
    const body = { type: 'json', content: { a: 1 } }
    const { headers, secretHeaders } = signed(
      { url: 'https://a.example/v1?x=1', method: 'POST', body, authType: 'HMAC', auth },
      5_000,
    )
    const expected = createHmac('sha256', 'the key').update('5000POST/v1?x=1\n{"a":1}').digest('base64')
    expect(headers).toMatchObject({ 'x-sign': `v1 ${expected}`, 'x-time': '5000' })
    expect(secretHeaders).toEqual(expect.arrayContaining(['x-sign', 'x-time']))
  })

  test('knows no other parts', () => {
    const auth = { secret: 's', template: '{secret}{method}', header: 'X-Sign' }
    expect(authShapes.HMAC.safeParse(auth).success).toBe(false)
  })
})

describe('a signed JSON web token', () => {
  test.each([
    ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['EdDSA', generateKeyPairSync('ed25519')],
  ] as const)('%s proves who asks, and ends', (algorithm, { privateKey, publicKey }) => {
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    // As a key file in JSON has it, pasted without its quotes.
    const auth = authShapes['Signed JWT'].parse({ private_key: pem.replaceAll('\n', '\\n'), algorithm, issuer: 'i' })
    const [head = '', claims = '', signature = ''] = signedJwt(auth, 1_000_000).split('.')
    const hash = algorithm === 'EdDSA' ? null : 'sha256'
    const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
    expect(verify(hash, Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))).toBe(true)
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ iss: 'i', iat: 990, exp: 1_600 })
  })

  test('is refused with a key that does not fit', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    expect(() => built({ authType: 'Signed JWT', auth: { private_key: pem } })).toThrow(/RS256 needs rsa/)
    expect(() => built({ authType: 'Signed JWT', auth: { private_key: 'nonsense' } })).toThrow(/no private key/)
  })
})

test('another origin gets no signature and no certificate', () => {
  const request = built({ authType: 'HMAC', auth: { secret: 's', template: '{path}', header: 'X-Sign' } })
  expect(retargeted(request, new URL('https://api.example/b'))?.signer).toBeDefined()
  expect(retargeted(request, new URL('https://other.example/b'))?.signer).toBeUndefined()
})

test('a template of HMAC goes over the body three times at most', () => {
  const auth = (times: number) => ({ secret: 's', template: '{body_sha256}'.repeat(times), header: 'X-Sign' })
  expect(authShapes.HMAC.safeParse(auth(3)).success).toBe(true)
  expect(authShapes.HMAC.safeParse(auth(4)).success).toBe(false)
})

describe('a private key that takes long to use is refused before it is used', () => {
  /** Of prime256v1, encrypted in three million rounds with the passphrase "secret". */
  const slow = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHtMFgGCSqGSIb3DQEFDTBLMCoGCSqGSIb3DQEFDDAdBAiofI9SP19mJwIDLcbA
MAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBBKUvlx5yKDs8pFZ6qx8i1QBIGQ
FcesFKpjRtwVEK4UQ9XiPPJxvtAW1DUoOPANvIr63kKpcGUIXw1KT7sQoSY54+SX
ymIrChCpEaoe+/oK4x2cjKT6C3txzopgQkkyBQMu4oQG5R006/tymYqd9GEIzKrQ
z5mJJcrotLTvOaNCAnBbVC51XGgTnQOM0af8KNUxCL+r1z48ybCK8Yt+NhvvFC89
-----END ENCRYPTED PRIVATE KEY-----
`
  const number = (bytes: number): string => {
    const value = randomBytes(bytes)
    value[0] = 0xff
    return value.toString('base64url')
  }
  const bits16384 = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'RSA',
      e: 'AQAB',
      n: number(2_048),
      d: number(2_048),
      p: number(1_024),
      q: number(1_024),
      dp: number(1_024),
      dq: number(1_024),
      qi: number(1_024),
    },
  })
  const certificate = { certificate: 'x', passphrase: 'secret' }
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const encrypted = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' } as const

  test.each([
    ['of three million rounds', slow],
    ['of three million rounds, by another name', slow.replaceAll('ENCRYPTED ', '')],
    ['with a header', slow.replace('KEY-----\n', 'KEY-----\na: b\n\n')],
    ['of three million rounds, behind one that is not', privateKey.export({ type: 'pkcs8', format: 'pem' }) + slow],
    ['of 16,384 bits', String(bits16384.export({ type: 'pkcs8', format: 'pem' }))],
  ])('%s', (_, key) => {
    const before = process.threadCpuUsage()
    const auth = { ...certificate, private_key: key }
    expect(() => built({ authType: 'Client Certificate', auth })).toThrow(/more than (100000 rounds|8192 bits)/)
    const jwt = { private_key: key, algorithm: 'RS256' }
    expect(() => built({ authType: 'Signed JWT', auth: jwt })).toThrow(/more than (100000 rounds|8192 bits)/)
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1_000).toBeLessThan(100)
  })

  test('and one that is encrypted as usual is not', () => {
    const auth = { ...certificate, private_key: String(privateKey.export(encrypted)) }
    // It is read; the certificate is none.
    expect(() => built({ authType: 'Client Certificate', auth })).toThrow(/auth\.certificate/)
  })
})
