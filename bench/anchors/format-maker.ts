/**
 * `node bench/anchors/format-maker.ts <database> <folder>`: makes the same bytes of the same file as the service with DuckDB
 * alone, on one thread. A process of its own, so that what it takes does not depend on what the bench did before: values
 * of JavaScript take half as long again in a heap that others have filled.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  Bool,
  DateDay,
  Float64,
  Int32,
  Int64,
  Table,
  tableToIPC,
  TimestampMicrosecond,
  Utf8,
  vectorFromArray,
  type DataType,
} from 'apache-arrow'
import type { DuckDBConnection, DuckDBDateValue, DuckDBTimestampValue } from '@duckdb/node-api'
import { openBare } from '../data.ts'

export type FormatName = 'JSON' | 'CSV' | 'Arrow' | 'Parquet'

const part = 'SELECT * FROM native.data WHERE id < 100000'
const dayMs = 86_400_000

/** Gives how many bytes they are. */
type Make = (connection: DuckDBConnection, file: string) => Promise<number>

const makers: Record<FormatName, Make> = {
  async JSON(connection) {
    const result = await connection.run(`SELECT string_agg(to_json(r)::VARCHAR, ',') FROM (${part}) r`)
    return Buffer.from(`[${String((await result.getRows())[0]?.[0])}]`).length
  },
  CSV: (connection, file) => copied(connection, file, '(FORMAT csv, HEADER true)'),
  Arrow: async (connection) => arrowBytes(connection),
  Parquet: (connection, file) => copied(connection, file, '(FORMAT parquet, COMPRESSION zstd)'),
}

const [, , database = '', folder = ''] = process.argv
const { connection } = await openBare(database, 1)
process.on('message', (name: FormatName) => {
  void timed(() => makers[name](connection, join(folder, `part.${name}`))).then((tookMs) => process.send?.(tookMs))
})
process.send?.('ready')

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

async function copied(connection: DuckDBConnection, file: string, options: string): Promise<number> {
  await connection.run(`COPY (${part}) TO '${file}' ${options}`)
  return (await readFile(file)).length
}

/** The binding gives no Arrow: its values are put into vectors, as someone does who embeds it. */
async function arrowBytes(connection: DuckDBConnection): Promise<number> {
  const reader = await connection.runAndReadAll(part)
  const [id, name, price, active, day, at, region, quantity] = reader.getColumns()
  const of = (values: unknown[] | undefined, type: DataType) => vectorFromArray(values ?? [], type)
  const table = new Table({
    id: of(id, new Int64()),
    name: of(name, new Utf8()),
    price: of(price, new Float64()),
    active: of(active, new Bool()),
    day: of(
      day?.map((value) => (value as DuckDBDateValue).days * dayMs),
      new DateDay(),
    ),
    at: of(
      at?.map((value) => Number((value as DuckDBTimestampValue).micros / 1000n)),
      new TimestampMicrosecond(),
    ),
    region: of(region, new Utf8()),
    quantity: of(quantity, new Int32()),
  })
  return tableToIPC(table, 'stream').length
}
