import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Pagination, pagination } from '../../../api/connections.ts'
import {
  backoffMs,
  closedMs,
  isRetryable,
  nextTryMs,
  retryAfterMs,
  statusMeant,
} from '../../../server/connections/outbound/retry.ts'
import {
  checkPagination,
  createPager as pagerFrom,
  firstPage as firstCall,
  isCutShort,
  nextLink,
  pathsOf,
  type FetchedPage,
  type PageCall,
} from '../../../server/connections/request/pages.ts'
import { valuesAt } from '../../../server/rows/index.ts'

const url = 'https://api.example/items?size=2'
const rule = (value: object): Pagination => pagination.parse(value)
type Page = Omit<FetchedPage, 'values' | 'rowValues'> & { body: unknown; lastRow: unknown }
const page = ({ url: at = url, ...more }: Partial<Page> & { url?: string } = {}): Page => ({
  call: { url: at },
  headers: {},
  body: null,
  lastRow: null,
  rowCount: 2,
  digest: String(Math.PI),
  ...more,
})
const firstPage = (from: Pagination, at: string) => firstCall(from, at).url
const createPager = (from: Pagination, at: string | PageCall) => {
  const pager = pagerFrom(from, typeof at === 'string' ? { url: at } : at)
  const { paths, rowPaths } = pathsOf(from)
  const next = ({ body, lastRow, ...more }: Page) =>
    pager.next({ ...more, values: valuesAt(body, paths), rowValues: valuesAt(lastRow, rowPaths) })
  return { ...pager, next }
}

describe('next page', () => {
  test('by the Link header', () => {
    expect(nextLink('<https://a/?page=1>; rel="prev", </items?page=3>; rel="next"; title="a, b"')).toBe('/items?page=3')
    expect(nextLink('<https://a/2>; title="x"; rel=next')).toBe('https://a/2')
    expect(nextLink('<https://a/2>; rel="last next"')).toBe('https://a/2')
    expect(nextLink('<https://a/2>; rel="prev"')).toBeNull()
    expect(nextLink(undefined)).toBeNull()
    const pager = createPager(rule({ type: 'link_header' }), url)
    expect(pager.next(page({ headers: { link: '<?page=2>; rel="next"' } }))).toEqual({
      call: { url: 'https://api.example/items?page=2' },
    })
    expect(pager.next(page({ digest: 'b' }))).toEqual({ end: 'last' })
  })

  test('by a link or cursor in the body', () => {
    const links = createPager(rule({ type: 'next_link', path: 'links.next' }), url)
    expect(links.next(page({ body: { links: { next: '/items?page=2' } } }))).toEqual({
      call: { url: 'https://api.example/items?page=2' },
    })
    expect(links.next(page({ body: { links: { next: null } }, digest: 'b' }))).toEqual({ end: 'last' })
    const cursors = createPager(rule({ type: 'cursor', path: 'meta.next', parameter: 'after' }), url)
    expect(cursors.next(page({ body: { meta: { next: '1e5' } } }))).toEqual({ call: { url: `${url}&after=1e5` } })
    expect(cursors.next(page({ url: `${url}&after=1e5`, body: { meta: { next: 7 } }, digest: 'b' }))).toEqual({
      call: { url: `${url}&after=7` },
    })
    expect(cursors.next(page({ body: { meta: {} }, digest: 'c' }))).toEqual({ end: 'last' })
  })

  test('by offset and page number', () => {
    const offset = rule({ type: 'offset', limit: 2 })
    const first = firstPage(offset, url)
    expect(first).toBe(`${url}&offset=0&limit=2`)
    const pager = createPager(offset, first)
    expect(pager.next(page({ url: first }))).toEqual({ call: { url: `${url}&limit=2&offset=2` } })
    expect(pager.next(page({ url: first, rowCount: 1, digest: 'b' }))).toEqual({ end: 'last' })
    // The API gives two where 100 are asked for: two are a full page.
    const capped = createPager(rule({ type: 'offset' }), first)
    expect(capped.next(page({ url: first }))).toMatchObject({
      call: { url: expect.stringContaining('offset=2') as string },
    })
    expect(capped.next(page({ url: first, digest: 'b' }))).toMatchObject({
      call: { url: expect.stringContaining('offset=4') as string },
    })
    expect(capped.next(page({ url: first, rowCount: 0 }))).toEqual({ end: 'last' })
    const numbers = rule({ type: 'page', first: 0 })
    const start = firstPage(numbers, url)
    const walk = createPager(numbers, start)
    expect(walk.next(page({ url: start }))).toEqual({ call: { url: `${url}&page=1` } })
    expect(walk.next(page({ url: start, rowCount: 0 }))).toEqual({ end: 'last' })
  })

  test('never goes in circles or beyond the cap', () => {
    const links = createPager(rule({ type: 'next_link', path: 'next' }), url)
    expect(links.next(page({ body: { next: url } }))).toEqual({ end: 'circle' })
    const numbers = createPager(rule({ type: 'page' }), url)
    numbers.next(page({ digest: 'a' }))
    numbers.next(page({ digest: 'b' }))
    expect(numbers.next(page({ digest: 'b' }))).toEqual({ end: 'again' })
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
    const ends = ['last', 'clamped', 'again', 'circle', 'cap', 'refused'] as const
    expect(ends.filter(isCutShort)).toEqual(['again', 'circle', 'cap', 'refused'])
  })

  test('pages that hold the same are all read where links lead to them', () => {
    const cursors = createPager(rule({ type: 'cursor', path: 'next', parameter: 'after' }), url)
    expect(cursors.next(page({ body: { next: 1 } }))).toEqual({ call: { url: `${url}&after=1` } })
    expect(cursors.next(page({ body: { next: 2 } }))).toEqual({ call: { url: `${url}&after=2` } })
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

  test('a second page like the first is an error that says so; a short last page that comes again is the end', () => {
    const numbers = createPager(rule({ type: 'page' }), url)
    numbers.next(page())
    expect(() => numbers.next(page())).toThrow(/ignore the parameter page/)
    const clamped = createPager(rule({ type: 'page' }), url)
    clamped.next(page())
    clamped.next(page({ rowCount: 1, digest: 'b' }))
    expect(clamped.next(page({ rowCount: 1, digest: 'b' }))).toEqual({ end: 'clamped' })
    const cursors = createPager(rule({ type: 'cursor', path: 'next', parameter: 'after' }), url)
    cursors.next(page({ body: { next: 5 } }))
    expect(() => cursors.next(page({ body: { next: 5 } }))).toThrow(/ignore the parameter after/)
  })

  test('in the body: offset, page, and cursors of any kind', () => {
    const values = (found: ReturnType<ReturnType<typeof createPager>['next']>) =>
      'call' in found ? found.call.values?.map(({ path, value }) => [path.text, value]) : found.end
    const offset = rule({ type: 'offset', in: 'body', parameter: 'from', limit_parameter: 'size', limit: 2 })
    const start = firstCall(offset, url)
    expect(start).toMatchObject({ url, values: [{ value: 0 }, { value: 2 }] })
    const pager = createPager(offset, start)
    expect(values(pager.next(page({ call: start })))).toEqual([
      ['size', 2],
      ['from', 2],
    ])
    const cursor = rule({ type: 'cursor', in: 'body', path: 'page.end', parameter: 'variables.after' })
    expect(values(createPager(cursor, url).next(page({ body: { page: { end: 'c1' } } })))).toEqual([
      ['variables.after', 'c1'],
    ])
    const last = rule({ type: 'cursor', in: 'body', from: 'last_row', path: 'sort', parameter: 'search_after' })
    expect(values(createPager(last, url).next(page({ lastRow: { sort: [1, 'x'] } })))).toEqual([
      ['search_after', [1, 'x']],
    ])
    const starting = rule({ type: 'cursor', from: 'last_row', path: 'id', parameter: 'starting_after' })
    expect(createPager(starting, url).next(page({ lastRow: { id: 'ch_2' } }))).toEqual({
      call: { url: `${url}&starting_after=ch_2` },
    })
  })

  test('stops where the answer says that there is no more, or at a short page where the rule says so', () => {
    const more = (value: unknown) =>
      createPager(rule({ type: 'page', has_more_path: 'has_more' }), url).next(page({ body: { has_more: value } }))
    expect([more(false), more(null), more(0)]).toEqual([{ end: 'last' }, { end: 'last' }, { end: 'last' }])
    expect(more(true)).toHaveProperty('call')
    const nowhere = createPager(rule({ type: 'page', has_more_path: 'hasMore' }), url)
    expect(() => nowhere.next(page({ body: { has_more: true } }))).toThrow('pagination.has_more_path leads nowhere')
    const short = createPager(rule({ type: 'page', stop_when: 'short' }), url)
    short.next(page())
    expect(short.next(page({ rowCount: 1, digest: 'b' }))).toEqual({ end: 'last' })
  })

  test('a path that cannot be read is called by its own name', () => {
    for (const [field, value] of [
      ['path', { type: 'cursor', path: 'a..b', parameter: 'x' }],
      ['has_more_path', { type: 'page', has_more_path: 'a[' }],
      ['parameter', { type: 'page', in: 'body', parameter: '[x' }],
    ] as const) {
      expect(() => checkPagination(rule(value))).toThrow(`pagination.${field} is not a key path`)
    }
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

  test('an API that says what is left of its quota is closed until there is a new one', () => {
    const now = Date.parse('2026-01-01T00:00:00Z')
    const at = Math.floor(now / 1000)
    const closed = (headers: Record<string, string>, status = 200) => closedMs({ status, headers }, now)
    expect(closed({ 'ratelimit-remaining': '0', 'ratelimit-reset': '7' })).toBe(7_000)
    expect(closed({ 'ratelimit-remaining': '1', 'ratelimit-reset': '7' })).toBeNull()
    expect(closed({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(at + 9) })).toBe(9_000)
    expect(closed({ 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': String((at + 9) * 1000) })).toBe(9_000)
    expect(closed({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '2026-01-01T00:00:04Z' })).toBe(4_000)
    expect(closed({ ratelimit: 'limit=10, remaining=0, reset=5' })).toBe(5_000)
    expect(closed({ ratelimit: '"burst";r=0;t=5, "day";r=10;t=600' })).toBe(5_000)
    // No quota, no time, or a time that is over.
    expect(closed({ 'x-ratelimit-limit': '0', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '7' })).toBeNull()
    expect(closed({ 'x-ratelimit-remaining': '0' })).toBeNull()
    expect(closed({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(at - 9) })).toBe(0)
    // Retry-After counts where the API is busy.
    expect(closed({ 'retry-after': '3' }, 429)).toBe(3_000)
    expect(closed({ 'retry-after': '3' }, 301)).toBeNull()
    const spent = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(at + 60) }
    expect(statusMeant({ status: 403, headers: spent }, now)).toBe(429)
    expect(statusMeant({ status: 403, headers: {} }, now)).toBe(403)
  })
})
