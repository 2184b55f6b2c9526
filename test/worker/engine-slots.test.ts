import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SlotValue } from '../../server/engine/index.ts'
import { describeError } from '../../server/log.ts'
import { openFixture, type Fixture } from './engine-fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const bind = (sql: string, ...slots: SlotValue[]) => fixture.rows(sql, { slots })

/** The same as parts of a stream, read to its end. */
async function streamed(sql: string, slots: SlotValue[]): Promise<number> {
  const input = { sql, slots, maxRows: 100_000, maxBytes: 10_000_000 }
  const { chunks } = await fixture.engine.stream('project', fixture.catalog, input)
  let count = 0
  for await (const { rowCount } of chunks) count += rowCount
  return count
}

describe('slots', () => {
  test.each<[SlotValue['type'], unknown, unknown]>([
    ['string', "'; DROP VIEW orders; --", "'; DROP VIEW orders; --"],
    ['string', 'x'.repeat(8_192), 'x'.repeat(8_192)],
    ['string', 'nul \0 byte', 'nul \0 byte'],
    ['string', '$v', '$v'],
    ['string', null, null],
    ['integer', 42, 42],
    ['integer', '9007199254740993', '9007199254740993'],
    ['integer', '9223372036854775808', '9223372036854775808'],
    ['integer', '-170141183460469231731687303715884105728', '-170141183460469231731687303715884105728'],
    ['number', 0.1, 0.1],
    ['number', -0, 0],
    ['boolean', false, false],
    ['date', '2024-02-29', '2024-02-29'],
    ['timestamp', '2024-01-01T10:00:00.25+02:00', '2024-01-01T08:00:00.25Z'],
    ['timestamp', '2024-01-01', '2024-01-01T00:00:00Z'],
    ['string[]', ['a', "b'", null], ['a', "b'", null]],
    ['integer[]', [1, '9223372036854775808'], [1, '9223372036854775808']],
    ['integer[]', [], []],
    ['number[]', [1.5], [1.5]],
    ['boolean[]', [true, null], [true, null]],
    ['date[]', ['2024-01-01'], ['2024-01-01']],
    ['timestamp[]', ['2024-01-01T00:00:00Z'], ['2024-01-01T00:00:00Z']],
    ['string[]', null, null],
  ])('%s %j comes back as it was sent', async (type, value, expected) => {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await bind('SELECT $v AS v', { name: 'v', type, value })).toEqual([{ v: expected }])
    }
  })

  test.each<[SlotValue['type'], unknown, RegExp]>([
    ['integer', 1.5, /an integer/],
    ['integer', 'abc', /an integer/],
    ['integer', 2 ** 60, /an integer/],
    ['integer', '1'.repeat(60), /an integer/],
    ['number', Number.NaN, /a number/],
    ['number', '1e5x', /a number/],
    ['boolean', 'true', /true or false/],
    ['date', '2024-02-30', /YYYY-MM-DD/],
    ['date', '01/02/2024', /YYYY-MM-DD/],
    ['timestamp', 'yesterday', /timestamp/],
    ['timestamp', '2024-01-01T25:00:00Z', /timestamp/],
    ['string', 5, /a string/],
    ['string', { a: 1 }, /a string/],
    ['integer[]', 5, /a list/],
    ['integer[]', [1, 'x'], /a list/],
  ])('%s %j is refused by name', async (type, value, message) => {
    // JSON has no NaN; the HTTP layer cannot send one, and neither can the socket.
    const sent = Number.isNaN(value) ? 'NaN' : value
    await expect(bind('SELECT $v AS v', { name: 'v', type, value: sent })).rejects.toMatchObject({
      code: 'invalid_query',
      reason: 'invalid_slots',
      details: [{ field: 'v', message: expect.stringMatching(message) }],
    })
  })

  test('every bad one is named at once', async () => {
    const failure = bind(
      'SELECT $a, $b',
      { name: 'a', type: 'integer', value: 'x' },
      { name: 'b', type: 'date', value: 'y' },
    )
    await expect(failure).rejects.toMatchObject({ details: [{ field: 'a' }, { field: 'b' }] })
  })

  test('a cast in the SQL that a value does not fit is the caller’s mistake', async () => {
    await expect(bind('SELECT $v::INTEGER AS v', { name: 'v', type: 'string', value: 'abc' })).rejects.toMatchObject({
      code: 'invalid_query',
      reason: 'invalid_slots',
    })
  })

  test('an absent slot is NULL, one that the SQL does not name is left out, case does not count', async () => {
    expect(await bind('SELECT $missing IS NULL AS absent')).toEqual([{ absent: true }])
    expect(
      await bind(
        'SELECT $Name AS v',
        { name: 'name', type: 'string', value: 'x' },
        { name: 'other', type: 'string', value: 'y' },
      ),
    ).toEqual([{ v: 'x' }])
  })

  test('a slot in a text, a comment or a dollar quote is no slot', async () => {
    const sql = `SELECT '$v' AS a, $$ $v $$ AS b, $v AS "$v" -- $v
      /* $v /* nested */ $v */`
    expect(await bind(sql, { name: 'v', type: 'integer', value: 1 })).toEqual([{ a: '$v', b: ' $v ', $v: 1 }])
  })

  test('work where SQL is particular about its grammar', async () => {
    const slots: SlotValue[] = [
      { name: 'n', type: 'integer', value: 3 },
      { name: 'ids', type: 'integer[]', value: [1, 2, 3, 4] },
    ]
    const sql = `SELECT id, DATE '2024-01-01' + INTERVAL ($n) DAY AS d FROM orders WHERE id IN $ids AND id = ANY($ids) ORDER BY id LIMIT $n OFFSET 1`
    expect(await bind(sql, ...slots)).toEqual([2, 3, 4].map((id) => ({ id, d: '2024-01-04T00:00:00Z' })))
  })

  test('10,000 elements are bound', async () => {
    const value = Array.from({ length: 10_000 }, (_, index) => index)
    expect(
      await bind('SELECT count(*) AS n FROM orders WHERE id IN $ids', { name: 'ids', type: 'integer[]', value }),
    ).toEqual([{ n: 10_000 }])
  })

  test.each([
    ["SELECT timezone($value, TIMESTAMP '2024-01-01') AS x", 'Mars/Phobos'],
    ['SELECT timezone($value, placed_at) AS x FROM orders', 'Mars/Phobos'],
    ['SELECT date_trunc($value, day) AS x FROM orders', 'aeon'],
    ['SELECT regexp_matches(region, $value) AS x FROM orders', '('],
    ['SELECT $value::INTEGER AS x', 'many'],
    ['SELECT error($value) AS x', 'no'],
    ['SELECT factorial($value::INTEGER) AS x', '9999'],
    ['SELECT make_date($value::INTEGER, 1, 1) AS x', '99999999'],
    ['SELECT printf($value, id) AS x FROM orders', '%s %s %q'],
    ['SELECT chr($value::INTEGER) AS x', '-1'],
    ['SELECT unhex($value) AS x', 'zz'],
    ['SELECT list_aggregate([1, 2], $value) AS x', 'nothing'],
  ])('a value that the engine cannot use is the fault of its caller: %s', async (sql, value) => {
    const slots = [{ name: 'value', type: 'string' as const, value }]
    const refusal = { code: 'invalid_query', reason: 'invalid_slots' }
    await expect(fixture.rows(sql, { slots })).rejects.toMatchObject(refusal)
    await expect(streamed(sql, slots)).rejects.toMatchObject(refusal)
  })

  test('the log reads what the engine said, the caller of an error that is ours does not', async () => {
    const failure = await fixture.rows("SELECT 'many'::INTEGER AS x").catch((error: unknown) => error)
    expect(describeError(failure)).toMatchObject({
      name: 'Failure',
      code: 'invalid_query',
      cause: { name: 'EngineError', message: expect.stringMatching(/^Conversion Error: .*many/) as string },
    })
  })
})
