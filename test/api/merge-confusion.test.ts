import { beforeEach, expect, test } from 'vitest'
import { stageIncremental } from './incremental-stage.ts'

const stage = stageIncremental()
let source: ReturnType<typeof stage.parts>['source']
beforeEach(() => void ({ source } = stage.parts()))

const long = 'x'.repeat(100_000)
const uuid = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'

/** Keys as an API writes them, load by load, and which rows are there in the end. No two keys become one. */
test.each<[string, string[], string[]]>([
  ['a fraction among whole numbers', ['1', '1.5', '1'], ['1 c', '1.5 b']],
  ['a text of digits is not the one with a zero before it', ['1', '"01"', '"1"'], ['01 b', '1 c']],
  [
    'numbers that a double cannot tell apart',
    ['9007199254740993', '9007199254740992', '1.5'],
    ['1.5 c', '9007199254740992.0 b', '9007199254740993.0 a'],
  ],
  ['true, and the word', ['true', '"true"', 'true'], ['true c']],
  ['an object and its text', ['{"a":1}', '"{\\"a\\":1}"', '"x"'], ['x c', '{"a":1} a', '{"a":1} b']],
  ['spaces and capitals', ['"a"', '"A"', '"a "'], ['a a', 'A b', 'a  c']],
  ['1 and 1.0', ['1', '1.0', '2'], ['1 b', '2 c']],
  ['a number and the texts that look like it', ['1', '"1.0"', '"-0"'], ['1 a', '1.0 b', '-0 c']],
  ['a whole number and a text with an exponent', ['100', '1e2', '"1e2"'], ['100 b', '1e2 c']],
  ['numbers beyond all', ['1e400', '2e400', '-1e400'], ['1e400 a', '2e400 b', '-1e400 c']],
  ['words for no number', ['"NaN"', '"nan"', '"Infinity"'], ['NaN a', 'nan b', 'Infinity c']],
  ['true and 1', ['true', '1', '"1"'], ['true a', '1 c']],
  ['no letters', ['""', '" "', '"\\t"'], [' a', '  b', '\t c']],
  ['a zero byte', ['"a\\u0000"', '"a"', '"a\\u0000b"'], ['a\0 a', 'a b', 'a\0b c']],
  ['letters that nobody sees', ['"a\\u200b"', '"a"', '"a\\u00a0"'], ['a\u200b a', 'a b', 'a\u00a0 c']],
  ['long keys that differ at their end', [`"${long}a"`, `"${long}b"`, `"${long}a"`], [`${long}b b`, `${long}a c`]],
  [
    'small and capital letters of an id',
    [`"${uuid}"`, `"${uuid.toUpperCase()}"`, '"x"'],
    [`${uuid} a`, `${uuid.toUpperCase()} b`, 'x c'],
  ],
  ['days, and then a word', ['"2024-01-01"', '"2024-01-02"', '"n/a"'], ['2024-01-01 a', '2024-01-02 b', 'n/a c']],
  ['times with and without seconds', ['"10:00"', '"10:00:00"', '"x"'], ['10:00 a', '10:00:00 b', 'x c']],
  [
    'an object in another order',
    ['{"a":1,"b":2}', '{"b":2,"a":1}', '{"a":2,"b":1}'],
    ['{"a":1,"b":2} b', '{"a":2,"b":1} c'],
  ],
  ['letters that look alike', ['"\\u00e9"', '"e\\u0301"', '"x"'], ['\u00e9 a', 'e\u0301 b', 'x c']],
])('%s', async (_name, keys, expected) => {
  const table = await stage.merged({ mode: 'merge', primary_key: ['id'] })
  for (const [at, key] of keys.entries()) {
    source.answer(`[{"id":${key},"name":"${'abc'[at]}"}]`)
    expect(await table.refresh()).toMatchObject({ status: 'succeeded' })
  }
  const text = (id: unknown): string => (typeof id === 'string' ? id : JSON.stringify(id))
  const rows = (await table.rows()).map((row) => `${text(row['id'])} ${String(row['name'])}`)
  expect(rows.toSorted()).toEqual(expected.toSorted())
})

test('null is no key, whatever was there before, and nothing of its load is stored', async () => {
  const table = await stage.merged({ mode: 'merge', primary_key: ['id'] })
  source.answer([{ id: 1, name: 'a' }])
  await table.refresh()
  for (const id of ['null', '"x"},{"name":"b"', '1},{"id":null']) {
    source.answer(`[{"id":${id},"name":"c"}]`)
    expect(await stage.failure(table)).toContain('no value in the primary key')
  }
  expect(await table.rows()).toEqual([{ id: 1, name: 'a' }])
})
