import { describe, expect, test } from 'vitest'
import type { Definition } from '../../../api/definition.ts'
import { readProject, writeProject } from '../../../cli/project/index.ts'
import { readBack } from './read-back.ts'

test('a file that names some of the settings goes on naming those, and what has become special', () => {
  const written =
    'definition: 1\n# Ours.\nsettings:\n  questions: { min_confidence: 0.5 }\n  replay: { recording: true }\n'
  const files = new Map([['sluice.yaml', written]])
  const now: NonNullable<Definition['settings']> = {
    allowed_origins: [],
    questions: { log: 'full', retention_days: 90, min_confidence: 0.5 },
    replay: { recording: true, max_calls: 1_000, days: 7, redacted_slots: [] },
  }
  expect(writeProject({ definition: 1, settings: now }, files).get('sluice.yaml')).toBe(written)
  const later = { ...now, replay: { ...now.replay, redacted_slots: ['customer'] } }
  const text = writeProject({ definition: 1, settings: later }, files).get('sluice.yaml') ?? ''
  expect(text).toContain('# Ours.')
  expect(readBack(new Map([['sluice.yaml', text]])).settings).toEqual({
    questions: { min_confidence: 0.5 },
    replay: { recording: true, redacted_slots: ['customer'] },
  })
})

const sales = `/*---
# Asked for by the north team.
description: Revenue of a region
slots:
  region: { type: string, required: true } # a name
  year: { type: integer }
---*/
select sum(amount) from orders where region = $region and ($year is null or year = $year)
`
const project = 'definition: 1\nproject: prj_1 # ours\n'

describe('what people write', () => {
  test('slots by name become one JSON Schema', () => {
    const { queries } = readBack(
      new Map([
        ['sluice.yaml', project],
        ['queries/sales.sql', sales],
      ]),
    )
    expect(queries).toMatchObject([
      {
        name: 'sales',
        slots: { properties: { region: { type: 'string' }, year: { type: 'integer' } }, required: ['region'] },
      },
    ])
  })

  test('keeps its comments where something beside them changes', () => {
    const files = new Map([
      ['sluice.yaml', project],
      ['queries/sales.sql', sales],
    ])
    const { queries = [], ...rest } = readBack(files)
    const changed = queries.map((each) => ({ ...each, cache_seconds: 60, sql: 'select 1' }))
    const written = writeProject({ ...rest, queries: changed }, files)
    expect(written.get('queries/sales.sql')).toBe(
      `${sales.slice(0, sales.indexOf('---*/'))}cache_seconds: 60\n---*/\nselect 1\n`,
    )
    expect(written.get('sluice.yaml')).toBe(project)
  })

  test('line ends of another system are those of the checkout, not of the SQL', () => {
    const files = new Map([
      ['sluice.yaml', project],
      ['queries/sales.sql', sales.replaceAll('\n', '\r\n')],
    ])
    expect(readBack(files)).toEqual(
      readBack(
        new Map([
          ['sluice.yaml', project],
          ['queries/sales.sql', sales],
        ]),
      ),
    )
  })

  const wrong: Array<[string, string, string, string]> = [
    [
      'an unknown field of a query',
      'queries/sales.sql',
      sales.replace('slots:', 'slotz:'),
      'queries/sales.sql:4:1 slotz is no field here',
    ],
    [
      'a slot of no type',
      'queries/sales.sql',
      sales.replace('type: integer', 'type: int'),
      'queries/sales.sql:6:11 slots.year.type: must have a type',
    ],
    [
      'a comment without an end',
      'queries/sales.sql',
      '/*---\na: 1\nselect 1',
      'queries/sales.sql:1:1 the comment at the top has no end',
    ],
    [
      'a query without SQL',
      'queries/sales.sql',
      '/*---\ndescription: a\n---*/\n',
      'queries/sales.sql:4:1 there is no SQL',
    ],
    ['a name that no query can have', 'queries/Sales.sql', 'select 1\n', 'queries/Sales.sql the name of the file'],
    ['YAML that is none', 'connections/orders.yaml', 'config: [\n', 'connections/orders.yaml:2:1 is no YAML'],
    ['a key written twice', 'connections/orders.yaml', 'name: a\nname: b\n', 'connections/orders.yaml:2:1 is no YAML'],
    [
      'a method that is none',
      'connections/orders.yaml',
      'config:\n  url: https://a.example\n  method: FETCH\n',
      'connections/orders.yaml:3:3 config.method',
    ],
    ['a field that is missing', 'alerts/late.yaml', 'name: Late\n', 'alerts/late.yaml:1:1 type'],
    [
      'a variable that is not set',
      'connections/orders.yaml',
      'config:\n  method: GET\n  url: https://${HOST}/a\n',
      'connections/orders.yaml:3:3 HOST is not set',
    ],
    [
      'a secret in the open',
      'connections/orders.yaml',
      'config:\n  method: GET\n  url: https://a.example\n  headers:\n    X-Api-Key: abc\n',
      'connections/orders.yaml:5:5 a secret is never written',
    ],
    [
      'a password in the open',
      'connections/orders.yaml',
      'config:\n  method: GET\n  url: https://a.example\n  authType: basic\n  auth: { username: a, password: b }\n',
      'connections/orders.yaml:5:24 a secret is never written',
    ],
    [
      'a token in the open',
      'sluice.yaml',
      'definition: 1\ntoken: slc_mgmt_abc\n',
      'sluice.yaml:2:1 token: must be ${NAME}',
    ],
    [
      'a secret variable in the open',
      'sluice.yaml',
      'definition: 1\nvariables:\n  - name: key\n    secret: true\n    value: abc\n',
      'sluice.yaml:5:5 a secret is never written',
    ],
    [
      'a question twice',
      'evaluations/b.yaml',
      '- { question: a?, expected_query: x }\n- { question: a?, expected_query: y }\n',
      'evaluations/b.yaml has a question that',
    ],
    ['an anchor that unfolds for ever', 'evaluations/b.yaml', bomb(), 'evaluations/b.yaml is no YAML'],
  ]
  test.each(wrong)('%s is told with its line', (_name, file, written, expected) => {
    const read = readProject(
      new Map([
        ['sluice.yaml', project],
        [file, written],
      ]),
      {},
    )
    const problems = 'problems' in read ? read.problems : []
    const lines = problems.map(
      ({ file: path, line, column, message }) => `${path}${line === null ? '' : `:${line}:${column}`} ${message}`,
    )
    expect(lines.join('\n')).toContain(expected)
  })
})

function bomb(): string {
  const lines = ['a: &a0 [x, x, x, x, x, x, x, x, x, x]']
  for (let at = 1; at < 8; at += 1)
    lines.push(`b${at}: &a${at} [${Array.from({ length: 10 }, () => `*a${at - 1}`).join(', ')}]`)
  return `${lines.join('\n')}\n`
}

describe('${NAME}', () => {
  const file = 'connections/orders.yaml'
  const written =
    '# our shop\nconfig:\n  url: https://${HOST}/orders\n  method: GET\n  authType: Bearer Token\n  auth:\n    token: ${TOKEN}\n'
  const files = new Map([
    ['sluice.yaml', project],
    [file, written],
  ])

  test('is the value of the environment, and never reaches the service as a name', () => {
    const read = readProject(files, { HOST: 'a.example', TOKEN: 'secret' })
    expect(read).toMatchObject({
      definition: { connections: [{ config: { url: 'https://a.example/orders', auth: { token: 'secret' } } }] },
    })
  })

  test('stays in the file when the service tells what it has, with the comments beside it', () => {
    const read = readProject(files, { HOST: 'a.example', TOKEN: 'secret' })
    if ('problems' in read) throw new Error(JSON.stringify(read.problems))
    const [connection] = read.definition.connections ?? []
    if (connection?.config === null || connection === undefined) throw new Error('no connection')
    const told = { ...connection, config: { ...connection.config, auth: { token: '***' } } }
    expect(writeProject({ ...read.definition, connections: [told] }, files).get(file)).toBe(written)
    const moved = { ...told, config: { ...told.config, url: 'https://b.example/invoices' } }
    const rewritten = writeProject({ ...read.definition, connections: [moved] }, files).get(file)
    expect(rewritten).toContain('url: https://b.example/invoices')
    expect(rewritten).toContain('token: ${TOKEN}')
  })
})
