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
import { download } from '../download.ts'
import { undisturbed } from '../others.ts'
import { median, ratioOf, type Figure } from '../report.ts'
import type { Row } from '../row.ts'
import { openBare } from '../worlds.ts'

const rounds = 21
const part = 'SELECT * FROM native.data WHERE id < 100000'
const dayMs = 86_400_000

/** Makes the same bytes of the same file with DuckDB alone, on one thread, and gives how many they are. */
type Make = (connection: DuckDBConnection, file: string) => Promise<number>
type Format = { name: string; accept: string; against: string; make: Make }

const formats: Format[] = [
  {
    name: 'JSON',
    accept: 'application/json',
    against: 'bare DuckDB, string_agg(to_json)',
    async make(connection) {
      const result = await connection.run(`SELECT string_agg(to_json(r)::VARCHAR, ',') FROM (${part}) r`)
      return Buffer.from(`[${String((await result.getRows())[0]?.[0])}]`).length
    },
  },
  {
    name: 'CSV',
    accept: 'text/csv',
    against: 'bare DuckDB, COPY … (FORMAT csv), and reading the file',
    make: (connection, file) => copied(connection, file, '(FORMAT csv, HEADER true)'),
  },
  {
    name: 'Arrow',
    accept: 'application/vnd.apache.arrow.stream',
    against: 'bare DuckDB, its values as vectors of apache-arrow',
    make: async (connection) => arrowBytes(connection),
  },
  {
    name: 'Parquet',
    accept: 'application/vnd.apache.parquet',
    against: 'bare DuckDB, COPY … (FORMAT parquet), and reading the file',
    make: (connection, file) => copied(connection, file, '(FORMAT parquet, COMPRESSION zstd)'),
  },
]

export const formatsRow: Row = {
  name: 'formats',
  async measure({ worlds }) {
    const world = await worlds.data()
    const folder = await worlds.folder()
    const figures: Figure[] = []
    for (const { name, accept, against, make } of formats) {
      const bare = await openBare(world.tables.data, 1)
      const [ours, theirs]: [number[], number[]] = [[], []]
      let sizeBytes = 0
      for (let round = 0; round < rounds + 2; round += 1) {
        const { bareMs, mine } = await undisturbed(async () => {
          const makeBare = () => timed(() => make(bare.connection, join(folder, `part.${name}`)))
          const call = { ...world, path: '/v1/queries/part', accept }
          if (round % 2 === 0) return { bareMs: await makeBare(), mine: await download(call) }
          const first = await download(call)
          return { bareMs: await makeBare(), mine: first }
        })
        sizeBytes = mine.sizeBytes
        // Two rounds warm both sides up.
        if (round < 2) continue
        ours.push(mine.totalMs)
        theirs.push(bareMs)
      }
      bare.close()
      figures.push({
        what: `100,000 rows × 8 as ${name}, ${(sizeBytes / 1e6).toFixed(1)} MB, to the last byte`,
        against,
        ours: `${median(ours).toFixed(0)} ms`,
        theirs: `${median(theirs).toFixed(0)} ms`,
        value: ratioOf(ours, theirs),
        unit: '×',
        goal: { atMost: 1.15 },
      })
    }
    return figures
  },
}

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
