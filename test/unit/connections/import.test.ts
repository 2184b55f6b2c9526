import { describe, expect, test } from 'vitest'
import { readImport } from '../../../server/connections/import/read-import.ts'

const read = (source: unknown, operation: string | null = null, address: string | null = null) =>
  readImport({ source: { text: typeof source === 'string' ? source : JSON.stringify(source) }, operation, address })
const taken = (source: unknown, operation: string, address: string | null = null) =>
  read(source, operation, address).connection

const shop = `
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: "https://{region}.shop.example/v1/", variables: {region: {default: eu}}}]
security: [{token: []}]
paths:
  /orders:
    parameters: [{$ref: "#/components/parameters/Cursor"}]
    get:
      operationId: listOrders
      summary: List orders
      parameters:
        - {name: status, in: query, schema: {type: string, default: open}}
        - {name: tenant, in: query, required: true, schema: {type: string}}
        - {name: X-Version, in: header, required: true, schema: {type: string}, example: "2026-01-01"}
      responses:
        "200":
          content:
            application/json:
              schema:
                allOf: [{$ref: "#/components/schemas/Page"}, {type: object, properties: {data: {type: array, items: {$ref: "#/components/schemas/Order"}}}}]
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {since: {type: string}}}, example: {since: 2026-01-01}}}}
      responses: {}
  /orders/{id}/lines:
    get: {responses: {"200": {content: {application/json: {schema: {type: array, items: {type: object}}}}, headers: {Link: {schema: {type: string}}}}}}
components:
  parameters: {Cursor: {name: after, in: query, schema: {type: string}}}
  schemas:
    Page: {type: object, properties: {meta: {type: object, properties: {next_cursor: {type: [string, "null"]}}}}}
    Order: {type: object, properties: {id: {type: integer}, parent: {$ref: "#/components/schemas/Order"}}}
  securitySchemes: {token: {type: http, scheme: bearer}}
`

describe('an OpenAPI document', () => {
  test('lists its operations', () => {
    expect(read(shop)).toMatchObject({
      kind: 'openapi',
      operations: [
        { id: 'GET /orders', method: 'GET', url: '/orders', summary: 'List orders' },
        { id: 'POST /orders' },
        { id: 'GET /orders/{id}/lines' },
      ],
      connection: null,
    })
  })

  test('fills a connection: server, parameters, credentials to give, rows and pages', () => {
    expect(taken(shop, 'GET /orders')).toEqual({
      name: 'List orders',
      configuration: {
        url: 'https://eu.shop.example/v1/orders',
        method: 'GET',
        parameters: {
          after: { required: false },
          status: { value: 'open', required: false },
          tenant: { required: true },
        },
        headers: { 'X-Version': '2026-01-01' },
        authType: 'Bearer Token',
        auth: { token: '' },
        responsePathExtractor: 'data',
      },
      pagination: { type: 'cursor', path: 'meta.next_cursor', parameter: 'after' },
      notes: [
        'Give a value to tenant: the API requires it and the document has none.',
        'Fill in the credentials: the API uses Bearer Token.',
      ],
    })
    expect(taken(shop, 'listOrders')?.name).toBe('List orders')
    expect(taken(shop, 'POST /orders')?.configuration['body']).toEqual({
      type: 'json',
      content: { since: '2026-01-01' },
    })
    expect(taken(shop, 'GET /orders/{id}/lines')).toMatchObject({
      configuration: { url: 'https://eu.shop.example/v1/orders/{id}/lines' },
      pagination: { type: 'link_header' },
      notes: expect.arrayContaining([expect.stringContaining('{{row.id}}')]) as string[],
    })
  })

  test('of the version before, with pages by offset and a relative server', () => {
    const old = {
      swagger: '2.0',
      basePath: '/api',
      securityDefinitions: { key: { type: 'apiKey', name: 'X-Key', in: 'header' } },
      security: [{ key: [] }],
      paths: {
        '/items': {
          get: {
            parameters: [
              { name: 'offset', in: 'query', type: 'integer' },
              { name: 'limit', in: 'query', type: 'integer', maximum: 500 },
            ],
            responses: {
              200: {
                schema: { type: 'object', properties: { results: { type: 'array', items: { type: 'object' } } } },
              },
            },
          },
        },
      },
    }
    expect(taken(old, 'GET /items', 'https://docs.example/swagger.json')).toMatchObject({
      configuration: {
        url: 'https://docs.example/api/items',
        authType: 'API Key',
        auth: { key: 'X-Key', value: '', in: 'header' },
        responsePathExtractor: 'results',
      },
      pagination: { type: 'offset', parameter: 'offset', limit_parameter: 'limit', limit: 500 },
    })
    expect(taken(old, 'GET /items')?.notes.join()).toContain('complete the URL')
  })

  test.each([
    ['a circle of references', { openapi: '3.0.0', paths: { '/a': { $ref: '#/paths/~1a' } } }],
    [
      'a schema within itself',
      {
        openapi: '3.0.0',
        paths: {
          '/a': { get: { responses: { 200: { content: { 'application/json': { schema: { $ref: '#/c' } } } } } } },
        },
        c: { properties: { c: { $ref: '#/c' }, d: { $ref: '#/c' } } },
      },
    ],
    ['a reference to elsewhere', { openapi: '3.0.0', paths: { '/a': { $ref: 'https://169.254.169.254/x' } } }],
  ])('%s ends', (_, document) => {
    const { operations } = read(document)
    for (const { id } of operations) expect(taken(document, id)).not.toBeNull()
  })

  test.each([
    ['{"a":'.repeat(70) + '1' + '}'.repeat(70), 'deeper than 64'],
    [
      'a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d]',
      'neither JSON nor YAML',
    ],
    ['{', 'neither JSON nor YAML'],
    ['just words', 'neither an OpenAPI document nor a Postman collection'],
    ['{"log":{"entries":[]}}', 'neither an OpenAPI document nor a Postman collection'],
    ['{"openapi":"4.0"}', '2 and 3 can be read'],
  ])('%.20s is refused: %s', (source, message) => {
    expect(() => read(source)).toThrow(message)
  })
})

describe('a Postman collection', () => {
  const collection = {
    info: { schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
    variable: [{ key: 'base', value: 'https://api.example' }],
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{accessToken}}' }] },
    item: [
      {
        name: 'Orders',
        item: [
          {
            name: 'List',
            request: {
              method: 'GET',
              header: [
                { key: 'X-A', value: '1' },
                { key: 'X-Off', value: '2', disabled: true },
              ],
              url: {
                raw: '{{base}}/orders/:shop?page=1',
                variable: [{ key: 'shop', value: 'a b' }],
                query: [{ key: 'page', value: '1' }],
              },
            },
            response: [{ body: '{"items":[{"id":1}]}' }],
          },
        ],
      },
      {
        name: 'Search',
        request: {
          method: 'POST',
          auth: { type: 'noauth' },
          url: '{{base}}/search',
          body: { mode: 'raw', raw: '{"q":"{{term}}"}' },
        },
      },
    ],
  }

  test('is listed by folder, and fills its own variables', () => {
    expect(read(collection)).toMatchObject({
      kind: 'postman',
      operations: [
        { id: '1', summary: 'Orders / List', url: 'https://api.example/orders/:shop?page=1' },
        { id: '2', summary: 'Search' },
      ],
    })
    expect(taken(collection, '1')).toEqual({
      name: 'Orders / List',
      configuration: {
        url: 'https://api.example/orders/a%20b',
        method: 'GET',
        parameters: { page: { value: '1', required: false } },
        headers: { 'X-A': '1' },
        authType: 'Bearer Token',
        auth: { token: '{{var:accesstoken}}' },
        responsePathExtractor: 'items',
      },
      pagination: { type: 'page', parameter: 'page', first: 1 },
      notes: [expect.stringContaining('accesstoken')],
    })
    expect(taken(collection, '2')?.configuration).toEqual({
      url: 'https://api.example/search',
      method: 'POST',
      body: { type: 'json', content: '{"q":"{{var:term}}"}' },
    })
  })
})
