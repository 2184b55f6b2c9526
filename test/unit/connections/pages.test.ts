import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Pagination, pagination } from '../../../api/connections.ts'
import { backoffMs, isRetryable, nextTryMs, retryAfterMs } from '../../../server/connections/outbound/retry.ts'
import { createPager, firstPage, isCutShort, nextLink, type Page } from '../../../server/connections/pages.ts'

const url = 'https://api.example/items?size=2'
const rule = (value: object): Pagination => pagination.parse(value)
const page = (more: Partial<Page> = {}): Page => ({
  url,
  headers: {},
  body: null,
  rowCount: 2,
  digest: String(Math.PI),
  ...more,
})

describe('next page', () => {
  test('by the Link header', () => {
    expect(nextLink('<https://a/?page=1>; rel="prev", </items?page=3>; rel="next"; title="a, b"')).toBe('/items?page=3')
    expect(nextLink('<https://a/2>; title="x"; rel=next')).toBe('https://a/2')
    expect(nextLink('<https://a/2>; rel="last next"')).toBe('https://a/2')
    expect(nextLink('<https://a/2>; rel="prev"')).toBeNull()
    expect(nextLink(undefined)).toBeNull()
    const pager = createPager(rule({ type: 'link_header' }), url)
    expect(pager.next(page({ headers: { link: '<?page=2>; rel="next"' } }))).toEqual({
      url: 'https://api.example/items?page=2',
    })
    expect(pager.next(page({ digest: 'b' }))).toEqual({ end: 'last' })
  })

  test('by a link or cursor in the body', () => {
    const links = createPager(rule({ type: 'next_link', path: 'links.next' }), url)
    expect(links.next(page({ body: { links: { next: '/items?page=2' } } }))).toEqual({
      url: 'https://api.example/items?page=2',
    })
    expect(links.next(page({ body: { links: { next: null } }, digest: 'b' }))).toEqual({ end: 'last' })
    const cursors = createPager(rule({ type: 'cursor', path: 'meta.next', parameter: 'after' }), url)
    expect(cursors.next(page({ body: { meta: { next: '1e5' } } }))).toEqual({ url: `${url}&after=1e5` })
    expect(cursors.next(page({ url: `${url}&after=1e5`, body: { meta: { next: 7 } }, digest: 'b' }))).toEqual({
      url: `${url}&after=7`,
    })
    expect(cursors.next(page({ body: { meta: {} }, digest: 'c' }))).toEqual({ end: 'last' })
  })

  test('by offset and page number', () => {
    const offset = rule({ type: 'offset', limit: 2 })
    const first = firstPage(offset, url)
    expect(first).toBe(`${url}&offset=0&limit=2`)
    const pager = createPager(offset, first)
    expect(pager.next(page({ url: first }))).toEqual({ url: `${url}&limit=2&offset=2` })
    expect(pager.next(page({ url: first, rowCount: 1, digest: 'b' }))).toEqual({ end: 'last' })
    // The API gives two where 100 are asked for: two are a full page.
    const capped = createPager(rule({ type: 'offset' }), first)
    expect(capped.next(page({ url: first }))).toMatchObject({ url: expect.stringContaining('offset=2') as string })
    expect(capped.next(page({ url: first, digest: 'b' }))).toMatchObject({
      url: expect.stringContaining('offset=4') as string,
    })
    expect(capped.next(page({ url: first, rowCount: 0 }))).toEqual({ end: 'last' })
    const numbers = rule({ type: 'page', first: 0 })
    const start = firstPage(numbers, url)
    const walk = createPager(numbers, start)
    expect(walk.next(page({ url: start }))).toEqual({ url: `${url}&page=1` })
    expect(walk.next(page({ url: start, rowCount: 0 }))).toEqual({ end: 'last' })
  })

  test('never goes in circles or beyond the cap', () => {
    const links = createPager(rule({ type: 'next_link', path: 'next' }), url)
    expect(links.next(page({ body: { next: url } }))).toEqual({ end: 'circle' })
    const numbers = createPager(rule({ type: 'page' }), url)
    numbers.next(page())
    expect(numbers.next(page())).toEqual({ end: 'again' })
    const capped = createPager(rule({ type: 'page', max_pages: 1 }), url)
    expect(capped.next(page())).toEqual({ end: 'cap' })
  })

  test('a refusal of a page behind the last one ends what we count, and nothing else', () => {
    const numbers = createPager(rule({ type: 'page' }), url)
    expect(numbers.refused(404)).toBeNull()
    numbers.next(page())
    expect([404, 410, 416].map(numbers.refused)).toEqual(['last', 'last', 'last'])
    expect([400, 422].map(numbers.refused)).toEqual(['refused', 'refused'])
    expect([401, 403, 429, 500].map(numbers.refused)).toEqual([null, null, null, null])
    numbers.next(page({ rowCount: 1, digest: 'b' }))
    expect(numbers.refused(400)).toBe('last')
    const links = createPager(rule({ type: 'link_header' }), url)
    links.next(page({ headers: { link: '<?page=2>; rel="next"' } }))
    expect(links.refused(404)).toBeNull()
    const ends = ['last', 'again', 'circle', 'cap', 'refused'] as const
    expect(ends.filter(isCutShort)).toEqual(['circle', 'cap', 'refused'])
  })

  test('pages that hold the same are all read where links lead to them', () => {
    const cursors = createPager(rule({ type: 'cursor', path: 'next', parameter: 'after' }), url)
    expect(cursors.next(page({ body: { next: 1 } }))).toEqual({ url: `${url}&after=1` })
    expect(cursors.next(page({ body: { next: 2 } }))).toEqual({ url: `${url}&after=2` })
  })

  test('a path that leads to an object is a mistake, not the end', () => {
    const cursors = createPager(rule({ type: 'cursor', path: 'meta', parameter: 'after' }), url)
    expect(() => cursors.next(page({ body: { meta: { next: 1 } } }))).toThrow('pagination.path')
    expect(cursors.next(page({ body: { meta: false }, digest: 'b' }))).toEqual({ end: 'last' })
  })

  test('a next link to something that is no web address ends the walk', () => {
    const links = createPager(rule({ type: 'next_link', path: 'next' }), url)
    expect(links.next(page({ body: { next: 'file:///etc/passwd' } }))).toEqual({ end: 'last' })
  })
})

describe('tries', () => {
  test('only reads that met a busy or broken server are repeated', () => {
    expect([429, 500, 502, 503, 504].every((status) => isRetryable('GET', { status }))).toBe(true)
    expect([200, 301, 400, 401, 404, 501].some((status) => isRetryable('GET', { status }))).toBe(false)
    expect(isRetryable('POST', { status: 503 })).toBe(false)
    expect(isRetryable('HEAD', { error: 'connect_error' })).toBe(true)
    expect(
      ['blocked', 'url_not_allowed', 'tls_error', 'too_large', 'too_many_redirects'].some((error) =>
        isRetryable('GET', { error }),
      ),
    ).toBe(false)
  })

  test('a wait grows, is capped, and never exceeds its bound', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.double({ min: 0, max: 0.999, noNaN: true }), (attempt, chance) => {
        const wait = backoffMs(attempt, chance, { baseMs: 100, maxMs: 5000 })
        expect(wait).toBeGreaterThanOrEqual(0)
        expect(wait).toBeLessThanOrEqual(Math.min(5000, 100 * 2 ** attempt))
      }),
    )
    expect([0, 1, 2, 9].map((attempt) => backoffMs(attempt, 0.5, { baseMs: 100, maxMs: 5000 }))).toEqual([
      50, 100, 200, 2500,
    ])
  })

  test('Retry-After in seconds or as a date', () => {
    const now = Date.parse('2026-01-01T00:00:00Z')
    expect(retryAfterMs('3', now)).toBe(3000)
    expect(retryAfterMs('Thu, 01 Jan 2026 00:00:10 GMT', now)).toBe(10_000)
    expect(retryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0)
    expect(retryAfterMs('soon', now)).toBeNull()
    expect(retryAfterMs(undefined, now)).toBeNull()
    expect(nextTryMs(2000, 50, 10_000)).toBe(2000)
    expect(nextTryMs(null, 50, 10_000)).toBe(50)
    expect(nextTryMs(20_000, 50, 10_000)).toBeNull()
  })
})
