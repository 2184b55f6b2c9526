import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { openEngine, type Engine, type EngineOptions, type ReadInput } from '../../server/engine/index.ts'
import type { LocalCatalog } from '../../server/engine/executor/socket/protocol.ts'
import { engineOptions } from '../harness/engine-options.ts'
import type { Observation } from '../../server/observe.ts'

export type Fixture = {
  dir: string
  engine: Engine
  observed: Observation[]
  catalog: LocalCatalog
  rows: (sql: string, input?: Partial<ReadInput>) => Promise<Record<string, unknown>[]>
  /** Of the executors that are ready, spares left out. */
  pids: () => number[]
  close: () => Promise<void>
}

/** Runs for minutes unless it is stopped, and can be interrupted. */
export const slow = 'SELECT count(*) AS n FROM range(100000000) a(i), range(1000000) b(i) WHERE (a.i * b.i) % 7 = 3'
export const lookup = 'SELECT region FROM orders WHERE id = 4'
export const limits = { slots: [], maxRows: 10, maxBytes: 10_000 }

/** Runs SQL on a DuckDB of the test's own, to make the files that the engine reads. */
export async function runSql(sql: string): Promise<void> {
  const database = await DuckDBInstance.create(':memory:')
  const connection = await database.connect()
  await connection.run(sql)
  connection.closeSync()
  database.closeSync()
}

const orders = `SELECT i::BIGINT AS id, ['north', 'south', 'east'][1 + (i % 3)::INT] AS region, (i * 1.5)::DOUBLE AS amount,
  DATE '2024-01-01' + (i % 365)::INT AS day, TIMESTAMP '2024-01-01' + INTERVAL (i) MINUTE AS placed_at, i % 2 = 0 AS paid FROM range(10000) t(i)`

/** A running engine with real executors and one table, `orders`, of 10,000 rows. */
export async function openFixture(options: Partial<EngineOptions> = {}): Promise<Fixture> {
  const dir = await mkdtemp(join(tmpdir(), 'engine-'))
  const observed: Observation[] = []
  const parquetPath = join(dir, 'orders.parquet')
  await runSql(`COPY (${orders}) TO '${parquetPath}' (FORMAT parquet)`)
  const engine = await openEngine({
    ...engineOptions,
    runDir: join(dir, 'run'),
    observe: (observation) => observed.push(observation),
    ...options,
  })
  await engine.started
  const columns = ['id', 'region', 'amount', 'day', 'placed_at', 'paid']
  const types = ['BIGINT', 'VARCHAR', 'DOUBLE', 'DATE', 'TIMESTAMP', 'BOOLEAN']
  const catalog: LocalCatalog = {
    version: 'v1',
    tables: [
      { name: 'orders', parquetPath, columns: columns.map((name, index) => ({ name, type: types[index] ?? '' })) },
    ],
  }
  const rows: Fixture['rows'] = async (sql, input = {}) => {
    const answer = await engine.read('project', catalog, {
      sql,
      slots: [],
      maxRows: 10_000,
      maxBytes: 50_000_000,
      ...input,
    })
    return JSON.parse(answer.bytes.toString()) as Record<string, unknown>[]
  }
  const close = async (): Promise<void> => {
    await engine.close(2_000)
    await rm(dir, { recursive: true, force: true })
  }
  const pids = (): number[] =>
    engine.health().executors.flatMap(({ pid, ready }) => (ready && pid !== null ? [pid] : []))
  return { dir, engine, observed, catalog, rows, pids, close }
}

/** Waits for a condition instead of for a time. */
export async function eventually(holds: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error('the condition did not come true in time')
    await new Promise((resolve) => {
      setTimeout(resolve, 10)
    })
  }
}
