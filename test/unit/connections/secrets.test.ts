import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { httpConfiguration, type HttpConfiguration } from '../../../api/connections.ts'
import { isSecretName } from '../../../api/secret-names.ts'
import { hidden, maskConfiguration, restoreConfiguration } from '../../../server/connections/secrets/mask.ts'
import { Failure } from '../../../server/failure.ts'

const url = 'https://api.example/v1/items'
const get = (more: Partial<HttpConfiguration> = {}): HttpConfiguration => ({ url, method: 'GET', ...more })
const post = (body: Record<string, unknown>): HttpConfiguration => ({ url, method: 'POST', body })
const oauth = (tokenUrl = 'https://login.example/token') =>
  get({
    authType: 'OAuth2 Client Credentials',
    auth: { token_url: tokenUrl, client_id: 'planted-id', client_secret: 'planted-S3', scope: 'read' },
  })

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  }
  return 'was not refused'
}

describe('names', () => {
  test.each(
    (
      'Authorization Proxy-Authorization Cookie Set-Cookie X-API-Key apikey APIKey access_token client_secret PASSWORD ' +
      'X-Auth sig signature X-Amz-Signature pwd user_pwd credential session PHPSESSID bearer jwt code auth_code ' +
      'Ocp-Apim-Subscription-Key accessKeyId csrf-token userPass hmac appid api%key'
    ).split(' '),
  )('%s stands for a secret', (name) => {
    expect(isSecretName(name)).toBe(true)
  })

  test.each(
    'accept page X-Request-Id user author design signal country_code zipcode encoding keyword compass pinned'.split(
      ' ',
    ),
  )('%s does not', (name) => {
    expect(isSecretName(name)).toBe(false)
  })
})

describe('what is shown', () => {
  test('has no secret left, and says which values are', () => {
    const parameters = { api_key: { value: 'S3', required: true }, page: { value: 1, required: false } }
    const configuration = get({
      url: `${url};jsessionid=S3?token=S3&page=1&access%5Ftoken=S3#key=S3`,
      headers: { Authorization: 'S3', 'X-Auth': 'S3', 'X-Plain': { value: 'S3', secret: true }, Accept: 'text/csv' },
      parameters: { ...parameters, shift: { value: ['S3', 'S3'], required: false, secret: true } },
      parameterGroups: [{ name: 'g', parameters }],
      authType: 'API Key',
      auth: { key: 'X-Key', value: 'S3', in: 'header' },
    })
    const shown = maskConfiguration(configuration)
    expect(JSON.stringify(shown)).not.toContain('S3')
    expect(shown).toMatchObject({
      url: `${url};jsessionid=***?token=***&page=1&access%5Ftoken=***#key=***`,
      headers: { Authorization: hidden, 'X-Plain': { value: hidden, secret: true }, Accept: 'text/csv' },
      parameters: { api_key: { value: hidden, required: true }, page: { value: 1 }, shift: { value: hidden } },
      auth: { key: 'X-Key', value: hidden, in: 'header' },
    })
    expect(configuration.headers).toMatchObject({ Authorization: 'S3' })
    expect(maskConfiguration(oauth('https://u:S3@login.example/token?api_key=S3')).auth).toEqual({
      token_url: 'https://***@login.example/token?api_key=***',
      client_id: hidden,
      client_secret: hidden,
      scope: 'read',
    })
  })

  test.each([
    [{ login: { password: 'S3', user: 'ada' } }, { login: { password: hidden, user: 'ada' } }],
    [{ list: [{ name: 'Authorization', value: 'S3' }] }, { list: [{ name: 'Authorization', value: hidden }] }],
    [
      { type: 'raw', content: '<pin>S3</pin>' },
      { type: 'raw', content: hidden },
    ],
    [{ type: 'form', content: 'a=1&client_secret=S3' }, { content: 'a=1&client_secret=***' }],
    [{ type: 'form', content: { a: 1, client_secret: 'S3' } }, { content: { a: 1, client_secret: hidden } }],
    [{ type: 'json', content: '{"n": 1.50, "token": ["S3"] }' }, { content: '{"n": 1.50, "token": "***" }' }],
    [
      { type: 'json', content: '{"token":"S3","a":{"token":"S3"},"a":1}' },
      { content: '{"token":"***","a":{"token":"***"},"a":1}' },
    ],
    [{ type: 'json', content: { a: { b: 'S3' }, c: 1 }, secret: ['a.b'] }, { content: { a: { b: hidden }, c: 1 } }],
    [{ type: 'json', content: { a: 'S3' }, secret: true }, { content: hidden }],
    [
      { type: 'graphql', content: '{ me(token: "S3", first: 3) { token: id # token: "1"\n } }' },
      { content: '{ me(token: "***", first: 3) { token: id # token: "1"\n } }' },
    ],
    [
      { type: 'graphql', content: { query: '{ me }', variables: { pwd: 'S3', n: 1 } } },
      { content: { query: '{ me }', variables: { pwd: hidden, n: 1 } } },
    ],
    [
      { type: 'multipart', content: { token: { filename: 'S3', content: 'S3' }, note: 'x' } },
      { content: { token: hidden, note: 'x' } },
    ],
    [{ type: 'json', content: `${'['.repeat(9000)}"S3"${']'.repeat(9000)}` }, { content: hidden }],
  ])('of the body %j', (body, shown) => {
    const masked = maskConfiguration(post(body))
    expect(JSON.stringify(masked)).not.toContain('S3')
    expect(masked.body).toMatchObject(shown)
    expect(restoreConfiguration(masked, post(body))).toEqual(post(body))
  })
})

describe('three stars given back', () => {
  const stored = oauth()
  const shown = maskConfiguration(stored)
  const withAuth = (auth: Record<string, unknown>): HttpConfiguration => ({
    ...shown,
    auth: { ...shown.auth, ...auth },
  })

  test('keep what is stored while both addresses of OAuth2 are the same', () => {
    expect(restoreConfiguration(shown, stored)).toEqual(stored)
    const moved = { ...withAuth({ token_url: 'https://login.example/v2/token' }), url: `${url}/more` }
    expect(restoreConfiguration(moved, stored).auth).toMatchObject({ client_secret: 'planted-S3' })
  })

  test.each([
    'https://attacker.example/token',
    'http://login.example/token',
    'https://login.example:8443/token',
    'https://login.example./token',
    'https://login.example@attacker.example/token',
  ])('are refused with the token address %s', (address) => {
    expect(refusal(() => restoreConfiguration(withAuth({ token_url: address }), stored))).toMatch(
      /^Give auth.client_id again: its address changed/,
    )
  })

  test('are refused for OAuth2 when only the API moved: the token would go there', () => {
    expect(refusal(() => restoreConfiguration({ ...shown, url: 'https://attacker.example/' }, stored))).toContain(
      'its address changed',
    )
  })

  test('are refused where they would come to be shown, or stand for nothing', () => {
    const marked = get({ headers: { 'X-Plain': { value: 'S3', secret: true } } })
    const unmarked = get({ headers: { 'X-Plain': hidden } })
    expect(refusal(() => restoreConfiguration(unmarked, marked))).toContain('Give headers.X-Plain again')
    const off = get({ headers: { 'X-Plain': { value: hidden, secret: false } } })
    expect(refusal(() => restoreConfiguration(off, marked))).toContain('Give headers.X-Plain again')
    const whole = post({ type: 'json', content: { a: 'S3' }, secret: true })
    const open = post({ type: 'json', content: hidden })
    expect(refusal(() => restoreConfiguration(open, whole))).toContain('Give body.content again')
    expect(refusal(() => restoreConfiguration(get({ url: `${url}?api_key=***` }), undefined))).toContain('Give url')
    expect(refusal(() => restoreConfiguration(get({ headers: { Other: hidden } }), undefined))).toContain('Other')
    const bearer = get({ authType: 'Bearer Token', auth: { token: 'S3' } })
    const asKey = get({ authType: 'API Key', auth: { key: 'X', value: hidden } })
    expect(refusal(() => restoreConfiguration(asKey, bearer))).toContain('Give auth.value again')
  })

  test('may stand behind a scheme and be encoded; a guess at more of the secret is refused', () => {
    const known = get({ url: `${url}?api_key=S%203`, headers: { Authorization: 'Bearer open sesame' } })
    const given = get({ url: `${url}?page=2&api_key=%2A%2A%2A`, headers: { authorization: 'Bearer ***' } })
    expect(restoreConfiguration(given, known)).toEqual(
      get({ url: `${url}?page=2&api_key=S%203`, headers: { authorization: 'Bearer open sesame' } }),
    )
    for (const guess of ['Bearer open ***', 'open ***', 'Basic ***']) {
      const guessed = get({ headers: { Authorization: guess } })
      expect(refusal(() => restoreConfiguration(guessed, known))).toContain('Give headers.Authorization again')
    }
  })

  test('keep a field of a body whether it is given as text or as an object', () => {
    const known = post({ login: { pwd: 'S"3', user: 'ada' } })
    const given = post({ type: 'json', content: '{"login":{"user":"eve","pwd":"***"}}' })
    const text = post({ type: 'json', content: '{"login":{"user":"eve","pwd":"S\\"3"}}' })
    expect(restoreConfiguration(given, known)).toEqual(text)
    expect(restoreConfiguration(maskConfiguration(known), text)).toEqual(known)
  })

  test('are an ordinary part of a longer secret', () => {
    const configuration = get({ authType: 'Basic Auth', auth: { username: 'u', password: 'a***b' } })
    expect(restoreConfiguration(configuration, undefined)).toEqual(configuration)
  })
})

describe('any configuration', () => {
  const planted = fc.stringMatching(/^[A-Za-z0-9]{4,12}$/).map((text) => `S3cr3t${text}`)
  const plain = fc.stringMatching(/^[a-z0-9 ]{1,12}$/)
  const secretName = fc.constantFrom('token', 'X-Auth', 'api_key', 'sig', 'pwd', 'Cookie', 'client_secret', 'code')
  const plainName = fc.constantFrom('page', 'Accept', 'name', 'x/y', 'a~b', '', 'value', 'filter[0]')
  const fields = (secret: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> =>
    fc
      .tuple(fc.dictionary(secretName, secret), fc.dictionary(plainName, plain))
      .map(([secrets, others]) => ({ ...others, ...secrets }))
  const json = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      plain,
      fc.integer(),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc
      .tuple(fields(planted), fc.dictionary(plainName, tie('value'), { maxKeys: 3 }))
      .map(([left, right]) => ({ ...right, ...left })),
  })).object
  const pairs = fc
    .array(fc.oneof(fc.tuple(secretName, planted), fc.tuple(fc.constantFrom('page', 'q', ''), plain)), { maxLength: 4 })
    .map((list) => list.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&'))
  const address = (host: string) =>
    fc
      .tuple(pairs, fc.constantFrom('', '/a', '/a;jsessionid=S3cr3tpath/b'))
      .map(([query, path]) => `https://${host}${path}?${query}`)
  const body = fc.oneof(
    json,
    json.map((content) => ({ type: 'json', content })),
    json.map((content) => ({ type: 'json', content: JSON.stringify(content, null, 1) })),
    fields(planted).map((content) => ({ type: 'multipart', content })),
    pairs.map((content) => ({ type: 'form', content })),
    planted.map((content) => ({ type: 'raw', content })),
    planted.map((text) => ({ type: 'json', content: { deep: [text] }, secret: ['deep[0]'] })),
    planted.map((text) => ({ type: 'graphql', content: `{ a(token: "${text}", q: """x "y" \\""" z""") }` })),
  )
  const auth = fc.oneof(
    planted.map((token) => ({ authType: 'Bearer Token' as const, auth: { token } })),
    planted.map((value) => ({ authType: 'API Key' as const, auth: { key: 'X-Key', value, in: 'query' } })),
    fc.tuple(planted, address('login.example')).map(([secret, token_url]) => ({
      authType: 'OAuth2 Client Credentials' as const,
      auth: { token_url, client_id: secret, client_secret: secret },
    })),
  )
  const parameters = fields(fc.oneof(planted, fc.array(planted))).map((record) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, { value, required: false }])),
  )
  const configuration: fc.Arbitrary<HttpConfiguration> = fc
    .tuple(
      address('api.example'),
      fields(planted),
      parameters,
      auth,
      body,
      fc.array(parameters, { maxLength: 2 }),
      fc.dictionary(plainName, planted),
    )
    .map(([at, headers, params, chosen, content, groups, marked]) =>
      httpConfiguration.parse({
        url: at,
        method: 'POST',
        headers: {
          ...Object.fromEntries(Object.entries(marked).map(([name, value]) => [name, { value, secret: true }])),
          ...headers,
        },
        parameters: params,
        parameterGroups: groups.map((each, index) => ({ name: `g${index % 2}`, parameters: each })),
        ...chosen,
        body: content,
      }),
    )

  test('is the same after it was shown and given back, and shows no secret', () => {
    fc.assert(
      fc.property(configuration, (each) => {
        const shown = maskConfiguration(each)
        expect(JSON.stringify(shown)).not.toContain('S3cr3t')
        expect(maskConfiguration(shown)).toEqual(shown)
        expect(restoreConfiguration(shown, each)).toEqual(each)
      }),
      { numRuns: 500 },
    )
  })

  const elsewhere = fc.constantFrom(
    'https://attacker.example/',
    'http://api.example/',
    'https://api.example:444/',
    'https://api.example.attacker.example/',
  )

  test('is refused once its address is another, whatever else is the same', () => {
    fc.assert(
      fc.property(configuration, elsewhere, (each, moved) => {
        const shown = { ...maskConfiguration(each), url: moved }
        expect(refusal(() => restoreConfiguration(shown, each))).toMatch(/^Give .* again: /)
      }),
      { numRuns: 200 },
    )
  })

  test('never comes back in a form that would show a stored secret', () => {
    const edits = fc.constantFrom<(text: string) => string>(
      (text) => text.replaceAll('"secret":true', '"secret":false'),
      (text) => text.replaceAll(/,?"secret":\["deep\[0\]"\]/g, ''),
      (text) => text.replaceAll('"client_secret":', '"note":'),
      (text) => text.replaceAll('"type":"raw"', '"type":"json"'),
      (text) => text.replaceAll('"type":"json"', '"type":"form"'),
      (text) => text.replaceAll('"X-Auth":', '"X-Note":'),
    )
    fc.assert(
      fc.property(configuration, edits, (each, edit) => {
        const given = JSON.parse(edit(JSON.stringify(maskConfiguration(each)))) as HttpConfiguration
        let restored: HttpConfiguration
        try {
          restored = restoreConfiguration(given, each)
        } catch (error) {
          expect(error).toBeInstanceOf(Failure)
          return
        }
        expect(JSON.stringify(maskConfiguration(restored))).not.toContain('S3cr3t')
      }),
      { numRuns: 300 },
    )
  })
})
