/** The rows that everything is measured with. */
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'

/** Parquet files of the rows, and those of `data` as CSV. */
export type DataFiles = { dataPath: string; bigPath: string; csvPath: string; rowCount: number; bigCount: number }

const [rowCount, bigCount] = [1_000_000, 10_000_000]

export type DuckDb = { connection: DuckDBConnection; connect: () => Promise<DuckDBConnection>; close: () => void }

export async function openDuckDb(threads: number): Promise<DuckDb> {
  const instance = await DuckDBInstance.create(':memory:', { threads: String(threads) })
  const connection = await instance.connect()
  return {
    connection,
    connect: () => instance.connect(),
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

/** DuckDB as someone embeds it who has only this to do, over the very file that the service serves from. */
export async function openBare(path: string, threads: number) {
  const bare = await openDuckDb(threads)
  await bare.connection.run(`ATTACH '${path}' AS native (READ_ONLY)`)
  return bare
}

/** Eight columns of the usual types. */
export async function writeData(folder: string, scale: number): Promise<DataFiles> {
  const counts = { rowCount: Math.round(rowCount * scale), bigCount: Math.round(bigCount * scale) }
  const [dataPath, bigPath, csvPath] = [
    join(folder, 'data.parquet'),
    join(folder, 'big.parquet'),
    join(folder, 'data.csv'),
  ]
  const { connection, close } = await openDuckDb(2)
  const rows = (
    count: number,
  ): string => `SELECT i::BIGINT AS id, 'name ' || i AS name, (i * 7) % 1000 / 10.0::DOUBLE AS price,
    i % 2 = 0 AS active, DATE '2020-01-01' + (i % 1000)::INT AS day, TIMESTAMP '2020-01-01' + INTERVAL (i) SECOND AS at,
    ['north', 'south', 'east', 'west'][1 + (i % 4)::INT] AS region, (hash(i) % 100)::INT AS quantity FROM range(${count}) t(i)`
  const parquet = '(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 16384)'
  await connection.run(`COPY (${rows(counts.rowCount)}) TO '${dataPath}' ${parquet}`)
  await connection.run(`COPY (${rows(counts.bigCount)}) TO '${bigPath}' ${parquet}`)
  await connection.run(`COPY (${rows(counts.rowCount)}) TO '${csvPath}' (FORMAT csv, HEADER true)`)
  close()
  return { dataPath, bigPath, csvPath, ...counts }
}

/** What a Parquet file holds, and a copy of it that may be moved away. */
export async function describeParquet(path: string) {
  const { connection, close } = await openDuckDb(1)
  const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM '${path}'`)
  const counted = await connection.runAndReadAll(`SELECT count(*) AS n FROM '${path}'`)
  const columns = described.getRowObjects().map((row) => {
    const name = String(row['column_name'])
    return { name, type: String(row['column_type']), sourceKey: name }
  })
  const count = Number(counted.getRowObjects()[0]?.['n'])
  close()
  const copy = `${path}.copy`
  await copyFile(path, copy)
  return { columns, rowCount: count, parquetPath: copy }
}
