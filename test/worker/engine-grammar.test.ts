import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allowedFunctions, tableFunctions } from '../../server/engine/executor/inspect/functions.ts'
import { boundReads, refuseForeign } from '../../server/engine/executor/inspect/bound.ts'
import { inspectSql } from '../../server/engine/executor/inspect/inspect.ts'
import { openInstance, withConnection, type Instance } from '../../server/engine/executor/instance/instances.ts'
import { refusedFunctions } from '../../server/engine/executor/inspect/refused-functions.ts'
import { foldName } from '../../server/engine/executor/instance/sql-text.ts'
import { Failure } from '../../server/failure.ts'
import { engineOptions } from '../harness/engine-options.ts'
import { runSql } from './engine-fixture.ts'
import { rounds } from '../harness/rounds.ts'

let dir: string
let instance: Instance

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'grammar-'))
  const paths = { orders: join(dir, 'orders.parquet'), items: join(dir, 'items.parquet') }
  const nativePath = join(dir, 'orders.duckdb')
  await runSql(`COPY (SELECT 1::BIGINT AS k) TO '${paths.orders}'; COPY (SELECT 1::BIGINT AS k) TO '${paths.items}';
    ATTACH '${nativePath}' AS copy; CREATE TABLE copy.data AS SELECT 1::BIGINT AS k; DETACH copy`)
  const columns = [{ name: 'k', type: 'BIGINT' }]
  const tables = [
    { name: 'orders', parquetPath: paths.orders, nativePath, columns },
    { name: 'items', parquetPath: paths.items, columns },
  ]
  const { threads, concurrencyPerExecutor: concurrency, memoryBytes, idleCloseMs, sqlLimits } = engineOptions
  const settings = { tempDir: dir, threads, concurrency, memoryBytes, idleCloseMs, sqlLimits }
  instance = await openInstance({ version: '1', tables }, settings)
})

afterAll(async () => {
  for (const { connection } of instance.idle) connection.closeSync()
  instance.database.closeSync()
  await rm(dir, { recursive: true, force: true })
})

const use = <Result>(work: Parameters<typeof withConnection<Result>>[2]): Promise<Result> =>
  withConnection(instance, { cancelled: false, interrupt: null }, work)

/** What each wall says of a statement: what it reads, `null` for a refusal. */
const judge = (sql: string) =>
  use(async (lease) => {
    const sighting = await inspectSql(lease, instance, sql).catch((error: unknown) => {
      if (error instanceof Failure) return null
      throw error
    })
    return { sighting, reads: await boundReads(lease, instance, sql) }
  })

/** Names that are tables, may be common table expressions, or are the engine's own, however they are spelled. */
const names = fc.constantFrom(
  'orders',
  'Orders',
  '"ITEMS"',
  'items',
  'a',
  'b',
  '"A"',
  'c',
  'orders',
  'items',
  'a',
  'b',
  'duckdb_views',
  'DUCKDB_Databases',
  'pg_class',
  '"sqlite_master"',
  'duckdb_settings()',
  'pragma_version()',
  '"duc\u212adb_views"',
  'information_schema.tables',
  'main.orders',
  'native_0.data',
  'memory.main.items',
)
const cteNames = fc.constantFrom('a', 'b', '"A"', 'c', 'orders', 'duckdb_views', '"duc\u212adb_views"', 'pg_class')
const conditions = fc.constantFrom(
  'true',
  "upper('x') = 'X'",
  'k >= 0',
  'count(*) OVER () > 0',
  '[x FOR x IN [1]][1] = 1',
  "current_setting('threads') <> ''",
  'user IS NULL',
  'current_schema IS NULL',
  "getvariable('a') IS NULL",
  'k.version() IS NULL',
  'len(list_transform([1], lambda x: current_database())) = 1',
)

const { query } = fc.letrec<{ query: string; from: string; condition: string }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    names.map((name) => `SELECT 1 AS k FROM ${name}`),
    fc.tuple(tie('from'), tie('condition')).map(([from, when]) => `SELECT 1 AS k FROM ${from} WHERE ${when}`),
    fc.tuple(tie('from'), tie('condition')).map(([from, when]) => `FROM ${from} SELECT 1 AS k QUALIFY ${when}`),
    fc.tuple(tie('query'), tie('query')).map(([left, right]) => `(${left}) UNION ALL (${right})`),
    fc
      .tuple(cteNames, tie('query'), tie('query'), fc.constantFrom('', 'MATERIALIZED', 'NOT MATERIALIZED'))
      .map(([name, body, rest, how]) => `WITH ${name} AS ${how} (${body}) ${rest}`),
    fc
      .tuple(cteNames, tie('query'), tie('query'), tie('query'))
      .map(([name, seed, step, rest]) => `WITH RECURSIVE ${name} AS ((${seed}) UNION (${step})) ${rest}`),
    // One name for the table, the expression and its use: who may see which of them is the question.
    fc.tuple(cteNames, tie('condition'), fc.constantFrom('', 'RECURSIVE')).map(([name, when, how]) => {
      const step = how === '' ? '' : ` UNION (SELECT 1 AS k FROM ${name})`
      return `WITH ${how} ${name} AS ((SELECT 1 AS k FROM ${name} WHERE ${when})${step}) SELECT 1 AS k FROM ${name.toLowerCase()}`
    }),
    fc
      .tuple(cteNames, cteNames, tie('query'), tie('query'), tie('query'))
      .map(([first, second, one, two, rest]) => `WITH ${first} AS (${one}), ${second} AS (${two}) ${rest}`),
    names.map((name) => `SELECT 1 AS k FROM (PIVOT ${name} ON 1 IN (1) USING count(*))`),
    names.map((name) => `TABLE ${name}`),
  ),
  from: fc.oneof(
    { depthSize: 'small' },
    names,
    tie('query').map((inner) => `(${inner}) AS t`),
    fc.tuple(tie('from'), tie('query')).map(([left, inner]) => `${left}, LATERAL (${inner}) AS u`),
    fc.tuple(tie('from'), names).map(([left, right]) => `${left} POSITIONAL JOIN ${right}`),
    fc.tuple(names, cteNames).map(([name, alias]) => `${name} AS ${alias}`),
    fc.constantFrom('range(3) AS r(k)', 'unnest([1]) AS r(k)', '(VALUES (1)) AS v(k)', "'x.csv'", 'query_table(k)'),
  ),
  condition: fc.oneof(
    { depthSize: 'small' },
    conditions,
    tie('query').map((inner) => `EXISTS (${inner})`),
    tie('query').map((inner) => `(SELECT count(*) FROM (${inner})) >= 0`),
    tie('query').map((inner) => `1 IN (${inner})`),
  ),
}))

describe('SQL from a grammar', () => {
  test('what is accepted reads what was found in the text, by the word of the engine', async () => {
    const seen = { accepted: 0, foreign: 0 }
    await fc.assert(
      fc.asyncProperty(query, async (sql) => {
        const { sighting, reads } = await judge(sql)
        if (reads !== null && reads.foreign !== null) {
          seen.foreign += 1
          expect(sighting, sql).toBeNull()
        }
        if (sighting === null || reads === null) return
        seen.accepted += 1
        expect(
          [...reads.sources].filter((tables) => !tables.some((table) => sighting.tables.has(table))),
          sql,
        ).toEqual([])
      }),
      { numRuns: rounds(300, 3_000), seed: 16, endOnFailure: false },
    )
    // Both kinds were among them, or nothing was shown.
    expect(seen.accepted).toBeGreaterThan(rounds(10, 100))
    expect(seen.foreign).toBeGreaterThan(rounds(10, 100))
  }, 120_000)

  test.each([
    ['SELECT path FROM duckdb_databases()', 'duckdb_databases'],
    ['SELECT sql FROM duckdb_views', 'duckdb_views'],
    ['SELECT * FROM orders WHERE false AND EXISTS (FROM duckdb_settings())', 'duckdb_settings'],
    ["SELECT current_setting('threads')", 'current_setting'],
    ['SELECT current_database()', 'current_database'],
    ['SELECT sum(k) OVER (ORDER BY version()) FROM orders', 'version'],
    ["SELECT json_contains('[]', '1')", 'json_contains'],
  ])('the second wall alone refuses %s', async (sql, name) => {
    const reads = await use((lease) => boundReads(lease, instance, sql))
    expect(reads?.foreign).toBe(name)
    const nothing = {
      tables: new Set<string>(),
      slots: new Set<string>(),
      offsets: new Set<string>(),
      columnRefs: [],
      star: false,
      root: {},
    }
    expect(() => refuseForeign(sql, reads, nothing)).toThrow(`would use ${name}`)
  })

  test('the second wall names the tables, in both of their forms, and refuses those that the first did not see', async () => {
    const sql = 'SELECT * FROM orders, items, range(3) WITH ORDINALITY'
    const reads = await use((lease) => boundReads(lease, instance, sql))
    expect(reads).toEqual({ sources: new Set([['orders'], ['items']]), foreign: null })
    const seen = {
      tables: new Set(['orders']),
      slots: new Set<string>(),
      offsets: new Set<string>(),
      columnRefs: [],
      star: true,
      root: {},
    }
    expect(() => refuseForeign(sql, reads, seen)).toThrow('would use items')
  })
})

describe('the lists of functions', () => {
  test('every function of the engine is allowed or refused, and none is both', async () => {
    const listed = await use(async ({ connection }) => {
      const result = await connection.run(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type IN ('scalar', 'aggregate', 'macro')",
      )
      return (await result.getRows()).map(([name]) => foldName(String(name)))
    })
    const isRefused = (name: string) => refusedFunctions.some(({ pattern }) => pattern.test(name))
    expect(listed.filter((name) => !allowedFunctions.has(name) && !isRefused(name))).toEqual([])
    expect(listed.filter((name) => allowedFunctions.has(name) && isRefused(name))).toEqual([])
    const known = new Set(listed)
    expect([...allowedFunctions].filter((name) => !known.has(name) && !tableFunctions.has(name))).toEqual([])
  })

  test("the engine's own tables all have reserved names", async () => {
    const own = await use(async ({ connection }) => {
      const result = await connection.run(
        "SELECT view_name FROM duckdb_views() WHERE internal AND schema_name <> 'information_schema'",
      )
      return (await result.getRows()).map(([name]) => String(name))
    })
    for (const name of own) {
      const refused = use((lease) => inspectSql(lease, instance, `WITH "${name}" AS (SELECT 1 AS k) SELECT 1`))
      await expect(refused).rejects.toMatchObject({ reason: 'invalid_sql' })
    }
    expect(own.length).toBeGreaterThan(20)
  })
})
