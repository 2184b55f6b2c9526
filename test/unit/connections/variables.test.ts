import { describe, expect, test } from 'vitest'
import type { HttpConfiguration } from '../../../api/connections.ts'
import { fillVariables } from '../../../server/connections/variables.ts'

const at = new Date('2026-03-31T10:20:30.456Z')
const filled = (more: Partial<HttpConfiguration>) =>
  fillVariables({ url: 'https://api.example/', method: 'POST', ...more }, at)

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
    expect(new URL(fillVariables(configuration, new Date(0), last).url).searchParams.get('since')).toBe(written)
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
