/** Writes the table that `bench/engine.ts` reads: `node bench/engine-data.ts <path> <rows>`. */
import { DuckDBInstance } from '@duckdb/node-api'

const [, , path = '', rowCount = '0'] = process.argv
const database = await DuckDBInstance.create(':memory:')
const connection = await database.connect()
await connection.run(`COPY (SELECT i::BIGINT AS id, 'name ' || i AS name, (i * 7) % 1000 / 10.0::DOUBLE AS price, i % 2 = 0 AS active,
  DATE '2020-01-01' + (i % 1000)::INT AS day, TIMESTAMP '2020-01-01' + INTERVAL (i) SECOND AS at,
  ['north', 'south', 'east', 'west'][1 + (i % 4)::INT] AS region, (i % 100)::INT AS quantity FROM range(${rowCount}) t(i))
  TO '${path}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 16384)`)
