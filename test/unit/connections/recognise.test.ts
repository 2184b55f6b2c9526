import { describe, expect, test } from 'vitest'
import { pagination } from '../../../api/connections.ts'
import { detect } from '../../../server/connections/detect.ts'

const rows = [{ id: 1 }, { id: 2 }]
const looked = (body: unknown, headers: Record<string, string> = {}, hasGraphql = false) =>
  detect(body, { headers, hasGraphql })

describe('what an answer looks like', () => {
  test.each<[string, unknown, string | null]>([
    ['a list', rows, ''],
    ['data', { data: rows }, 'data'],
    ['Elasticsearch', { took: 1, hits: { total: 9, hits: rows } }, 'hits.hits'],
    ['GraphQL', { data: { orders: { nodes: rows, pageInfo: {} } } }, 'data.orders.nodes'],
    ['HAL', { _embedded: { orders: rows }, _links: { self: { href: '/x' } } }, '_embedded.orders'],
    ['a list beside others', { errors: [{ a: 1 }], results: rows }, 'results'],
    ['a list of complaints', { errors: [{ message: 'no such field' }], data: null }, null],
    ['a key with a dot', { 'my.rows': rows }, '["my.rows"]'],
    ['one object', { id: 1, tags: ['a'] }, null],
  ])('rows of %s', (_, body, path) => {
    expect(looked(body).rows?.path ?? null).toBe(path)
  })

  test.each<[string, unknown, object | null]>([
    ['a link', { results: rows, next: 'https://x/?page=2' }, { type: 'next_link', path: 'next' }],
    ['HAL', { items: rows, _links: { next: { href: '/x?page=2' } } }, { type: 'next_link', path: '_links.next.href' }],
    ['OData', { value: rows, '@odata.nextLink': 'https://x' }, { type: 'next_link', path: '["@odata.nextLink"]' }],
    ['a cursor', { items: rows, next_cursor: 'c' }, { type: 'cursor', path: 'next_cursor', parameter: 'cursor' }],
    ['a token', { items: rows, nextPageToken: 'c' }, { type: 'cursor', path: 'nextPageToken', parameter: 'pageToken' }],
    [
      'the last row',
      { data: rows, has_more: true },
      { type: 'cursor', from: 'last_row', path: 'id', parameter: 'starting_after', has_more_path: 'has_more' },
    ],
    ['pages', { items: rows, page: 1, total_pages: 4 }, { type: 'page', first: 1 }],
    ['an offset', { items: rows, offset: 0, total: 40 }, { type: 'offset', limit: 2 }],
    ['the last page', { items: rows, page: 4, total_pages: 4 }, null],
    ['nothing', rows, null],
  ])('pagination by %s', (_, body, rule) => {
    const found = looked(body).pagination
    expect(found).toEqual(rule)
    // What is offered can be taken over as it is.
    if (found !== null) expect(pagination.safeParse(found).success).toBe(true)
  })

  test('a Link header, and cursors of GraphQL in the body', () => {
    expect(looked(rows, { link: '</x?page=2>; rel="next"' }).pagination).toEqual({ type: 'link_header' })
    const body = { data: { orders: { nodes: rows, pageInfo: { endCursor: 'c', hasNextPage: true } } } }
    expect(looked(body, {}, true).pagination).toEqual({
      type: 'cursor',
      path: 'data.orders.pageInfo.endCursor',
      parameter: 'variables.after',
      in: 'body',
      has_more_path: 'data.orders.pageInfo.hasNextPage',
    })
  })
})
