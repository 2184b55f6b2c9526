import { expect, test } from 'vitest'
import { sqlParts } from '../../../web/pages/query/sql/sql-words.ts'

const coloured = (sql: string) => sqlParts(sql).flatMap(({ text, kind }) => (kind === null ? [] : [`${kind} ${text}`]))

test('SQL is read in colours: words, slots, texts, numbers and remarks', () => {
  expect(coloured(`SELECT sum(total) FROM "from" WHERE day >= $since -- 'not a text'\nlimit 10`)).toEqual([
    'keyword SELECT',
    'builtin sum',
    'keyword FROM',
    'keyword WHERE',
    'builtin day',
    'slot $since',
    "comment -- 'not a text'",
    'keyword limit',
    'number 10',
  ])
  expect(coloured(`'it''s' || x1 /* $no */ + 1.5e3`)).toEqual(["string 'it''s'", 'comment /* $no */', 'number 1.5e3'])
})

test('the parts are the whole text, also where it ends early, and are found in linear time', () => {
  for (const sql of ['', 'select 1', "select 'open", 'select "open', 'select 1 /* open', '$', 'a$b "x""y" é']) {
    expect(
      sqlParts(sql)
        .map(({ text }) => text)
        .join(''),
    ).toBe(sql)
  }
  const long = "'".repeat(200_001)
  expect(sqlParts(long)).toEqual([{ text: long, kind: 'string' }])
  expect(sqlParts(`/*${'x '.repeat(100_000)}`)).toHaveLength(1)
})
