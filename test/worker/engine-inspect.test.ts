import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Failure } from '../../server/failure.ts'
import { openFixture, runSql, type Fixture } from './engine-fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const inspect = (sql: string, slots: { name: string; type: 'string' | 'integer' }[] = []) =>
  fixture.engine.inspect('project', fixture.catalog, { sql, slots })

const refusal = async (sql: string): Promise<Failure> =>
  inspect(sql).then(
    () => {
      throw new Error(`accepted: ${sql}`)
    },
    (error: Failure) => error,
  )

describe('inspection', () => {
  test('says what to do when the columns depend on a slot', async () => {
    const failure = await refusal('SELECT * FROM range($count)')
    expect(failure).toMatchObject({ code: 'invalid_request', reason: 'invalid_sql' })
    expect(failure.message).toContain('takes no slot')
  })

  test('two tables of the same content, and so of one file, can each be read', async () => {
    const [orders] = fixture.catalog.tables
    if (orders === undefined) throw new Error('no table')
    const twins = { version: 'twins', tables: [orders, { ...orders, name: 'orders_again' }] }
    for (const name of ['orders', 'orders_again']) {
      const found = await fixture.engine.inspect('twins', twins, { sql: `SELECT id FROM ${name}`, slots: [] })
      expect(found.tables).toEqual([name])
    }
  })

  test('names tables, columns, slots and results without running anything', async () => {
    const sql = `WITH recent AS (SELECT * EXCLUDE (paid) FROM orders WHERE placed_at >= $since)
      SELECT region, sum(amount) AS total, count(*) AS n FROM recent
      WHERE ($region IS NULL OR region = $region) AND id IN $ids AND day BETWEEN $first AND $last AND amount > $least
      GROUP BY region ORDER BY total DESC LIMIT $most;`
    expect(await inspect(sql)).toEqual({
      tables: ['orders'],
      columnsByTable: { orders: ['id', 'region', 'amount', 'day', 'placed_at', 'paid'] },
      slots: expect.arrayContaining([
        { name: 'since', suggestedType: 'timestamp' },
        { name: 'region', suggestedType: 'string' },
        { name: 'ids', suggestedType: 'integer[]' },
        { name: 'first', suggestedType: 'date' },
        { name: 'last', suggestedType: 'date' },
        { name: 'least', suggestedType: 'number' },
        { name: 'most', suggestedType: 'integer' },
      ]),
      columns: [
        { name: 'region', type: 'VARCHAR' },
        { name: 'total', type: 'DOUBLE' },
        { name: 'n', type: 'BIGINT', isCount: true },
      ],
      facets: {
        measures: [
          { kind: 'total', column: 'amount' },
          { kind: 'count', column: null },
        ],
        grains: [],
        groups: ['region'],
        filters: [],
        order: { column: 'total', direction: 'descending' },
        isLimited: true,
        slots: {
          since: { column: 'placed_at', use: 'least' },
          region: { column: 'region', use: 'equal' },
          ids: { column: 'id', use: 'equal' },
          first: { column: 'day', use: 'least' },
          last: { column: 'day', use: 'most' },
          least: { column: 'amount', use: 'least' },
          most: { column: null, use: 'limit' },
        },
      },
    })
  })

  test('names what every row of a statement equals, numbers as they are written', async () => {
    const { facets } = await inspect(
      "SELECT id FROM orders WHERE amount = 1.5 AND region IN ('north', 'south') AND paid AND id = -20",
    )
    expect(facets.filters).toEqual([
      { column: 'amount', values: ['1.5'] },
      { column: 'region', values: ['north', 'south'] },
      { column: 'paid', values: ['true'] },
      { column: 'id', values: ['-20'] },
    ])
  })

  test.each([
    ['SELECT id FROM orders WHERE id = $id', 'id', 'integer'],
    ['SELECT id FROM orders WHERE $id = id', 'id', 'integer'],
    ['SELECT id FROM orders WHERE paid = $paid', 'paid', 'boolean'],
    ['SELECT id FROM orders WHERE region LIKE $like', 'like', 'string'],
    ['SELECT id FROM orders WHERE region = ANY($regions)', 'regions', 'string[]'],
    ['SELECT id FROM orders WHERE $least IS NULL OR amount >= $least', 'least', 'number'],
    ['SELECT id FROM orders WHERE $on IS NULL OR day = $on', 'on', 'date'],
    ['SELECT id FROM orders WHERE id = $id::INTEGER', 'id', 'integer'],
    ['SELECT id FROM orders OFFSET $skip', 'skip', 'integer'],
    ['SELECT $word AS word', 'word', 'string'],
  ])('infers the slot of %s', async (sql, name, suggestedType) => {
    expect((await inspect(sql)).slots).toEqual([{ name, suggestedType }])
  })

  test('a declared type wins over the inferred one', async () => {
    const found = await inspect('SELECT $x AS x', [{ name: 'x', type: 'integer' }])
    expect(found).toMatchObject({
      slots: [{ name: 'x', suggestedType: 'integer' }],
      columns: [{ name: 'x', type: 'BIGINT' }],
    })
  })

  test.each([
    [
      'SELECT id\nFROM orders\nWHERE regon = 1',
      { line: 3, column: 7, word: 'regon' },
      /^No column regon\. Did you mean region\?$/,
    ],
    [
      'SELECT o.regon FROM orders o',
      { line: 1, column: 10, word: 'regon' },
      /^No column regon\. Did you mean region\?$/,
    ],
    ['SELECT colour FROM orders', { line: 1, column: 8, word: 'colour' }, /^No column colour\.$/],
    // A slot of an open type does not hide it, in whichever part of the statement it stands.
    [
      'SELECT sum(amuont) FROM orders WHERE $least IS NULL OR amount * 2 > $least',
      { line: 1, column: 12, word: 'amuont' },
      /^No column amuont\. Did you mean amount\?$/,
    ],
    [
      'SELECT id FROM orders WHERE $least IS NULL OR amount * 2 > $least',
      { line: 1, column: 29, word: '$least' },
      /^Say what \$least is, as in \$least::DOUBLE\.$/,
    ],
    [
      'SELECT $word, id FROM orders WHERE $from IS NULL OR day + 1 > $from',
      { line: 1, column: 36, word: '$from' },
      /^Say what \$from is, as in \$from::DATE\.$/,
    ],
    ['SELECT id FROM ordrs', { line: 1, column: 16, word: 'ordrs' }, /no table ordrs; perhaps you meant orders/],
    ["SELECT 'é', id\n  FROM ordrs", { line: 2, column: 8, word: 'ordrs' }, /perhaps you meant orders/],
    ['SELECT\n uper(region) FROM orders', { line: 2, column: 2, word: 'uper' }, /perhaps you meant upper/],
    ['SELECT id FRM orders', { line: 1, column: 15, word: 'orders' }, /syntax error/],
    ['SELECT id FROM orders WHERE', { line: 1 }, /syntax error/],
    ['SELECT * FROM orders WHERE id = ?', { line: 1, column: 33, word: '?' }, /\$name/],
    ['SELECT * FROM orders WHERE id = $1', { line: 1, column: 33, word: '$1' }, /\$name/],
    ['DELETE FROM orders', { line: 1, column: 1, word: 'DELETE' }, /Only a SELECT/],
  ])('points at the word in %s', async (sql, place, message) => {
    const failure = await refusal(sql)
    expect(failure).toMatchObject({ code: 'invalid_request', reason: 'invalid_sql', fields: place })
    expect(failure.details?.[0]).toMatchObject({ field: 'sql', message: expect.stringMatching(message) })
  })

  test('accepts what analysts write', async () => {
    const fine = [
      'FROM orders SELECT region, count(*) GROUP BY ALL ORDER BY ALL',
      "SELECT COLUMNS(c -> c LIKE 'a%') FROM orders LIMIT 1",
      'SELECT region, row_number() OVER (PARTITION BY region ORDER BY amount DESC) AS place FROM orders QUALIFY place <= 3',
      'SELECT * FROM (VALUES (1, 2)) v(a, b), range(3) r(i), unnest([1, 2]) u(x)',
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT * FROM n',
      'SELECT o.id, (SELECT max(i.amount) FROM orders i WHERE i.region = o.region) AS top FROM orders o LIMIT 5',
      "SELECT date_trunc('month', placed_at) AS m, sum(amount) FILTER (WHERE paid) FROM orders GROUP BY m HAVING count(*) > 1",
      "SELECT strftime(day, '%Y-%m'), list(id)[1:3], {'a': 1}.a, [x * 2 for x in [1, 2]] FROM orders GROUP BY 1",
      'SELECT region FROM orders UNION ALL BY NAME SELECT region FROM orders EXCEPT SELECT region FROM orders',
      'SELECT a.id FROM orders a ASOF JOIN orders b ON a.region = b.region AND a.day >= b.day LIMIT 1',
      "SELECT regexp_extract(region, '(n.*)', 1), coalesce(region, 'x'), try_cast(region AS INTEGER) FROM orders",
      'SELECT quantile_cont(amount, 0.9), median(amount), mode(region), approx_count_distinct(id) FROM orders',
      "PIVOT orders ON region IN ('north', 'south') USING sum(amount) GROUP BY paid",
      'SELECT * FROM orders TABLESAMPLE 10 ROWS',
      'SELECT now() - INTERVAL 1 DAY, today(), random() < 2',
      'SELECT "ORDERS".ID FROM "Orders" AS "ORDERS"',
    ]
    for (const sql of fine) {
      await expect(inspect(sql)).resolves.toMatchObject({ slots: [] })
      await expect(fixture.rows(sql)).resolves.toBeInstanceOf(Array)
    }
  })

  test('PIVOT without the values that become columns is refused with what to write', async () => {
    for (const sql of [
      'PIVOT orders ON region USING sum(amount) GROUP BY paid',
      'SELECT * FROM (PIVOT orders ON region USING sum(amount) GROUP BY paid)',
      'WITH p AS (PIVOT orders ON region USING sum(amount) GROUP BY paid) SELECT * FROM p',
      '-- PIVOT x ON y\npivot /* IN */ orders on "region" using sum(amount) group by paid;',
      'PIVOT (SELECT * FROM orders WHERE amount > $least) ON region USING sum(amount)',
    ]) {
      const refusal = {
        reason: 'invalid_sql',
        message: expect.stringContaining("ON region IN ('north', 'south')") as string,
      }
      await expect(inspect(sql)).rejects.toMatchObject(refusal)
      await expect(fixture.rows(sql)).rejects.toMatchObject({ reason: 'invalid_sql' })
    }
    await expect(inspect('DROP TABLE orders')).rejects.toThrow('Only a SELECT can be a query.')
    await expect(inspect('CREATE TABLE x AS PIVOT orders ON region USING count(*)')).rejects.toThrow(
      'Only a SELECT can be a query.',
    )
  })

  test('PIVOT reads nothing that a SELECT could not', async () => {
    for (const sql of [
      'PIVOT duckdb_settings() ON name USING count(*)',
      'PIVOT duckdb_views ON view_name USING count(*)',
      'PIVOT information_schema.tables ON table_name USING count(*)',
      "PIVOT read_csv('/etc/passwd') ON column0 USING count(*)",
      "PIVOT orders ON getenv('HOME') USING count(*)",
      'PIVOT orders ON (SELECT max(path) FROM duckdb_databases()) USING count(*)',
      'PIVOT orders ON region USING count(*); DROP TABLE orders',
      'WITH duckdb_views AS (SELECT 1 AS a) PIVOT duckdb_views ON a USING count(*)',
      'CREATE TABLE x AS PIVOT orders ON region USING count(*)',
    ]) {
      await expect(inspect(sql)).rejects.toMatchObject({ reason: 'invalid_sql' })
      await expect(fixture.rows(sql)).rejects.toBeInstanceOf(Error)
    }
  })

  test('a name that means a function is a column where a table has one', async () => {
    const sql = 'SELECT user, "current_user" FROM people ORDER BY user'
    const columns = ['user', 'current_user'].map((name) => ({ name, type: 'VARCHAR' }))
    const parquetPath = join(fixture.dir, 'people.parquet')
    await runSql(`COPY (SELECT 'ann' AS "user", 'bob' AS "current_user") TO '${parquetPath}'`)
    const catalog = { version: 'people', tables: [{ name: 'people', parquetPath, columns }] }
    expect((await fixture.engine.inspect('people', catalog, { sql, slots: [] })).columns).toEqual(columns)
  })

  test.each([
    [`SELECT id IN (${'0,'.repeat(30_000)}0) FROM orders`, /more than 30000 parts; put long lists/],
    [`SELECT ${'abs('.repeat(250)}1${')'.repeat(250)}`, /nested deeper than 200 levels/],
    [`SELECT '${'x'.repeat(100_000)}'`, /longer than 100000 characters/],
  ])('refuses what is too much, and says what to do: %#', async (sql, message) => {
    expect((await refusal(sql)).message).toMatch(message)
  })

  test('shows the plan', async () => {
    const { plan, steps } = await fixture.engine.explain('project', fixture.catalog, {
      sql: 'SELECT * FROM orders WHERE id = $id',
      slots: [{ name: 'id', type: 'integer', value: 3 }],
    })
    expect(plan).toMatch(/PARQUET_SCAN|READ_PARQUET/i)
    expect(plan).not.toContain(fixture.dir)
    expect(steps.length).toBeGreaterThan(0)
    expect(JSON.stringify(steps)).not.toContain(fixture.dir)
  })
})
