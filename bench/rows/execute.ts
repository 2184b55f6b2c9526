import { createReadStream, createWriteStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { freePort } from '../anchors/spawned.ts'
import { openDuckDb } from '../data.ts'
import { watchPeak } from '../processes.ts'
import { undisturbed } from '../others.ts'
import { median, ratioOf, type Figure } from '../report.ts'
import type { Row } from '../row.ts'
import { manageAt, startServer, type RunningServer } from '../serve.ts'

const megabytes = 100
const rounds = 11

type Source = { name: string; file: string; rows: (size: number) => Generator<string>; read: string; goal: number }

const sources: Source[] = [
  { name: 'JSON', file: 'large.json', rows: jsonRows, read: 'read_json_auto', goal: 0.7 },
  { name: 'CSV', file: 'large.csv', rows: csvRows, read: 'read_csv', goal: 1.2 },
]

/** An answer of 100 MB is fetched, becomes rows and a Parquet file, and a version of a table. */
export const execute: Row = {
  name: 'execute',
  async measure({ worlds, scale }) {
    const folder = await worlds.folder()
    for (const { file, rows } of sources) {
      await pipeline(Readable.from(rows(megabytes * scale)), createWriteStream(join(folder, file)))
    }
    const upstream = await serveFiles(folder)
    const port = await freePort()
    const server = await startServer(join(folder, 'executes'), port, {
      settings: { SLUICE_OUTBOUND_ALLOW: upstream.host },
    })
    try {
      const run = await createRun(port, upstream.host)
      const figures: Figure[] = []
      for (const source of sources) figures.push(...(await measureSource({ source, folder, run, server })))
      return figures
    } finally {
      await server.close()
      upstream.close()
    }
  },
}

type Run = (file: string) => Promise<number>
type Parts = { source: Source; folder: string; run: Run; server: RunningServer }

async function measureSource({ source: { name, file, read, goal }, folder, run, server }: Parts): Promise<Figure[]> {
  const from = `${read}('${join(folder, file)}', sample_size = -1)`
  const cores = availableParallelism()
  const [ours, one, all]: [number[], number[], number[]] = [[], [], []]
  const [restMb, peak] = [server.apiMb(), watchPeak(() => server.apiMb())]
  for (let round = 0; round < rounds; round += 1) {
    const times = await undisturbed(async () => {
      // What was executed before is prepared in the background, at the cost of whoever is measured meanwhile.
      await server.settled()
      return {
        one: await readAlone(from, folder, 1),
        all: await readAlone(from, folder, cores),
        ours: await run(file),
      }
    })
    one.push(times.one)
    all.push(times.all)
    ours.push(times.ours)
  }
  const what = `execute of ${megabytes} MB of ${name}`
  const told = (times: number[]): string => `${(median(times) / 1_000).toFixed(2)} s`
  const beside = (threads: number, theirs: number[]): Omit<Figure, 'goal'> => ({
    what,
    against: `DuckDB reading the file into Parquet, ${threads === 1 ? 'one thread' : `${threads} threads`}`,
    ours: told(ours),
    theirs: told(theirs),
    value: ratioOf(ours, theirs),
    unit: '×',
  })
  return [
    { ...beside(cores, all), goal: { atMost: goal } },
    { ...beside(1, one), goal: null },
    {
      what: `${what}: the API process grows by`,
      against: '–',
      ours: `from ${restMb.toFixed(0)} MB`,
      theirs: '–',
      value: peak.stop() - restMb,
      unit: 'MB',
      goal: { less: 64 },
    },
  ]
}

async function createRun(port: number, host: string): Promise<Run> {
  const manage = manageAt(port)
  const { id: projectId } = await manage('/v1/projects', { name: 'Bench' })
  let count = 0
  const run: Run = async (file) => {
    count += 1
    const startedMs = performance.now()
    await manage('/v1/http/execute-request', {
      project_id: projectId,
      datasource_id: `ds_${count}`,
      connect_spec: { name: 'rows', id: 'http_api', config: {} },
      url: `http://${host}/${file}`,
      method: 'GET',
    })
    return performance.now() - startedMs
  }
  return run
}

async function readAlone(from: string, folder: string, threads: number): Promise<number> {
  const { connection, close } = await openDuckDb(threads)
  const startedMs = performance.now()
  await connection.run(`COPY (SELECT * FROM ${from}) TO '${folder}/bare.parquet' (FORMAT parquet, COMPRESSION zstd)`)
  const tookMs = performance.now() - startedMs
  close()
  return tookMs
}

async function serveFiles(folder: string): Promise<{ host: string; close: () => void }> {
  const server = createServer(({ url = '' }, response) => {
    response.writeHead(200, { 'content-type': url.endsWith('csv') ? 'text/csv' : 'application/json' })
    createReadStream(join(folder, url), { highWaterMark: 262_144 }).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function* jsonRows(size: number): Generator<string> {
  yield '['
  for (let id = 0, bytes = 0; bytes < size * 1e6; id += 1) {
    const row = {
      id,
      name: `Customer ${id}`,
      region: ['north', 'south'][id % 2],
      total: id / 100,
      at: '2026-01-02T03:04:05Z',
      tags: ['a', 'b'],
      nested: { x: id, y: 'text'.repeat(8) },
    }
    const text = `${id === 0 ? '' : ','}${JSON.stringify(row)}`
    bytes += text.length
    yield text
  }
  yield ']'
}

function* csvRows(size: number): Generator<string> {
  yield 'id,name,region,total,at,paid,note\n'
  for (let id = 0, bytes = 0; bytes < size * 1e6; id += 1) {
    const note = id % 5 === 0 ? '"with a comma, and ""quotes"""' : 'text'.repeat(8)
    const text = `${id},Customer ${id},${id % 2 === 0 ? 'north' : 'south'},${(id / 100).toFixed(2)},2026-01-02T03:04:05Z,${id % 3 === 0},${note}\n`
    bytes += text.length
    yield text
  }
}
