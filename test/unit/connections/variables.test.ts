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

  test.each(['{{yesterday}}', '{{date:7d}}', '{{now:ms}}', '{{last_value}}'])('%s is refused by name', (text) => {
    expect(() => filled({ parameters: { p: { value: text, required: false } } })).toThrow(
      `parameters.p.value holds ${text}, which is no variable`,
    )
  })
})
