import { describe, expect, test } from 'vitest'
import type { SlotValue } from '../../../server/engine/index.ts'
import { executed, prepared, readStatement } from '../../../server/trino/dialect/statement.ts'

const read = (sql: string) => readStatement(sql, { maxChars: 10_000 })

describe('slots', () => {
  test('are found where they are slots, not in texts, names and comments', () => {
    const { places, sql } = read(`SELECT '$a', "b c" -- $d\n/* $e */ FROM t WHERE x = $F AND y = $g LIMIT $n; ;`)
    expect(places.map(({ name, isCount }) => [name, isCount])).toEqual([
      ['f', false],
      ['g', false],
      ['n', true],
    ])
    expect(sql.endsWith('$n')).toBe(true)
  })

  test('become parameters of a prepared statement with typed values', () => {
    const slots: SlotValue[] = [
      { name: 'who', type: 'string', value: "it's $x ?" },
      { name: 'least', type: 'integer', value: 5 },
      { name: 'huge', type: 'integer', value: '99999999999999999999' },
      { name: 'days', type: 'date[]', value: ['2026-01-01', null] },
      { name: 'none', type: 'timestamp', value: null },
      { name: 'most', type: 'integer', value: 3 },
    ]
    const sql =
      "SELECT 'a''b' FROM t WHERE a = $who AND b > $least AND c = $huge AND contains($days, d) AND e = $none LIMIT $most"
    expect(executed(read(sql), slots)).toBe(
      "EXECUTE IMMEDIATE 'SELECT ''a''''b'' FROM t WHERE a = CAST(? AS varchar) AND b > CAST(? AS bigint) AND c = CAST(? AS decimal(38,0)) AND contains(CAST(? AS array(date)), d) AND e = CAST(? AS timestamp(6)) LIMIT ?' USING 'it''s $x ?', BIGINT '5', DECIMAL '99999999999999999999', ARRAY[DATE '2026-01-01', NULL], NULL, 3",
    )
  })

  test.each<[SlotValue['type'], unknown]>([
    ['integer', '1 OR 1'],
    ['number', 'NaN'],
    ['date', "2026-01-01' OR '1"],
    ['timestamp', 'now'],
    ['time', '25'],
    ['boolean', 'x'],
  ])('of the type %s take no value that is none', (type, value) => {
    const slots = [{ name: 'x', type, value }]
    expect(() => executed(read('SELECT a FROM t WHERE a = $x'), slots)).toThrow(
      expect.objectContaining({ code: 'invalid_query', reason: 'invalid_slots' }) as Error,
    )
  })

  test('places in what Trino was sent are those in what the author wrote', () => {
    const sql = 'SELECT a FROM t WHERE b = $first AND nope = $second'
    const { text, original } = prepared(read(sql), { typeOf: () => 'bigint' })
    expect(sql.slice(original(text.indexOf('nope'))).startsWith('nope')).toBe(true)
    expect(original(text.indexOf('CAST') + 6)).toBe(sql.indexOf('$first'))
  })
})

test.each([
  ['', 'Only a SELECT'],
  ['DROP TABLE t', 'Only a SELECT'],
  ['EXPLAIN SELECT 1', 'Only a SELECT'],
  ['/* SELECT */ INSERT INTO t SELECT 1', 'Only a SELECT'],
  ['SELECT 1; SELECT 2', 'exactly one statement'],
  ['SELECT ?', 'written as $name'],
  ['SELECT $1', 'written as $name'],
  ["WITH SESSION a = 'b' SELECT 1", 'WITH SESSION'],
  ['WITH FUNCTION f() RETURNS int RETURN 1 SELECT f()', 'WITH FUNCTION'],
  ['SELECT * FROM Information_Schema.tables', 'by their names alone'],
  ['SELECT * FROM "information_schema".tables', 'by their names alone'],
  ['SELECT * FROM PRJ_01M7S2V1SJMWWMXTNTDMH839CH_0123.t', 'by their names alone'],
  ['SELECT * FROM "t$files"', 'beside tables'],
  ['SELECT "$path" FROM t', 'beside tables'],
  [String.raw`SELECT * FROM U&"\0069nformation_schema".tables`, 'without U&'],
  ['SELECT \0', 'NUL'],
])('%s is refused', (sql, words) => {
  expect(() => read(sql)).toThrow(expect.objectContaining({ reason: 'invalid_sql' }) as Error)
  expect(() => read(sql)).toThrow(words)
})

test.each([
  'SELECT 1',
  'WITH a AS (SELECT 1 AS x) SELECT x FROM a',
  'VALUES 1',
  'TABLE t',
  '(SELECT 1)',
  "SELECT 'x;y'",
])('%s is not', (sql) => {
  expect(read(sql).sql).toBe(sql)
})

describe('a text slot in LIKE', () => {
  const mark = '\u{f8ff}'
  const sent = (sql: string, ...slots: SlotValue[]): string => {
    const statement = read(`SELECT a FROM t WHERE ${sql}`)
    return /^EXECUTE IMMEDIATE 'SELECT a FROM t WHERE ([\s\S]*)' USING/.exec(executed(statement, slots))?.[1] ?? ''
  }
  const slot = (name: string, value: unknown, isPattern = false): SlotValue => ({
    name,
    type: Array.isArray(value) ? 'string[]' : 'string',
    value,
    isPattern,
  })
  const letters = (sign: string): string =>
    `replace(replace(replace(CAST(? AS varchar), ''${sign}'', ''${sign}${sign}''), ''%'', ''${sign}%''), ''_'', ''${sign}_'')`

  test.each<[string, string]>([
    ['a LIKE $q', `a LIKE ${letters(mark)} ESCAPE ''${mark}''`],
    [
      "a LIKE '%' || lower($q) || '%' AND b = $q",
      `a LIKE ''%'' || lower(${letters(mark)}) || ''%'' ESCAPE ''${mark}'' AND b = CAST(? AS varchar)`,
    ],
    [
      "a NOT LIKE concat('%', $q) OR $q = 'x'",
      `a NOT LIKE concat(''%'', ${letters(mark)}) ESCAPE ''${mark}'' OR CAST(? AS varchar) = ''x''`,
    ],
    ["(a LIKE VARCHAR '%' || $q) IS TRUE", `(a LIKE VARCHAR ''%'' || ${letters(mark)} ESCAPE ''${mark}'') IS TRUE`],
    ["a LIKE $q ESCAPE '!'", `a LIKE ${letters('!')} ESCAPE ''!''`],
    ['CASE WHEN a LIKE $q THEN 1 END = 1', `CASE WHEN a LIKE ${letters(mark)} ESCAPE ''${mark}'' THEN 1 END = 1`],
    [
      "a LIKE CASE WHEN $q = '' THEN '%' ELSE $q END",
      `a LIKE CASE WHEN ${letters(mark)} = '''' THEN ''%'' ELSE ${letters(mark)} END ESCAPE ''${mark}''`,
    ],
    ["a LIKE '50%' AND b = $q", `a LIKE ''50%'' AND b = CAST(? AS varchar)`],
  ])('%s is taken letter for letter', (sql, expected) => {
    expect(sent(sql, slot('q', '5%'))).toBe(expected)
  })

  test('keeps its wildcards where it is a pattern', () => {
    const pattern = `replace(CAST(? AS varchar), ''${mark}'', ''${mark}${mark}'')`
    expect(sent('a LIKE $q', slot('q', '5%', true))).toBe(`a LIKE ${pattern} ESCAPE ''${mark}''`)
    expect(sent("a LIKE $q ESCAPE '!'", slot('q', '5%', true))).toBe("a LIKE CAST(? AS varchar) ESCAPE ''!''")
  })

  test.each(['a LIKE b', 'a LIKE (SELECT $q)', 'a LIKE $l[1]', 'a LIKE $q ESCAPE b', "a LIKE $q ESCAPE '_'"])(
    'cannot be told from the pattern, so that a value has two wildcards at most: %s',
    (sql) => {
      const given = (value: string) => [slot('q', value), slot('l', [value])]
      expect(sent(`${sql} AND $q <> ''`, ...given('a%b_c'))).not.toBe('')
      expect(() => sent(`${sql} AND $q <> ''`, ...given('a%b_c%'))).toThrow(
        expect.objectContaining({ code: 'invalid_query', reason: 'invalid_slots' }) as Error,
      )
    },
  )
})
