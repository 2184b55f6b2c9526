import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hostileSql } from '../harness/hostile-sql.ts'
import { openFixture, type Fixture } from './engine-fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture({ executors: 2 })
  await writeFile(join(fixture.dir, 'secret.csv'), 'secret\n42\n')
})
afterAll(() => fixture.close())

describe('hostile SQL', () => {
  test.each(hostileSql.map((sql) => [sql.length > 120 ? `${sql.slice(0, 120)}…` : sql, sql]))('%s', async (_, sql) => {
    const { engine, catalog, dir, rows } = fixture
    const text = sql.replaceAll('DIR', dir)
    const refusal = { code: 'invalid_request', reason: 'invalid_sql' }
    await expect(engine.inspect('project', catalog, { sql: text, slots: [] })).rejects.toMatchObject(refusal)
    await expect(rows(text)).rejects.toMatchObject(refusal)
    await expect(
      engine.stream('project', catalog, { sql: text, slots: [], maxRows: 10, maxBytes: 1_000 }),
    ).rejects.toMatchObject(refusal)
  })

  test('leaves nothing behind and everything working', async () => {
    expect(await fixture.rows('SELECT count(*) AS n FROM orders')).toEqual([{ n: 10_000 }])
    expect((await readdir(fixture.dir)).sort()).toEqual(['orders.parquet', 'run', 'secret.csv'])
    expect(fixture.observed.filter(({ kind }) => kind === 'executor-lost')).toEqual([])
    expect(fixture.engine.health()).toMatchObject({ ready: true, waiting: 0 })
  })
})
