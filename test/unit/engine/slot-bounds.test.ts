import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import type { SlotSchema } from '../../../api/slots.ts'
import { comparisonsOf } from '../../../server/engine/executor/bounds/comparisons.ts'
import { readComparisons } from '../../../server/engine/executor/bounds/read-comparisons.ts'
import { boundOf, saidBound, withEdits } from '../../../server/queries/slots/bounds.ts'

const settings = {
  tempDir: tmpdir(),
  threads: 1,
  concurrency: 1,
  memoryBytes: 256 * 1024 * 1024,
  idleCloseMs: 1_000,
  sqlLimits: { chars: 100_000, nodes: 10_000, levels: 100 },
}
const column = (name: string, type: string) => ({ name, type })
const tables = [
  {
    name: 'rides',
    columns: [
      column('day', 'DATE'),
      column('ts', 'TIMESTAMP'),
      column('tz', 'TIMESTAMP WITH TIME ZONE'),
      column('said', 'VARCHAR'),
      column('amount', 'DOUBLE'),
      column('note', 'JSON'),
    ],
  },
  { name: 'stays', columns: [column('arrives', 'DATE'), column('leaves', 'DATE'), column('ts', 'TIMESTAMP')] },
]

const day: SlotSchema = { type: 'string', format: 'date' }
const moment: SlotSchema = { type: 'string', format: 'date-time' }

/** What is read of each slot: `(` leaves its own day out, `[` has it; `!` loses a part of a day, `?` is not read. */
async function read(sql: string, schema: SlotSchema = day): Promise<string> {
  const [comparisons = null] = await readComparisons(settings, [sql])
  const names = [...new Set(Array.from(sql.matchAll(/\$(\w+)/g), ([, name = '']) => name))]
  return names
    .map((name) => {
      const bound = boundOf(name, schema, { comparisons, tables })
      if (bound === null) return `${name}=`
      if (bound.problem?.reason === 'period_end') return `${name}!`
      if (bound.from === 'assumed') return `${name}?`
      const { side } = bound
      const isIn = saidBound(bound) === 'inclusive'
      return side === 'start' ? `${isIn ? '[' : '('}${name}` : `${name}${isIn ? ']' : ')'}`
    })
    .join(' ')
}

const where = (condition: string): string => `SELECT * FROM rides WHERE ${condition}`

/** A condition over `rides`, and what is read of it where slots are days. */
const ofDays: Array<[condition: string, read: string]> = [
  ['day >= $a AND day <= $b', '[a b]'],
  ['day >= $a AND day < $b', '[a b)'],
  ['day > $a AND day <= $b', '(a b]'],
  ['day BETWEEN $a AND $b', '[a b]'],
  ['$a <= day AND $b > day', '[a b)'],
  ['$b >= day', 'b]'],
  ['ts >= $a AND ts < $b', '[a b)'],
  ['ts >= $a AND ts <= $b', '[a b!'],
  ['ts > $a', 'a!'],
  ['ts BETWEEN $a AND $b', '[a b!'],
  ['tz < $b', 'b)'],
  ['tz <= $b', 'b!'],
  ['$b >= ts', 'b!'],
  ['ts < $b + interval 1 day', 'b]'],
  ["ts < $b + interval '1 day'", 'b]'],
  ["ts < $b + interval '1' day", 'b]'],
  ['ts < interval 1 day + $b', 'b]'],
  ['ts < $b + interval 24 hours', 'b?'],
  ['ts <= $b + interval 1 day', 'b!'],
  ["ts <= $b + interval '1 day' - interval '1 second'", 'b]'],
  ["ts <= $b + interval '23:59:59'", 'b]'],
  ["ts <= $b + time '23:59:59'", 'b]'],
  ["ts <= ($b || ' 23:59:59')::timestamp", 'b]'],
  ["ts <= CAST(concat($b, 'T23:59:59') AS TIMESTAMP)", 'b]'],
  ['ts < date_add($b, interval 1 day)', 'b]'],
  ['day < $b + 1', 'b]'],
  ['day <= $b - 1', 'b)'],
  ['day < $b::date + 1', 'b]'],
  ['day > $a - 1', '[a'],
  ['day >= $a + 1', '(a'],
  ['day < $b + 2', 'b?'],
  ['ts - interval 1 day < $b', 'b]'],
  ['ts + interval 2 hours < $b', 'b)'],
  ['ts::date <= $b', 'b]'],
  ['CAST(ts AS DATE) BETWEEN $a AND $b', '[a b]'],
  ['TRY_CAST(said AS DATE) <= $b', 'b]'],
  ["date_trunc('day', ts) <= $b", 'b]'],
  ["date_trunc('day', ts) < $b", 'b)'],
  ["date_trunc('month', ts) <= $b", 'b]'],
  ["date_trunc('hour', ts) <= $b", 'b!'],
  ["date_trunc('month', ts) >= date_trunc('month', $a)", '[a'],
  ["ts >= date_trunc('month', $a) AND ts < date_trunc('month', $b) + interval 1 month", '[a b]'],
  ["ts < date_trunc('month', $b)", 'b)'],
  ["ts <= date_trunc('month', $b)", 'b!'],
  ["day <= date_trunc('month', $b) + interval 1 month - interval 1 day", 'b]'],
  ["time_bucket(interval '1 day', ts) <= $b", 'b]'],
  ["strftime(ts, '%Y-%m-%d') <= $b", 'b]'],
  ['year(ts) <= year($b)', 'b]'],
  ['($b IS NULL OR day < $b)', 'b)'],
  ['(ts < $b OR $b IS NULL) AND ($a IS NULL OR ts >= $a)', 'b) [a'],
  ['day < coalesce($b, current_date)', 'b)'],
  ["day <= coalesce($b, DATE '2999-12-31')", 'b]'],
  ['day <= ifnull($b, today())', 'b]'],
  ['day <= least($b, current_date)', 'b]'],
  ['day < CASE WHEN $b IS NULL THEN current_date ELSE $b END', 'b)'],
  ['coalesce(ts, tz) < $b', 'b)'],
  ['NOT (day > $b)', 'b]'],
  ['NOT (day < $a OR day > $b)', '[a b]'],
  ['NOT day >= $b', 'b)'],
  ['NOT (ts >= $b)', 'b)'],
  ['day < $a OR day > $b', 'a? b?'],
  ['day NOT BETWEEN $a AND $b', 'a? b?'],
  ['NOT (day >= $a AND day <= $b)', 'a? b?'],
  ['day = $a', 'a='],
  ['day IN ($a, $b)', 'a= b='],
  ['ts::date = $a AND amount > 3', 'a='],
  ['ts >= $a AND ts < $a + interval 1 day', 'a='],
  ['day = $a OR ($b IS NOT NULL AND day <= $b)', 'a= b]'],
  ['said <= $b', 'b]'],
  ['said::timestamp <= $b', 'b!'],
  ["note->>'at' < $b", 'b)'],
  ["note->>'at' <= $b", 'b?'],
  ['epoch(ts) < epoch($b)', 'b?'],
  ["date_diff('day', ts, $b) > 0", 'b?'],
  ["ts AT TIME ZONE 'Europe/Berlin' < $b", 'b)'],
  ['day < (SELECT $b)', 'b)'],
  ['day <= (SELECT max(arrives) FROM stays WHERE arrives < $b)', 'b)'],
  ['EXISTS (SELECT 1 FROM stays s WHERE s.ts <= $b AND s.arrives >= $a)', 'b! [a'],
  ['day = ANY(SELECT unnest(range($a::date, $b::date, interval 1 day)))', '[a b)'],
  ['day IN (SELECT unnest(generate_series($a::date, $b::date, interval 1 day)))', '[a b]'],
  ["tz < timezone('Europe/Berlin', $b::timestamp)", 'b)'],
]

/** Whole statements. */
const statements: Array<[sql: string, read: string]> = [
  ['SELECT sum(amount) FILTER (WHERE ts < $b) FROM rides', 'b)'],
  ['SELECT day, count(*) FROM rides GROUP BY day HAVING max(ts) < $b', 'b)'],
  ['WITH r AS (SELECT *, ts::date AS d FROM rides) SELECT * FROM r WHERE d <= $b', 'b]'],
  ['WITH r AS (SELECT * FROM rides) SELECT * FROM r WHERE r.ts <= $b', 'b!'],
  ['WITH p AS (SELECT $a::date AS a, $b::date + 1 AS b) SELECT * FROM rides, p WHERE ts >= p.a AND ts < p.b', '[a b]'],
  ['WITH p(a, b) AS (SELECT $a, $b) SELECT * FROM rides JOIN p ON ts >= a AND ts < b', '[a b)'],
  ['SELECT * FROM (SELECT ts::date AS d, amount FROM rides) x WHERE x.d BETWEEN $a AND $b', '[a b]'],
  ['SELECT ts::date AS d FROM rides WHERE d <= $b', 'b]'],
  ['SELECT ts::date AS ts FROM rides WHERE ts <= $b', 'b!'],
  ['SELECT * FROM rides r JOIN stays s ON s.arrives = r.day WHERE s.ts <= $b AND r.day >= $a', 'b! [a'],
  ['SELECT day FROM rides WHERE day < $b UNION ALL SELECT arrives FROM stays WHERE arrives < $b', 'b)'],
  ['SELECT day FROM rides WHERE day < $b UNION ALL SELECT arrives FROM stays WHERE arrives <= $b', 'b?'],
  ['SELECT day FROM rides WHERE day <= $b UNION ALL SELECT day FROM rides WHERE ts <= $b', 'b!'],
  ['SELECT * FROM stays WHERE arrives < $b AND leaves > $a', 'b) (a'],
  ['FROM rides SELECT count(*) WHERE ts < $b', 'b)'],
  ['SELECT *, $b AS until FROM rides', 'b?'],
  // As Trino writes it.
  ["SELECT * FROM rides WHERE ts < date_add('day', 1, $b)", 'b]'],
  ["SELECT * FROM rides WHERE ts < CAST($b AS timestamp(6) with time zone) AT TIME ZONE 'UTC'", 'b)'],
  ["SELECT * FROM rides WHERE ts >= CAST($a AS timestamp) AND ts < CAST($b AS timestamp) + interval '1' day", '[a b]'],
  ['SELECT * FROM rides WHERE date(ts) BETWEEN $a AND $b', '[a b]'],
  ["SELECT * FROM rides WHERE format_datetime(ts, 'yyyy-MM-dd') <= $b", 'b]'],
  ['SELECT * FROM rides WHERE from_unixtime(amount) <= $b', 'b!'],
  ['SELECT * FROM rides WHERE ts < $b FETCH FIRST 5 ROWS ONLY', 'b)'],
]

/** Slots that are moments. */
const ofMoments: Array<[condition: string, read: string]> = [
  ['ts >= $a AND ts < $b', '[a b)'],
  ['ts >= $a AND ts <= $b', '[a b]'],
  ['ts > $a', '(a'],
  ['ts BETWEEN $a AND $b', '[a b]'],
  ['day <= $b', 'b]'],
  ['day < $b', 'b)'],
  ['ts < $b + interval 1 day', 'b]'],
  ['ts::date <= $b::date', 'b]'],
  ['ts <= $b::date', 'b!'],
  ['ts < $b::date + 1', 'b]'],
  ["note->>'at' <= $b", 'b]'],
]

describe('how slots bound a range', () => {
  test.each(ofDays)('days: %s', async (condition, wanted) => expect(await read(where(condition))).toBe(wanted))
  test.each(statements)('%s', async (sql, wanted) => expect(await read(sql)).toBe(wanted))
  test.each(ofMoments)('moments: %s', async (condition, wanted) => {
    expect(await read(where(condition), moment)).toBe(wanted)
  })

  test('the slot has the last word', async () => {
    expect(await read(where('ts <= $b'), { ...day, 'x-bound': 'inclusive' })).toBe('b]')
    expect(await read(where('day <= $b'), { ...day, 'x-bound': 'exclusive' })).toBe('b)')
    expect(await read(where('day < $b'), { type: 'string' })).toBe('b=')
  })
})

/** Statements, and the slots without which they find nothing. */
const needing: Array<[sql: string, needed: string]> = [
  [where('day >= $a AND day < $b'), 'a b'],
  [where('day BETWEEN $a AND $b::date + 1 AND said = $c'), 'a b c'],
  ['SELECT count(*) FROM rides WHERE ts < $b', 'b'],
  ['WITH r AS (SELECT * FROM rides) SELECT * FROM r JOIN stays s ON true WHERE r.ts >= $a', 'a'],
  [where('NOT (day < $a) AND NOT (day > $b)'), 'a b'],
  [where('NOT (day < $a OR day >= $b)'), 'a b'],
  [where('NOT (day < $a AND day >= $b)'), ''],
  [where('day NOT BETWEEN $a AND $b'), ''],
  [where('NOT (day NOT BETWEEN $a AND $b)'), 'a b'],
  [where('day = $a OR ts >= $a'), 'a'],
  ['WITH p AS (SELECT $a::date AS s, $b::date + 1 AS u) SELECT id FROM rides, p WHERE ts >= p.s AND ts < p.u', 'a b'],
  ['WITH p AS (SELECT coalesce($a, current_date) AS s) SELECT id FROM rides, p WHERE ts >= p.s', ''],
  [where('day >= $a AND ($b IS NULL OR day < $b)'), 'a'],
  [where('day >= coalesce($a, day) AND day < $b'), 'b'],
  [where("day >= $a AND (CASE WHEN $a IS NULL THEN 'x' ELSE 'y' END) = said"), ''],
  [where('day >= $a OR day < $b'), ''],
  [where('said IS NOT DISTINCT FROM $a'), ''],
  [where('lower(said) = lower($a)'), ''],
  ['SELECT sum(amount) FILTER (WHERE ts < $b) FROM rides', ''],
  ['SELECT * FROM stays LEFT JOIN (SELECT * FROM rides WHERE ts < $b) x ON true', ''],
  ['SELECT day FROM rides WHERE day < $b UNION ALL SELECT arrives FROM stays', ''],
]

test.each(needing)('%s needs a value', async (sql, needed) => {
  const [comparisons = null] = await readComparisons(settings, [sql])
  const found = comparisons?.flatMap(({ slot, isNeeded }) => (isNeeded ? [slot] : [])) ?? []
  expect([...new Set(found)].sort().join(' ')).toBe(needed)
})

/** What is lost, and the statement that does not lose it. */
const mended: Array<[lossy: string, mended: string | null]> = [
  ['ts <= $b', "ts < $b + interval '1' day"],
  ['ts <= $b::date AND amount > 3', "ts < $b::date + interval '1' day AND amount > 3"],
  ['(ts <= CAST($b AS DATE))', "(ts < CAST($b AS DATE) + interval '1' day)"],
  ['ts <= coalesce($b, current_date) ORDER BY 1', "ts < coalesce($b, current_date) + interval '1' day ORDER BY 1"],
  ['$b >= ts', "$b + interval '1' day > ts"],
  ['ts > $b', 'ts >= $b'],
  ['ts BETWEEN $a AND $b AND amount > 3', "(ts >= $a AND ts < $b + interval '1' day) AND amount > 3"],
  ['rides.ts BETWEEN $a AND $b OR false', "(rides.ts >= $a AND rides.ts < $b + interval '1' day) OR false"],
  ['ts <= $b + interval 1 day', 'ts < $b + interval 1 day'],
  ['ts /* <= */ <= /* ü */ $b -- <=', "ts /* <= */ < /* ü */ $b + interval '1' day -- <="],
  ["note = 'größer' AND ts <= $b", "note = 'größer' AND ts < $b + interval '1' day"],
  ['coalesce(ts, tz) BETWEEN $a AND $b', null],
]

test.each(mended)('%s is mended', async (lossy, wanted) => {
  const sql = where(lossy)
  const [comparisons = null] = await readComparisons(settings, [sql])
  const problem = boundOf('b', day, { comparisons, tables })?.problem
  expect(problem?.reason).toBe('period_end')
  const edits = problem?.edits ?? null
  expect(edits === null ? null : withEdits(sql, edits)).toBe(wanted === null ? null : where(wanted))
  if (wanted !== null) expect(await read(where(wanted))).not.toMatch(/[!?]/)
})

/** A generator of numbers that are the same in every run. */
function dice(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const leaves = [
  '$a',
  '$b',
  'day',
  'ts',
  'rides.ts',
  'said',
  'amount',
  'NULL',
  "'2026-01-01'",
  'current_date',
  '(SELECT $a)',
]
const makers = [
  (x: string) => `CAST(${x} AS DATE)`,
  (x: string) => `(${x})::timestamp`,
  (x: string) => `(${x} + interval 1 day)`,
  (x: string) => `(${x} - interval '1' month)`,
  (x: string) => `date_trunc('month', ${x})`,
  (x: string) => `strftime(${x}, '%Y')`,
  (x: string, y: string) => `coalesce(${x}, ${y})`,
  (x: string, y: string) => `CASE WHEN ${x} IS NULL THEN ${y} ELSE ${x} END`,
  (x: string, y: string) => `(${x} + ${y})`,
  (x: string, y: string) => `least(${x}, ${y})`,
  (x: string) => `(SELECT max(${x}) FROM stays)`,
]
const conditions = [
  (x: string, y: string) => `${x} < ${y}`,
  (x: string, y: string) => `${x} >= ${y}`,
  (x: string, y: string) => `NOT (${x} <= ${y})`,
  (x: string, y: string) => `${x} BETWEEN ${y} AND $b`,
  (x: string, y: string) => `${x} IN (${y}, $a)`,
  (x: string, y: string) => `(${x} > ${y} OR ${y} IS NULL)`,
  (x: string, y: string) => `EXISTS (WITH q AS (SELECT ${x} AS e) SELECT * FROM q WHERE e <= ${y})`,
]

function randomStatement(roll: (below: number) => number): string {
  const pick = <Item>(items: Item[]): Item => items[roll(items.length)] as Item
  const side = (depth: number): string =>
    depth > 3 || roll(3) === 0 ? pick(leaves) : pick(makers)(side(depth + 1), side(depth + 1))
  const parts = Array.from({ length: 1 + roll(3) }, () => pick(conditions)(side(0), side(0)))
  return `SELECT * FROM rides WHERE ${parts.join(pick([' AND ', ' OR ']))}`
}

describe('whatever is written', () => {
  test('is read or left, and never throws', async () => {
    const roll = dice(41)
    const sqls = Array.from({ length: 400 }, () => randomStatement(roll))
    const read = await readComparisons(settings, sqls)
    for (const [at, comparisons] of read.entries()) {
      expect(comparisons, sqls[at]).not.toBeNull()
      for (const schema of [day, moment]) {
        for (const slot of ['a', 'b']) {
          const bound = boundOf(slot, schema, { comparisons, tables })
          const edits = bound?.problem?.edits ?? []
          expect(withEdits(sqls[at] ?? '', edits).length).toBeGreaterThanOrEqual((sqls[at] ?? '').length - 2)
        }
      }
    }
  })

  test('a statement that is none, or is nested without end, is left', async () => {
    const deep = where(`${'('.repeat(3_000)}ts${')'.repeat(3_000)} < $b`)
    const [none, twice] = await readComparisons(settings, ['SELEC', 'SELECT 1; SELECT 2', deep])
    expect([none, twice]).toEqual([null, null])
  })

  test('a tree that another version would write is read as far as it is known', () => {
    const roll = dice(7)
    const values: unknown[] = [null, [], {}, 'x', 3, { class: 'FUNCTION' }, { class: 'COMPARISON' }, { cte_map: null }]
    const tree = (depth: number): unknown => {
      if (depth > 5 || roll(4) === 0) return values[roll(values.length)]
      const keys = 'class type left right children from_table select_list where_clause cte_map lower upper input'.split(
        ' ',
      )
      const kinds = 'SELECT_NODE COMPARE_LESSTHAN BETWEEN COMPARISON CAST COLUMN_REF SUBQUERY CONJUNCTION STAR'.split(
        ' ',
      )
      const child = (): unknown => (roll(2) === 0 ? kinds[roll(kinds.length)] : tree(depth + 1))
      return Object.fromEntries(Array.from({ length: 5 }, () => [keys[roll(keys.length)], child()]))
    }
    const roots = Array.from({ length: 2_000 }, () => tree(0)).filter(
      (root) => typeof root === 'object' && root !== null,
    )
    const read = roots.map((root) => comparisonsOf(root as never, 'SELECT 1'))
    expect(read.every((comparisons) => Array.isArray(comparisons))).toBe(true)
  })
})
