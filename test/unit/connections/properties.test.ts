import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { httpConfiguration } from '../../../api/connections.ts'
import { buildRequest, withQuery, type OutboundRequest } from '../../../server/connections/request/build-request.ts'
import { importCurl } from '../../../server/connections/import/curl.ts'
import { redirected, retargeted } from '../../../server/connections/outbound/redirect.ts'
import { createPager, firstPage, nextLink } from '../../../server/connections/request/pages.ts'
import { Failure } from '../../../server/failure.ts'

const word = fc.stringMatching(/^[A-Za-z0-9]{1,10}$/)
const headerName = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,12}$/)
/** Failures are answers; anything else that is thrown is a defect. */
function unlessRefused<Value>(run: () => Value): Value | null {
  try {
    return run()
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}

describe('any request', () => {
  const anything = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('a\r\nb: c', '\0', ' ', '***'))
  const configuration = fc.record(
    {
      url: fc.oneof(
        fc.constantFrom('https://api.example/x?a=1#f', 'http://api.example:8080', 'ftp://x', 'https://u:p@h/'),
        fc.webUrl({ withQueryParameters: true, withFragments: true }),
        anything.filter((text) => text.trim() !== ''),
      ),
      method: fc.constantFrom('GET', 'POST'),
      headers: fc.dictionary(fc.oneof(headerName, anything), anything),
      parameters: fc.dictionary(anything, fc.record({ value: fc.oneof(anything, fc.array(anything)) })),
      authType: fc.constantFrom('API Key', 'Bearer Token'),
      auth: fc.record({ key: fc.oneof(headerName, anything), value: anything, in: fc.constantFrom('header', 'query') }),
    },
    { requiredKeys: ['url', 'method'] },
  )

  test('goes to the configured origin, without user information, and with headers of one line', () => {
    fc.assert(
      fc.property(configuration, (given) => {
        const parsed = httpConfiguration.safeParse(given)
        if (!parsed.success) return
        const request = unlessRefused(() => buildRequest(parsed.data))
        if (request === null) return
        const url = new URL(request.url)
        expect([url.origin, url.username, url.hash]).toEqual([new URL(parsed.data.url).origin, '', ''])
        for (const [name, value] of Object.entries(request.headers)) expect(name + value).not.toMatch(/[\r\n\0]/)
      }),
      { numRuns: 500 },
    )
  })

  test('keeps the other parameters of an address when some are set', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(word, word)), fc.array(fc.tuple(word, fc.string())), (before, set) => {
        const url = new URL('https://api.example/x')
        for (const [name, value] of before) url.searchParams.append(name, value)
        const names = new Set(set.map(([name]) => name))
        const kept = before.filter(([name]) => !names.has(name))
        expect([...new URL(withQuery(url, set)).searchParams]).toEqual(
          set.length === 0 ? before : [...kept, ...set.map(([name, value]) => [name, value.toWellFormed()])],
        )
      }),
    )
  })
})

describe('any redirect', () => {
  const harmless = new Set(['accept', 'user-agent', 'content-type'])
  const request: fc.Arbitrary<OutboundRequest> = fc
    .tuple(
      fc.dictionary(
        headerName.map((name) => name.toLowerCase()),
        word,
      ),
      fc.boolean(),
      fc.boolean(),
      word,
    )
    .map(([headers, hasSecretBody, hasBody, secret]) => ({
      url: 'https://api.example/a',
      method: 'POST',
      headers: { ...headers, accept: 'a', 'user-agent': 'b', 'content-type': 'c', 'x-auth': secret },
      ...(hasBody && { body: Buffer.from(secret) }),
      hasSecretBody,
      secretHeaders: ['x-auth', 'user-agent'],
      secretQuery: [['appid', secret]],
    }))
  const foreign = fc.constantFrom(
    'http://api.example/a',
    'https://api.example:8443/',
    '//evil.example/',
    'https://api.example@evil.example/',
    'https:\\\\evil.example/',
  )

  test('to another origin carries no header of the caller but harmless ones, and no secret body', () => {
    fc.assert(
      fc.property(request, foreign, fc.constantFrom(301, 302, 303, 307, 308), (each, location, status) => {
        const next = redirected(each, status, location)
        if ('refused' in next) {
          expect([next.refused, each.hasSecretBody, each.body === undefined]).toEqual(['body', true, false])
          return
        }
        const names = Object.keys(next.request.headers)
        expect(names.filter((name) => !harmless.has(name))).toEqual([])
        expect(names).not.toContain('user-agent')
        expect(next.request.secretQuery).toEqual([])
        if (each.hasSecretBody === true) expect(next.request.body).toBeUndefined()
        // On the way home they stay behind.
        const home = retargeted(next.request, new URL('https://api.example/a'))
        expect(Object.keys(home?.headers ?? {}).filter((name) => !harmless.has(name))).toEqual([])
      }),
    )
  })

  test('within the origin carries everything', () => {
    fc.assert(
      fc.property(request, fc.webPath(), (each, path) => {
        const next = redirected(each, 307, `/x${path}`)
        expect('request' in next && next.request).toMatchObject({
          headers: each.headers,
          secretQuery: each.secretQuery,
        })
      }),
    )
  })
})

describe('any list of pages', () => {
  test('a Link header of any kind is read or is none', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (header) => void nextLink(header)))
    fc.assert(
      fc.property(fc.webUrl(), (target) => {
        const link = target.replaceAll(/[<>]/g, '')
        expect(nextLink(`<https://x.example/>; rel="prev", <${link}>; rel="next"`)).toBe(link)
      }),
    )
  })

  test('ends, and asks no address twice', () => {
    const links = fc.array(fc.oneof(fc.webPath(), fc.constantFrom('/a', '', 'javascript:1')), { maxLength: 30 })
    fc.assert(
      fc.property(links, fc.integer({ min: 1, max: 20 }), (nexts, max_pages) => {
        const rule = { type: 'next_link', path: 'next', max_pages } as const
        const asked = [firstPage(rule, 'https://api.example/first')]
        const pager = createPager(rule, asked[0] ?? { url: '' })
        for (const [index, next] of [...nexts, null].entries()) {
          const call = asked.at(-1) ?? { url: '' }
          const digest = String(index)
          const found = pager.next({ call, headers: {}, values: { next }, rowValues: {}, rowCount: 1, digest })
          if ('end' in found) break
          asked.push(found.call)
        }
        expect(new Set(asked.map(({ url }) => url)).size).toBe(asked.length)
        expect(asked.length).toBeLessThanOrEqual(max_pages)
      }),
    )
  })
})

describe('any curl command', () => {
  test('calls the host it names, and what it gives as user and password is in auth alone', () => {
    const part = fc.stringMatching(/^[A-Za-z0-9@!$*()+,;=.~-]{1,10}$/)
    fc.assert(
      fc.property(part, part, part, fc.boolean(), (user, password, mail, hasUser) => {
        const name = user.replaceAll(/[@:]/g, '') || 'u'
        const login = hasUser ? `${name}:${password}@` : ''
        const { configuration } = importCurl(`curl 'https://${login}api.example?email=${mail}'`)
        expect(configuration.url).toBe(`https://api.example?email=${mail}`)
        if (hasUser) expect(configuration.auth).toEqual({ username: name, password })
      }),
    )
    // What the old reading made of an address in the query.
    expect(importCurl("curl 'https://api.example?email=ada@evil.example'").configuration.url).toContain(
      '//api.example?',
    )
  })

  test('is read or refused in words', () => {
    const words = fc.constantFrom(
      "'a b'",
      '-H',
      'X-Auth: 1',
      '--json',
      '{}',
      '[[',
      '-d',
      '@f',
      '-u',
      'a:b',
      '\\',
      '"',
      '$x',
      'http://%E0%A4%A@h/',
      '-G',
      '%',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(words, fc.string())), (parts) => {
        const read = unlessRefused(() => importCurl(`curl ${parts.join(' ')}`))
        const isGood = read === null || httpConfiguration.safeParse(read.configuration).success
        expect(isGood).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})
