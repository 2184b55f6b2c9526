/**
 * NDJSON to Parquet beside DuckDB's own inference, in one run: `node bench/ingest.ts`. Goal: at most 1.5× the time of
 * `read_json_auto(sample_size=-1)` on the same 100 MB, and this process grows by less than 64 MB.
 */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { openEngine } from '../server/data/index.ts'
import { engineOptions } from '../test/harness/engine-options.ts'

const sizeBytes = 100_000_000
const rounds = 3
const dir = await mkdtemp(join(tmpdir(), 'bench-'))
const path = join(dir, 'rows.ndjson')
await writeRows()
const engine = await openEngine({
  ...engineOptions,
  runDir: join(dir, 'run'),
  concurrencyPerExecutor: 2,
  memoryBytes: 1024 ** 3,
  timeoutMs: 60_000,
})

const beforeBytes = process.memoryUsage.rss()
let peakBytes = beforeBytes
const watch = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
}, 20)
const ours: number[] = []
for (let round = 0; round < rounds; round += 1) {
  const startedMs = performance.now()
  const converted = await engine.convert('bench', {
    source: { kind: 'ndjson', path },
    parquetPath: join(dir, 'ours.parquet'),
    contract: null,
  })
  ours.push(performance.now() - startedMs)
  if (round === 0)
    console.log(converted.rowCount, 'rows', converted.columns.map(({ name, type }) => `${name} ${type}`).join(', '))
}
clearInterval(watch)

const { DuckDBInstance } = await import('@duckdb/node-api')
const database = await DuckDBInstance.create(':memory:')
const connection = await database.connect()
const theirs: number[] = []
for (let round = 0; round < rounds; round += 1) {
  const startedMs = performance.now()
  await connection.run(
    `COPY (SELECT * FROM read_json_auto('${path}', sample_size = -1, format = 'newline_delimited')) TO '${join(dir, 'theirs.parquet')}' (FORMAT parquet, COMPRESSION zstd)`,
  )
  theirs.push(performance.now() - startedMs)
}
const best = (times: number[]): number => Math.min(...times)
console.log(
  `${((await stat(path)).size / 1e6).toFixed(0)} MB  DuckDB ${best(theirs).toFixed(0)} ms  engine ${best(ours).toFixed(0)} ms  ratio ${(best(ours) / best(theirs)).toFixed(2)} (goal ≤ 1.5)`,
)
console.log(`this process grew by ${((peakBytes - beforeBytes) / 1e6).toFixed(0)} MB (goal < 64)`)
await engine.close(5_000)
await rm(dir, { recursive: true, force: true })
process.exit(0)

async function writeRows(): Promise<void> {
  const file = createWriteStream(path)
  let written = 0
  for (let id = 0; written < sizeBytes; id += 1) {
    const line = `${JSON.stringify({
      id,
      name: `customer ${id}`,
      email: `customer${id}@example.org`,
      price: (id % 10_000) / 100,
      active: id % 2 === 0,
      created_at: new Date(1_600_000_000_000 + id * 1_000).toISOString(),
      tags: ['a', 'b', `t${id % 50}`],
      address: {
        city: `city ${id % 500}`,
        zip: String(10_000 + (id % 90_000)),
        geo: { lat: (id % 180) - 90.5, lon: (id % 360) - 180.25 },
      },
      note: id % 3 === 0 ? null : 'some text that is a little longer than the others',
    })}\n`
    written += line.length
    if (!file.write(line)) await once(file, 'drain')
  }
  file.end()
  await finished(file)
}
