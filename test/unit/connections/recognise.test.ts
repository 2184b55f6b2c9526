import { describe, expect, test } from 'vitest'
import { pagination } from '../../../api/connections.ts'
import { recognise, type TakenParameter } from '../../../server/connections/request/recognise.ts'
import { outlineOf } from '../../../server/rows/index.ts'

const rows = [{ id: 1 }, { id: 2 }]
type Known = { headers?: Record<string, string>; graphql?: string; parameters?: TakenParameter[] }
const looked = (body: unknown, { headers = {}, graphql, parameters = [] }: Known = {}) =>
  recognise(outlineOf(body), { headers, parameters, graphql: graphql ?? null, isSample: false })

describe('what an answer looks like', () => {
  test.each<[string, unknown, string | null]>([
    ['a list', rows, ''],
    ['data', { data: rows }, 'data'],
    ['Elasticsearch', { took: 1, hits: { total: 9, hits: rows } }, 'hits.hits'],
    ['GraphQL', { data: { orders: { nodes: rows, pageInfo: {} } } }, 'data.orders.nodes'],
    ['HAL', { _embedded: { orders: rows }, _links: { self: { href: '/x' } } }, '_embedded.orders'],
    ['JSON:API without any', { data: [], included: [{ type: 'a', id: '1' }], links: {} }, 'data'],
    ['JSON:API', { data: rows, included: [{ id: 1 }, { id: 2 }, { id: 3 }] }, 'data'],
    ['OData 2', { d: { results: rows, __next: 'https://x/Orders?$skiptoken=2' } }, 'd.results'],
    ['Relay', { data: { orders: { edges: [{ cursor: 'a', node: { id: 1 } }] } } }, 'data.orders.edges.*.node'],
    ['Spring', { content: rows, totalPages: 4, number: 0 }, 'content'],
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
    [
      'OData with a relative link',
      { value: rows, '@odata.nextLink': 'Orders?$skiptoken=20' },
      { type: 'next_link', path: '["@odata.nextLink"]' },
    ],
    ['OData 2', { d: { results: rows, __next: 'https://x/o?$skiptoken=2' } }, { type: 'next_link', path: 'd.__next' }],
    [
      'OData that counts and has no link',
      { '@odata.count': 40, value: rows },
      { type: 'offset', parameter: '$skip', limit_parameter: '$top', limit: 2 },
    ],
    ['JSON:API', { data: rows, links: { next: '/x?page=2' } }, { type: 'next_link', path: 'links.next' }],
    [
      'JSON:API with objects',
      { data: rows, links: { next: { href: '/x' } } },
      { type: 'next_link', path: 'links.next.href' },
    ],
    [
      'the last page by links',
      { data: rows, links: { self: '/x', next: null } },
      { type: 'next_link', path: 'links.next' },
    ],
    [
      'the last page of DRF',
      { count: 2, next: null, previous: null, results: rows },
      { type: 'next_link', path: 'next' },
    ],
    ['something that is null', { next: null, results: rows }, null],
    ['Spring', { content: rows, totalPages: 4, number: 0, totalElements: 8 }, { type: 'page', first: 0 }],
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
    expect(looked(rows, { headers: { link: '</x?page=2>; rel="next"' } }).pagination).toEqual({ type: 'link_header' })
    const body = { data: { orders: { nodes: rows, pageInfo: { endCursor: 'c', hasNextPage: true } } } }
    const graphql = 'query ($page: String) { orders(first: 50, after: $page) { nodes { id } } }'
    expect(looked(body, { graphql }).pagination).toEqual({
      type: 'cursor',
      path: 'data.orders.pageInfo.endCursor',
      parameter: 'variables.page',
      in: 'body',
      has_more_path: 'data.orders.pageInfo.hasNextPage',
    })
  })

  test('Relay in a query that gives after no variable has no way on', () => {
    const body = { data: { orders: { nodes: rows, pageInfo: { endCursor: 'c', hasNextPage: true } } } }
    expect(looked(body, { graphql: '{ orders(first: 2) { nodes { id } } }' }).pagination).toBeNull()
  })

  test('the parameters that the request has itself', () => {
    const parameters = [
      { name: 'p', first: 1, limit: 1 },
      { name: 'per_page', limit: 2 },
    ]
    expect(looked({ items: rows, page: 1, total_pages: 4 }, { parameters }).pagination).toEqual({
      type: 'page',
      first: 1,
      parameter: 'p',
    })
    // A list that says nothing itself, as long as it may be, goes on; a shorter one does not.
    expect(looked(rows, { parameters }).pagination).toEqual({ type: 'page', first: 1, parameter: 'p' })
    expect(looked(rows.slice(1), { parameters }).pagination).toBeNull()
    const skip = [{ name: '$skip' }, { name: '$top', limit: 2 }]
    expect(looked({ value: rows }, { parameters: skip }).pagination).toEqual({
      type: 'offset',
      parameter: '$skip',
      limit_parameter: '$top',
      limit: 2,
    })
  })
})
