import { describe, expect, test } from 'vitest'
import type { HttpConfiguration } from '../../../api/connections.ts'
import { graphqlSpans } from '../../../server/connections/secrets/texts.ts'
import {
  fillVariables,
  namesIn,
  rowColumnsIn,
  type NamedValues,
} from '../../../server/connections/request/variables.ts'
import { spentMs } from '../../harness/processor-time.ts'

const at = new Date('2026-03-31T10:20:30.456Z')
const post = { url: 'https://api.example/', method: 'POST' } as const
const filled = (more: Partial<HttpConfiguration>) => fillVariables({ ...post, ...more }, { at })

describe('variables of a request', () => {
  test('are filled in wherever a value can stand', () => {
    const found = filled({
      url: 'https://api.example/{{date}}/items?until={{ now }}',
      headers: { 'x-since': '{{date:-7d}}', 'x-key': { value: '{{now:unix}}', secret: true } },
      parameters: { from: { value: ['{{date:-1w}}', 5], required: true } },
      parameterGroups: [{ name: 'g', parameters: { to: { value: '{{date:+1d}}', required: false } } }],
      body: { type: 'graphql', content: { query: '{ items { a } }', variables: { since: '{{date:-1h}}' } } },
    })
    expect(found).toEqual({
      method: 'POST',
      url: 'https://api.example/2026-03-31/items?until=2026-03-31T10%3A20%3A30Z',
      headers: { 'x-since': '2026-03-24', 'x-key': { value: '1774952430', secret: true } },
      parameters: { from: { value: ['2026-03-24', 5], required: true } },
      parameterGroups: [{ name: 'g', parameters: { to: { value: '2026-04-01', required: false } } }],
      body: { type: 'graphql', content: { query: '{ items { a } }', variables: { since: '2026-03-31' } } },
    })
  })

  test.each([
    ['-1m', '2026-02-28'],
    ['-13m', '2025-02-28'],
    ['+1m', '2026-04-30'],
    ['-2y', '2024-03-31'],
    ['-25h', '2026-03-30'],
  ])('{{date:%s}} is %s', (text, day) => {
    expect(filled({ headers: { x: `{{date:${text}}}` } }).headers).toEqual({ x: day })
  })

  test.each([
    [{ type: 'BIGINT', value: '9007199254740993' }, '{{last_value}}', '9007199254740993'],
    [{ type: 'VARCHAR', value: 'b7' }, '{{ last_value }}', 'b7'],
    [{ type: 'DATE', value: '2026-03-31' }, '{{last_value}}', '2026-03-31'],
    [{ type: 'TIMESTAMP', value: '2026-03-31 10:20:30' }, '{{last_value}}', '2026-03-31T10:20:30Z'],
    [{ type: 'TIMESTAMP', value: '2026-03-31 10:20:30.1205' }, '{{last_value}}', '2026-03-31T10:20:30.1205Z'],
    [{ type: 'TIMESTAMPTZ', value: '2026-03-31 10:20:30+02' }, '{{last_value:local}}', '2026-03-31T08:20:30'],
    [{ type: 'TIMESTAMP', value: '1970-01-01 00:01:00' }, '{{last_value:unix}}', '60'],
    [{ type: 'TIMESTAMP', value: '1970-01-01 00:01:00.5' }, '{{last_value:unix_ms}}', '60500'],
    [{ type: 'TIMESTAMP', value: '2026-03-31 10:20:30' }, '{{last_value:date}}', '2026-03-31'],
  ])('the last value %o as %s is %s', (last, text, written) => {
    const configuration = { url: `https://api.example/?since=${text}`, method: 'GET' as const }
    expect(
      new URL(fillVariables(configuration, { at: new Date(0), lastValue: last }).url).searchParams.get('since'),
    ).toBe(written)
  })

  test('without a last value, what holds it is left out, or has to be given a first one', () => {
    const value = '{{last_value}}'
    const parts = { headers: { since: value, x: 'y' }, parameters: { since: { value, required: false } } }
    expect(filled(parts)).toMatchObject({ headers: { x: 'y' }, parameters: { since: { value: undefined } } })
    expect(filled(parts).headers).not.toHaveProperty('since')
    expect(() => filled({ url: 'https://api.example/{{last_value}}' })).toThrow('give load.cursor.initial_value')
    expect(() => filled({ body: { type: 'json', content: { value } } })).toThrow('give load.cursor.initial_value')
  })

  test.each(['{{yesterday}}', '{{date:7d}}', '{{now:ms}}'])('%s is refused by name', (text) => {
    expect(() => filled({ parameters: { p: { value: text, required: false } } })).toThrow(
      `parameters.p.value holds ${text}, which is no variable`,
    )
  })
})

describe('variables and secrets of the project', () => {
  const values: NamedValues = new Map([
    ['region', { value: 'north & "south"', origins: null }],
    ['base', { value: 'https://api.example/v2', origins: null }],
    ['host', { value: 'api.example', origins: null }],
    ['key', { value: 's3cr"t&', origins: ['https://api.example'] }],
    ['client', { value: 'c1', origins: ['https://api.example', 'https://login.example'] }],
  ])
  const fill = (more: Partial<HttpConfiguration>) =>
    fillVariables({ url: 'https://api.example/', method: 'POST', ...more }, { at, values })

  test('are written as values wherever they stand, and what holds a secret is marked as one', () => {
    expect(
      fill({
        url: 'https://api.example/{{var:region}}?k={{ secret:key }}',
        headers: { 'accept-language': '{{secret:key}}', 'x-region': '{{var:region}}' },
        parameters: { k: { value: '{{secret:key}}', required: true }, r: { value: '{{var:region}}', required: false } },
        body: { filter: '{{var:region}}', pin: '{{secret:key}}' },
      }),
    ).toEqual({
      method: 'POST',
      url: 'https://api.example/north%20%26%20%22south%22?k=s3cr%22t%26',
      headers: { 'accept-language': { value: 's3cr"t&', secret: true }, 'x-region': 'north & "south"' },
      parameters: {
        k: { value: 's3cr"t&', required: true, secret: true },
        r: { value: 'north & "south"', required: false },
      },
      body: { type: 'json', content: { filter: 'north & "south"', pin: 's3cr"t&' }, secret: true },
    })
  })

  test.each([
    [{ type: 'json', content: '{"r": "{{var:region}}"}' }, { r: 'north & "south"' }, JSON.parse],
    [{ type: 'graphql', content: '{ a(r: "{{var:region}}") }' }, '{ a(r: "north & \\"south\\"") }', String],
    [{ type: 'form', content: 'r={{var:region}}&x=1' }, 'r=north%20%26%20%22south%22&x=1', String],
  ])('cannot end the text they stand in: %j', (body, expected, read) => {
    expect(read(String(fill({ body }).body?.['content']))).toEqual(expected)
  })

  test('a variable can be the address, up to its path', () => {
    const auth = { token_url: 'https://login.example/t', client_id: 'c', client_secret: '{{secret:client}}' }
    expect(fill({ url: '{{var:base}}/orders?k={{secret:key}}' }).url).toBe(
      'https://api.example/v2/orders?k=s3cr%22t%26',
    )
    expect(fill({ url: 'https://{{var:host}}/x', headers: { 'x-key': '{{secret:key}}' } }).url).toBe(
      'https://api.example/x',
    )
    expect(fill({ authType: 'OAuth2 Client Credentials', auth }).auth).toEqual({ ...auth, client_secret: 'c1' })
  })

  test.each<[Partial<HttpConfiguration>, string]>([
    [{ headers: { a: '{{secret:nobody}}' } }, 'the project has no secret of this name'],
    [{ headers: { a: '{{var:key}}' } }, 'write {{secret:key}}'],
    [{ headers: { a: '{{secret:region}}' } }, 'write {{var:region}}'],
    [{ url: 'https://elsewhere.example/', headers: { a: '{{secret:key}}' } }, 'may not be sent to https://elsewhere'],
    [{ url: 'http://api.example/', body: { a: '{{secret:key}}' } }, 'may not be sent to http://api.example'],
    [{ url: 'https://elsewhere.example/?k={{secret:key}}' }, 'may not be sent to https://elsewhere.example'],
    [{ url: 'https://{{secret:key}}.example/' }, 'holds a secret before its path'],
    [{ url: '{{secret:key}}' }, 'holds a secret before its path'],
    [{ url: 'https://{{var:host}}:81/?k={{secret:key}}' }, 'may not be sent to https://api.example:81'],
    [
      {
        authType: 'OAuth2 Client Credentials',
        auth: { token_url: 'https://login.example/t', client_id: 'c', client_secret: '{{secret:key}}' },
      },
      'may not be sent to https://login.example',
    ],
    // A secret that stands in the configuration belongs to an address that a variable could change.
    [{ url: '{{var:base}}/x', headers: { authorization: 'Bearer inline' } }, 'headers.authorization is a secret'],
    [{ url: '{{var:base}}://api.example', authType: 'Bearer Token', auth: { token: 't' } }, 'auth.token is a secret'],
    [
      {
        authType: 'OAuth2 Client Credentials',
        auth: { token_url: 'https://{{var:host}}/t', client_id: 'c', client_secret: 'inline' },
      },
      'auth.client_id is a secret',
    ],
  ])('%j is refused: %s', (more, message) => {
    expect(() => fill(more)).toThrow(message)
  })
})

describe('texts without an end are read in time linear to their length', () => {
  const blanks = ' '.repeat(150_000)

  test.each(['{{date:', '{{row.', '{{row.a', '{{a', '{{'])('variables behind %s', (start) => {
    const startedMs = spentMs()
    const content = start + blanks
    expect(filled({ body: { type: 'raw', content } }).body).toEqual({ type: 'raw', content })
    const configuration = { ...post, body: { type: 'raw', content } }
    expect([namesIn(configuration), rowColumnsIn(configuration)]).toEqual([[], []])
    // Alone it takes 10 ms.
    expect(spentMs() - startedMs).toBeLessThan(1_000)
  })

  test.each([
    ['a long name', 'a'.repeat(150_000)],
    ['escaped quotes', `"${'\\"'.repeat(75_000)}`],
    ['a name and blanks', `a${blanks}`],
    ['blocks', '"""\\"""'.repeat(20_000)],
  ])('GraphQL of %s', (_, text) => {
    const startedMs = spentMs()
    expect(graphqlSpans(text)).toEqual([])
    expect(spentMs() - startedMs).toBeLessThan(1_000)
  })
})

test('a variable ends in the text that it begins in', () => {
  const configuration = { ...post, url: 'https://api.example/{{row.id}}', body: { type: 'raw', content: '{{row.x' } }
  expect(rowColumnsIn(configuration)).toEqual(['id'])
})

describe('a request is not longer than it was, by what its variables stand for', () => {
  const values: NamedValues = new Map([['long', { value: 'v'.repeat(8_192), origins: null }]])
  const row = new Map([['note', 'n'.repeat(600_000)]])
  const named = (count: number): HttpConfiguration => ({
    ...post,
    body: { type: 'raw', content: '{{var:long}}'.repeat(count) },
  })

  test('a million characters are filled in, and no more of them', () => {
    const found = fillVariables(named(128), { at, values })
    expect(String(found.body?.['content'])).toHaveLength(1_048_576)
    const refused = /body\.content holds variables of more than 1048576 characters together/
    const beforeMs = spentMs()
    expect(() => fillVariables(named(80_000), { at, values })).toThrow(refused)
    expect(spentMs() - beforeMs).toBeLessThan(100)
  })

  test('values of rows count together, wherever they stand', () => {
    const header = { 'x-note': '{{row.note}}' }
    expect(() => fillVariables({ ...post, headers: header }, { at, row })).not.toThrow()
    const body = { content: ['{{row.note}}'] }
    expect(() => fillVariables({ ...post, headers: header, body }, { at, row })).toThrow(/body\.content holds/)
  })
})

test('an answer fills in a part of an address, and no way up in it', () => {
  const url = 'https://api.example/exports/{{answer:id}}/rows?after={{answer:id}}'
  const answered = (id: unknown) => {
    const answer = { values: { id }, headers: {} }
    return fillVariables({ ...post, url }, { at, answers: { start: answer, answer } }).url
  }
  expect(answered('a/../b?c')).toBe('https://api.example/exports/a%2F..%2Fb%3Fc/rows?after=a%2F..%2Fb%3Fc')
  expect(answered('')).toBe('https://api.example/exports//rows?after=')
  for (const id of ['.', '..']) expect(() => answered(id)).toThrow(/which is "\.+" in the answer; no address has/)
})
