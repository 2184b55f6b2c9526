import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { contractOf, type QueryContract } from '../../server/queries/index.ts'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
beforeAll(async () => {
  t = await openTestApp({}, { isShared: true })
  q = await openQueryProject(t)
})
afterAll(() => t.close())

function contract(name: string): QueryContract {
  const deployment = t.app.deployments.find({ projectId: q.projectId, environment: 'production', name })
  if (deployment === undefined) throw new Error(`${name} is not deployed`)
  return contractOf(deployment)
}

/** An expression, and the JSON types that its column says it has. */
const values: Array<[sql: string, types: unknown]> = [
  ['true', ['boolean', 'null']],
  ['1::TINYINT', ['integer', 'null']],
  ['4294967295::UINTEGER', ['integer', 'null']],
  ['1::BIGINT', ['integer', 'string', 'null']],
  ['9223372036854775807::BIGINT', ['integer', 'string', 'null']],
  ['(2::HUGEINT)', ['integer', 'string', 'null']],
  ["'170141183460469231731687303715884105727'::HUGEINT", ['integer', 'string', 'null']],
  ["'18446744073709551615'::UBIGINT", ['integer', 'string', 'null']],
  ['1.5::FLOAT', ['number', 'null']],
  ["'nan'::DOUBLE", ['number', 'null']],
  ['12.34::DECIMAL(10,2)', ['number', 'null']],
  ["'12345678901234567890.12'::DECIMAL(38,2)", ['number', 'string', 'null']],
  ['\'a "quoted" text\'', ['string', 'null']],
  ['uuid()', ['string', 'null']],
  ["DATE '2024-02-29'", ['string', 'null']],
  ["TIMESTAMP '2024-02-29 12:00:00.123456'", ['string', 'null']],
  ["TIMESTAMPTZ '2024-02-29 12:00:00+02'", ['string', 'null']],
  ["TIMESTAMP_NS '2024-02-29 12:00:00.123456789'", ['string', 'null']],
  ["TIME '12:00:01'", ['string', 'null']],
  ["INTERVAL '3 days'", ['string', 'null']],
  ["'\\xAA'::BLOB", ['string', 'null']],
  ['[1, 2, NULL]', ['array', 'null']],
  ["[['a'], []]", ['array', 'null']],
  ["{'a b': 1, 'c\"d': ['x'], 'when': DATE '2024-01-01'}", ['object', 'null']],
  ['row(1, 2)', ['array', 'null']],
  ["MAP {'k': 1, 'l': NULL}", ['object', 'null']],
  ["'north'::ENUM('north', 'it''s, south')", ['string', 'null']],
  ['\'{"a": [1]}\'::JSON', undefined],
  ["['{\"a\": 1}'::JSON, '2'::JSON]", ['array', 'null']],
  ["{'deep': '[1]'::JSON}", ['object', 'null']],
  ['union_value(num := 1::INTEGER)', undefined],
  ['NULL', undefined],
]

describe('the output of a contract', () => {
  test('names the type of each column, and every value that the engine writes is of it', async () => {
    const columns = values.map(([sql], at) => `${sql} AS c${at}`)
    const nulls = values.map(([sql], at) => `CASE WHEN false THEN ${sql} END AS c${at}`)
    const name = 'every_type'
    await q.deploy({ name, sql: `SELECT ${columns.join(', ')} UNION ALL SELECT ${nulls.join(', ')}` })
    const { output } = contract(name)
    const schema = z.fromJSONSchema({ ...output })
    const { body } = await expectStatus(200, q.caller.post(`/v1/queries/${name}`, {}))
    expect(body.data).toHaveLength(2)
    for (const row of body.data) expect(schema.safeParse(row).error).toBeUndefined()
    const types = values.map((_value, at) => output.properties[`c${at}`]?.['type'])
    const expected = values.map(([sql, type]) => (sql === 'NULL' ? types.at(-1) : type))
    expect(types).toEqual(expected)
    expect(output.required).toEqual(values.map((_value, at) => `c${at}`))
  })

  test('refuses what the column never holds', async () => {
    await q.deploy({ name: 'a_number', sql: 'SELECT 1::INTEGER AS n' })
    const schema = z.fromJSONSchema(contract('a_number').output)
    expect(schema.safeParse({ n: 'one' }).success).toBe(false)
    expect(schema.safeParse({}).success).toBe(false)
  })
})

describe('the input of a contract', () => {
  test('says what a call may send, in words that every validator knows', async () => {
    await q.deploy({
      name: 'every_slot',
      description: 'All kinds of slots',
      sql: 'SELECT $region AS a, $count AS b, $days AS c, $at AS d, $code AS e, $flags AS f, $wide AS g FROM orders LIMIT 1',
      slots: {
        type: 'object',
        properties: {
          region: { type: 'string', enum: ['north', 'south'], title: 'Region', 'x-values-from': 'orders.region' },
          count: { type: 'integer', minimum: 1, default: 3, description: 'How many' },
          days: { type: 'array', items: { type: 'string', format: 'date' } },
          at: { type: 'string', format: 'time' },
          code: { type: 'string', pattern: '(?i)^[a-z]+$' },
          flags: { type: 'boolean' },
          wide: { type: 'integer', maximum: '170141183460469231731687303715884105727' },
        },
        required: ['region', 'count', 'flags'],
      },
      examples: [{ question: 'What of the north?', parameters: { region: 'north', flags: true } }],
    })
    const { title, description, input, examples } = contract('every_slot')
    expect({ title, description }).toEqual({ title: 'Every slot', description: 'All kinds of slots' })
    expect(input).toMatchObject({ type: 'object', required: ['region', 'flags'], additionalProperties: false })
    expect(input.properties).toEqual({
      region: { type: 'string', enum: ['north', 'south'], title: 'Region' },
      count: { type: 'integer', minimum: 1, default: 3, description: 'How many' },
      days: { type: 'array', items: { type: 'string', format: 'date' } },
      at: { type: 'string', pattern: expect.any(String) },
      code: { type: 'string', description: 'Matches (?i)^[a-z]+$ (RE2).' },
      flags: { type: 'boolean' },
      wide: { type: 'integer', description: 'At most 170141183460469231731687303715884105727.' },
    })
    expect(examples).toEqual([{ question: 'What of the north?', parameters: { region: 'north', flags: true } }])
    const at = new RegExp(String(input.properties['at']?.['pattern']), 'u')
    expect([at.test('09:30'), at.test('24:00')]).toEqual([true, false])
  })
})
