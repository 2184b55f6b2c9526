import { describe, expect, test } from 'vitest'
import { judgeText, type JudgedCall } from '../../../server/engine-move/judge-text.ts'
import { parameterSets } from '../../../server/engine-move/parameter-sets.ts'
import { wishesOf, type Wish } from '../../../server/engine-move/wishes.ts'
import { liveVersion, type LiveVersion, type QueryText } from '../../../server/queries/index.ts'

const none = { type: 'object' as const, properties: {}, required: [], additionalProperties: false as const }
const shape = (...columns: Array<[name: string, type: string]>) => ({
  columns: columns.map(([name, type]) => ({ name, type })),
  slots: none,
})
const numbers = shape(['id', 'BIGINT'], ['total', 'HUGEINT'])
const ran = { rowCount: 2, bytes: 20, elapsedMs: 1, truncated: false }
const refused = { error: { code: 'invalid_query', reason: null, message: 'Function not registered.' } }

type Comparison = NonNullable<JudgedCall['comparison']>
const columns = { added: [], removed: [], retyped: [] }
const counts = { added: 0, removed: 0, changed: 0, changedColumns: {} }
const equal: Comparison = { outcome: 'equal', ...counts, columns, key: null, sample: [] }

function call(outcome: JudgedCall['outcome'], more: Partial<JudgedCall> = {}): JudgedCall {
  const kind = outcome === 'different' || outcome === 'reordered' ? outcome : 'equal'
  const both = { before: ran, after: ran, comparison: { ...equal, outcome: kind } as const }
  return { source: 'example', parameters: { id: 1 }, because: null, ...both, outcome, ...more }
}

const differing = (more: Partial<Comparison>): JudgedCall =>
  call('different', { comparison: { ...equal, outcome: 'different', ...more } })

const judge = (calls: JudgedCall[], after = numbers, accept: Array<'unchecked' | 'order'> = []) =>
  judgeText({ before: numbers, after, calls, accept, to: 'trino' })

describe('how a text does on another engine', () => {
  test('the same needs a comparison: without one it is unchecked and says what to do', () => {
    expect(judge([call('equal'), call('equal')])).toMatchObject({ status: 'same', compared: 2, because: null })
    expect(judge([])).toMatchObject({
      status: 'unchecked',
      compared: 0,
      because: expect.stringContaining('give parameters'),
    })
  })

  test('calls that both engines refuse, or that the old one does not answer twice alike, are no comparison', () => {
    const both = call('equal', { before: refused, after: refused })
    const unstable = call('unstable', { because: 'The older version does not answer twice alike.' })
    expect(judge([both])).toMatchObject({ status: 'unchecked', compared: 0, uncompared: 1 })
    expect(judge([unstable])).toMatchObject({ status: 'unchecked', because: unstable.because })
    expect(judge([both, unstable, call('equal')])).toMatchObject({ status: 'same', compared: 1, uncompared: 2 })
  })

  test('one call with other rows is enough, and it is told with its values', () => {
    const sample = [{ kind: 'removed' as const, before: { id: 1 } }]
    const told = judge([call('equal'), differing({ removed: 1, sample })])
    expect(told).toMatchObject({ status: 'different', because: 'Other rows for 1 of 2 sets of values.' })
    expect(told.differences).toMatchObject([{ parameters: { id: 1 }, source: 'example', removed: 1, rows: sample }])
  })

  test('what is told has a limit: three calls, and no row longer than a screen', () => {
    const long = [{ kind: 'added' as const, after: { text: 'x'.repeat(5_000) } }]
    const told = judge(Array.from({ length: 9 }, () => differing({ sample: long })))
    expect(told.differences.map(({ rows }) => rows.length)).toEqual([0, 0, 0])
  })

  test('another order is a difference unless its author accepts any', () => {
    expect(judge([call('reordered')])).toMatchObject({ status: 'different', because: expect.stringContaining('order') })
    expect(judge([call('reordered')], numbers, ['order'])).toMatchObject({ status: 'same', differences: [] })
    expect(judge([call('different')], numbers, ['order'])).toMatchObject({ status: 'different' })
  })

  test('a call that only the new engine fails is one that it cannot', () => {
    const failed = judge([call('equal'), call('failed', { after: refused, comparison: null })])
    expect(failed).toMatchObject({ status: 'cannot', because: 'On trino: Function not registered.' })
  })

  test('a width of an integer is none of its callers’ business; another kind, name or order of columns is', () => {
    const same = [call('equal')]
    expect(judge(same, shape(['id', 'INTEGER'], ['total', 'BIGINT']))).toMatchObject({ status: 'same' })
    expect(judge(same, shape(['id', 'BIGINT'], ['total', 'VARCHAR']))).toMatchObject({
      status: 'different',
      because: 'column total was HUGEINT and is VARCHAR.',
    })
    expect(judge(same, shape(['id', 'BIGINT']))).toMatchObject({ status: 'different' })
    expect(judge(same, shape(['id', 'BIGINT'], ['total', 'HUGEINT'], ['more', 'BIGINT']))).toMatchObject({
      status: 'different',
    })
    expect(judge(same, shape(['total', 'HUGEINT'], ['id', 'BIGINT']))).toMatchObject({
      status: 'different',
      because: 'its columns come in another order.',
    })
  })
})

const version = (required: string[], examples: Array<Record<string, unknown>>): LiveVersion =>
  liveVersion({
    slots: { type: 'object', properties: { id: { type: 'integer' } }, required },
    examples: examples.map((parameters) => ({ question: 'q', parameters })),
  } as unknown as LiveVersion)

test('each set of values counts once, those that the query refuses not at all, and there is a limit', () => {
  const recorded = [{ id: 3 }, { id: 2 }, { id: 4 }]
  const sets = parameterSets(version(['id'], [{ id: 2 }, {}]), { given: [{ id: 1 }], recorded, most: 3 })
  expect(sets).toEqual([
    { source: 'given', parameters: { id: 1 } },
    { source: 'example', parameters: { id: 2 } },
    { source: 'recorded', parameters: { id: 3 } },
  ])
  expect(parameterSets(version([], []), { given: [], recorded: [], most: 9 })).toEqual([
    { source: 'defaults', parameters: {} },
  ])
})

describe('what an author says of queries', () => {
  const text = (name: string, isDraft: boolean, number?: number): QueryText =>
    ({
      draft: { name },
      version: null,
      isDraft,
      places: number === undefined ? [] : [{ environment: 'production', versionId: 'v', number }],
    }) as unknown as QueryText
  const wish = (name: string, more: Partial<Wish> = {}): Wish => ({
    name,
    parameters: [],
    accept: [],
    exclude: false,
    ...more,
  })
  const texts = [text('a', true, 1), text('b', true), text('b', false, 2)]

  test('a rewrite is of the draft, or of the version that it names', () => {
    const found = wishesOf(texts, [wish('b', { sql: 'draft' }), wish('b', { sql: 'live', version: 2 })])
    expect(found.map(({ wish: { sql } }) => sql)).toEqual([undefined, 'draft', 'live'])
  })

  test('a query is left out with all its texts', () => {
    const found = wishesOf(texts, [wish('b', { exclude: true })])
    expect(found.map(({ wish: { exclude } }) => exclude)).toEqual([false, true, true])
  })

  test('a name that means nothing is refused', () => {
    for (const strange of [wish('c'), wish('a', { version: 1 }), wish('b', { version: 9 })]) {
      expect(() => wishesOf(texts, [strange])).toThrow('There is nothing to move of')
    }
  })
})
