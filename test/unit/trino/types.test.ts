import { describe, expect, test } from 'vitest'
import { columnTypeName, parseColumnType } from '../../../server/engine/index.ts'
import { rowEncoder } from '../../../server/trino/dialect/formats.ts'
import { parseTrinoType, portableType, trinoType } from '../../../server/trino/client/types.ts'
import { jsonEncoder } from '../../../server/trino/dialect/values.ts'
import { utcOf } from '../../../server/trino/dialect/zones.ts'

test.each([
  'BIGINT',
  'DECIMAL(18,2)',
  'VARCHAR[]',
  'TIMESTAMP WITH TIME ZONE',
  'STRUCT(a BIGINT, "b c" VARCHAR[], "d""e" STRUCT(f DECIMAL(38,0))[])[]',
  'MAP(VARCHAR, STRUCT(a BIGINT))',
])('the neutral type %s is read as it is written', (text) => {
  expect(columnTypeName(parseColumnType(text))).toBe(text)
})

test.each([
  ['bigint', 'BIGINT'],
  ['varchar(7)', 'VARCHAR'],
  ['char(3)', 'VARCHAR'],
  ['decimal(18, 2)', 'DECIMAL(18,2)'],
  ['timestamp(6)', 'TIMESTAMP'],
  ['timestamp(6) with time zone', 'TIMESTAMP WITH TIME ZONE'],
  ['array(varchar)', 'VARCHAR[]'],
  ['map(varchar(3), array(double))', 'MAP(VARCHAR, DOUBLE[])'],
  [
    'row(x bigint, Y array(varchar(3)), "z z" timestamp(3) with time zone)',
    'STRUCT(x BIGINT, Y VARCHAR[], "z z" TIMESTAMP WITH TIME ZONE)',
  ],
  ['row(a row(b decimal(3,1)))', 'STRUCT(a STRUCT(b DECIMAL(3,1)))'],
  ['hyperloglog', 'VARCHAR'],
])("Trino's %s is %s", (text, name) => {
  expect(columnTypeName(parseTrinoType(text))).toBe(name)
})

test.each([
  ['UINTEGER', 'BIGINT', 'bigint'],
  ['UBIGINT', 'DECIMAL(20,0)', 'decimal(20,0)'],
  ['HUGEINT', 'DECIMAL(38,0)', 'decimal(38,0)'],
  ['JSON', 'VARCHAR', 'varchar'],
  ['UUID', 'VARCHAR', 'varchar'],
  ['STRUCT(a JSON, b USMALLINT[])', 'STRUCT(a VARCHAR, b INTEGER[])', 'row("a" varchar, "b" array(integer))'],
  ['TIMESTAMP', 'TIMESTAMP', 'timestamp(6)'],
])('%s is kept by Iceberg as %s', (type, portable, trino) => {
  const found = portableType(parseColumnType(type))
  expect(columnTypeName(found)).toBe(portable)
  expect(trinoType(found)).toBe(trino)
})

describe('values', () => {
  test.each<[string, unknown, string]>([
    ['BIGINT', 5, '5'],
    ['BIGINT', '9007199254740993', '"9007199254740993"'],
    ['DOUBLE', 'NaN', 'null'],
    ['DOUBLE', 0.5, '0.5'],
    ['DECIMAL(18,2)', '12.30', '12.30'],
    ['DECIMAL(38,2)', '12345678901234567890.12', '"12345678901234567890.12"'],
    ['TIMESTAMP', '2026-01-01 10:00:00.123000', '"2026-01-01T10:00:00.123Z"'],
    ['TIMESTAMP', '2026-01-01 10:00:00.000000', '"2026-01-01T10:00:00Z"'],
    ['TIMESTAMP WITH TIME ZONE', '2026-07-01 10:00:00.5 Europe/Berlin', '"2026-07-01T08:00:00.5Z"'],
    ['JSON', '{"a":[1]}', '{"a":[1]}'],
    ['VARCHAR', 'a "b"\n', String.raw`"a \"b\"\n"`],
    ['STRUCT(a BIGINT, b VARCHAR[])', [1, ['x', null]], '{"a":1,"b":["x",null]}'],
    ['MAP(VARCHAR, DOUBLE)', { k: 1.5 }, '{"k":1.5}'],
    ['BLOB', 'AAE=', '"AAE="'],
    ['BOOLEAN', null, 'null'],
  ])('of %s: %j is %s', (type, value, json) => {
    expect(jsonEncoder(parseColumnType(type))(value)).toBe(json)
  })

  test('in CSV are as in JSON, without the quotes of a text', () => {
    const types = ['VARCHAR', 'TIMESTAMP', 'VARCHAR[]', 'BIGINT'].map(parseColumnType)
    const columns = types.map((_, index) => ({ name: `c${index}`, type: '' }))
    const encoder = rowEncoder({ columns, types }, 'csv')
    const text = `${String(encoder.start)}${String(
      encoder.rows([
        ['a,"b"', '2026-01-01 00:00:00', ['x'], null],
        ['', null, null, 1],
      ]),
    )}`
    expect(text).toBe('c0,c1,c2,c3\r\n"a,""b""",2026-01-01T00:00:00Z,"[""x""]",\r\n"",,,1\r\n')
  })
})

test.each([
  ['2026-01-01 10:00:00.123456 UTC', '2026-01-01 10:00:00.123456'],
  ['2026-01-01 10:00:00 +02:00', '2026-01-01 08:00:00'],
  ['2026-01-01 01:30:00 -05:30', '2026-01-01 07:00:00'],
  ['2026-03-29 03:30:00 Europe/Berlin', '2026-03-29 01:30:00'],
  ['2026-03-29 01:30:00 Europe/Berlin', '2026-03-29 00:30:00'],
  ['2026-12-31 23:00:00 America/New_York', '2027-01-01 04:00:00'],
])('%s is %s in UTC', (text, utc) => {
  expect(utcOf(text)).toBe(utc)
})
