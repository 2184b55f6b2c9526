import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SlotValue } from '../../server/engine/index.ts'
import { openFixture, type Fixture } from './engine-fixture.ts'

let fixture: Fixture
beforeAll(async () => void (fixture = await openFixture()))
afterAll(() => fixture.close())

const texts = ['50% off', '50 off', 'user_name', 'username', String.raw`a\b`, 'A.C', 'abc', 'two\nlines', 'ÄÖ']
const source = `(select unnest([${texts.map((text) => `'${text.replaceAll("'", "''")}'`).join(', ')}]) as x) t`
const slot = (value: unknown, isPattern = false): SlotValue => ({
  name: 'q',
  type: Array.isArray(value) ? 'string[]' : 'string',
  value,
  isPattern,
})
const found = async (where: string, ...slots: SlotValue[]): Promise<unknown[]> => {
  const rows = (await fixture.rows(`select x from ${source} where ${where}`, { slots })) as Array<{ x: string }>
  return rows.map(({ x }) => x)
}

describe('a text slot in a pattern', () => {
  test.each<[string, string, string[]]>([
    ["x like '%' || $q || '%'", '%', ['50% off']],
    ["x like '%'||$q||'%'", '_', ['user_name']],
    ["x ilike concat('%', $q, '%') and length(x) > 1", '\\', [String.raw`a\b`]],
    ['x like $q', 'a%', []],
    ['x like $q', 'abc', ['abc']],
    ["x not like '%' || $q and x like '5%'", '% off', ['50 off']],
    ["x ilike '%' || lower($q) || '%' or false", 'A.C', ['A.C']],
    ["x like ('5%' || $q) escape '!'", ' off', ['50% off', '50 off']],
    ["x like '50!%' || $q escape '!'", '%', []],
    ["x like '%' || $q::text || '%' /* a comment */ order by x", '% o', ['50% off']],
    ["case when x like '%' || $q || '%' then true else false end", '%', ['50% off']],
    ["x like case when $q is null then '%' else $q end", '50% off', ['50% off']],
    ["(x like '%' || $q) = true and x in ('abc', '50 off')", 'c', ['abc']],
    ["$q = '%' and x like 'abc'", '%', ['abc']],
  ])('%s with %j', async (where, value, expected) => {
    expect(await found(where, slot(value))).toEqual(expected)
    // From the cache of plans, too.
    expect(await found(where, slot(value))).toEqual(expected)
  })

  test.each<[string, string, string[]]>([
    ['x like $q', 'a%', [String.raw`a\b`, 'abc']],
    ["x like $q || ''", 'a_c', ['abc']],
    ['x ilike $q', 'a_c', ['A.C', 'abc']],
    ['x ilike $q', 'ä%', ['ÄÖ']],
    ['x like $q', 'a.c', []],
    ['x like $q', 'two%lines', ['two\nlines']],
    ["x not like '%' || $q || '%' and x like 'user%'", '_n', []],
    ["x ilike '%' || $q || '%' and x like '50%' || ' off'", '(', []],
    ['x like $q', String.raw`a\b`, [String.raw`a\b`]],
  ])('%s with the pattern %j', async (where, value, expected) => {
    expect(await found(where, slot(value, true))).toEqual(expected)
  })

  test('that is one beside one that is none', async () => {
    const slots: SlotValue[] = [slot('50%', true), { name: 'w', type: 'string', value: '% o' }]
    expect(await found("x like $q || $w || '%'", ...slots)).toEqual(['50% off'])
    expect(await found("x like '%' || $w || $q", { name: 'w', type: 'string', value: '_' }, slot('%', true))).toEqual([
      'user_name',
    ])
  })

  test('that backtracks is answered at once, and no executor is lost', async () => {
    const words = Array.from({ length: 60 }, (_, at) => `sometimes${at} wherever`).join(' ')
    const many = `(select '${words}' || range as x from range(300)) t`
    const hostile = `${'e%e_%'.repeat(12)}zz`
    const startedMs = performance.now()
    const sql = `select count(*) as n from ${many} where x ilike '%' || $q || '%'`
    expect(await fixture.rows(sql, { slots: [slot(hostile)] })).toEqual([{ n: 0 }])
    expect(await fixture.rows(sql, { slots: [slot(hostile, true)] })).toEqual([{ n: 0 }])
    expect(performance.now() - startedMs).toBeLessThan(5_000)
    expect(fixture.observed.filter(({ kind }) => kind === 'executor-lost')).toEqual([])
  })

  test.each([
    'x glob $q',
    "x like p from (select x, '%' || $q as p from t) t",
    "x like (select '%' || $q || '%')",
    String.raw`x like $q escape '!'`,
    'x like $l[1]',
  ])('that cannot be told from the pattern takes two wildcards: %s', async (where) => {
    const rest = where.includes(' from ') ? where : `${where} from t`
    const sql = `with t as (select unnest(['abc']) as x) select ${rest}`
    const isPattern = where.includes('escape')
    const given = (value: string): SlotValue[] => [
      slot(value, isPattern),
      ...(where.includes('$l') ? [{ name: 'l', type: 'string[]' as const, value: [value] }] : []),
    ]
    await fixture.rows(sql, { slots: given('a*%') })
    const refused = fixture.rows(sql, { slots: given('a%b*c_d%e') })
    await expect(refused).rejects.toMatchObject({ code: 'invalid_query', reason: 'invalid_slots' })
  })
})

test.each([
  "select repeat('a',200000) ilike repeat('%_',100000) as n",
  "select repeat('a',200000) like repeat('%_',100000) escape '!' as n",
  "select repeat('a',200000) glob repeat('*?',100000) as n",
  "with p as (select repeat('%_',100000) as pat) select repeat('a',200000) not ilike pat as n from p",
])('a pattern that is too long ends no process: %s', async (sql) => {
  expect(await fixture.rows(sql)).toMatchObject([{ n: expect.any(Boolean) }])
  expect(fixture.observed.filter(({ kind }) => kind === 'executor-lost')).toEqual([])
})

test.each<[string, RegExp]>([
  ['select lag(x, -9223372036854775808) over () from range(3) t(x)', /offset of lag/],
  ['select lead(x, x) over () from range(3) t(x)', /offset of lead/],
  ['select null::int[100000][100000][100000] as n', /more than 100000 items/],
  ["select approx_quantile(x, 'nan'::float) from range(10) t(x)", /cannot tell/],
  ["select like_escape('a', repeat('%_', 100000), '!')", /stands behind LIKE/],
])('is refused: %s', async (sql, message) => {
  const refusal = { code: 'invalid_request', reason: 'invalid_sql', message: expect.stringMatching(message) }
  await expect(fixture.rows(sql)).rejects.toMatchObject(refusal)
  await expect(fixture.engine.inspect('project', fixture.catalog, { sql, slots: [] })).rejects.toMatchObject(refusal)
})

test('an offset that is a slot ends no process', async () => {
  const given: SlotValue = { name: 'n', type: 'integer', value: '-9223372036854775808' }
  const far = fixture.rows('select lag(x, $n) over () as n from range(3) t(x)', { slots: [given] })
  await expect(far).rejects.toMatchObject({ code: 'invalid_query', reason: 'invalid_slots' })
  expect(fixture.observed.filter(({ kind }) => kind === 'executor-lost')).toEqual([])
  expect(await fixture.rows('select lag(x, 1) over () as n from range(2) t(x)')).toEqual([{ n: null }, { n: 0 }])
})
