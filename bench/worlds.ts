/** Installations with data in them, and servers to compare with, made when a row first needs them. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgres } from './anchors/postgres.ts'
import { freePort, startProgram, type Spawned } from './anchors/spawned.ts'
import { download } from './download.ts'
import { openBenchApp, type Query } from './installation.ts'
import { writeData, type DataFiles } from './data.ts'
import { openQuestionWorld, type QuestionWorld } from './question-world.ts'
import { startServer, type RunningServer } from './serve.ts'

/** `data` has a million rows and `big` ten million, `tables` are the files that the service serves them from. */
export type Installation = DataFiles & { dataDir: string; secret: string; tables: { data: string; big: string } }
export type DataWorld = Installation & { port: number; server: RunningServer }
/** PostgreSQL with the rows of `data`; `serve` starts Fastify over it, for its caller to close. */
export type PostgresWorld = { sockets: string; serve: () => Promise<Spawned> }
export type Worlds = {
  /** Not started: of a data folder there is one service at a time. */
  installation(): Promise<Installation>
  data(): Promise<DataWorld>
  questions(): Promise<QuestionWorld>
  postgres(): Promise<PostgresWorld>
  /** A folder that is gone when the worlds are. */
  folder(): Promise<string>
  /** Closes what was made, so that it takes no time of what is measured next. */
  close(): Promise<void>
}

const limits = { max_rows: 100_000_000, max_bytes: 10_000_000_000 }
const queries: Query[] = [
  { name: 'lookup', sql: 'SELECT * FROM data WHERE id = $id' },
  { name: 'kept', sql: 'SELECT * FROM data WHERE id < 20 ORDER BY id', cache_seconds: 3600 },
  { name: 'everything', sql: 'SELECT * FROM data', ...limits },
  { name: 'part', sql: 'SELECT * FROM data WHERE id < 100000', ...limits },
  { name: 'groups', sql: groupsOf('data') },
  { name: 'groups_of_many', sql: groupsOf('big') },
]

export function groupsOf(table: string, least = '$least'): string {
  return `SELECT region, count(*) AS orders, avg(price) AS average FROM ${table} WHERE quantity >= ${least} GROUP BY region ORDER BY region`
}

export function openWorlds(scale: number): Worlds {
  const closers: Array<() => Promise<unknown>> = []
  const made = new Map<string, Promise<unknown>>()
  const once = <World>(name: string, make: () => Promise<World>): Promise<World> => {
    const known = made.get(name) ?? make()
    made.set(name, known)
    return known as Promise<World>
  }
  const worlds: Worlds = {
    folder: () =>
      once('folder', async () => {
        const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
        await chmod(folder, 0o711)
        closers.push(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
        return folder
      }),
    installation: () =>
      once('installation', async () => {
        const files = await writeData(await worlds.folder(), scale)
        const made = await makeInstallation(files)
        closers.push(() => rm(made.dataDir, { recursive: true, force: true, maxRetries: 10 }))
        return { ...files, ...made }
      }),
    data: () =>
      once('data', async () => {
        const installation = await worlds.installation()
        const port = await freePort()
        const server = await startServer(installation.dataDir, port)
        closers.push(() => server.close())
        // The answers of lookups are written in the background, and until they are, the engine gives them.
        const lookup = { port, secret: installation.secret, path: '/v1/queries/lookup', accept: 'application/json' }
        await download({ ...lookup, body: '{"id":1}' })
        await server.settled()
        return { ...installation, port, server }
      }),
    questions: () =>
      once('questions', async () => {
        const world = await openQuestionWorld(scale)
        closers.push(() => world.close())
        return world
      }),
    postgres: () =>
      once('postgres', async () => {
        const { csvPath } = await worlds.data()
        const postgres = await openPostgres(join(await worlds.folder(), 'postgres'), csvPath)
        closers.push(() => postgres.close())
        const { sockets } = postgres
        const program = join(import.meta.dirname, 'anchors/postgres-server.ts')
        const serve = async (): Promise<Spawned> => {
          const port = await freePort()
          return startProgram(port, '/', { command: process.execPath, args: [program, String(port), sockets] })
        }
        return { sockets, serve }
      }),
    async close() {
      made.clear()
      for (const closer of closers.splice(0).toReversed()) await closer()
    },
  }
  return worlds
}

async function makeInstallation(files: DataFiles) {
  const bench = await openBenchApp({ tables: [], queries: [] })
  try {
    await bench.putParquet({ name: 'data', path: files.dataPath })
    await bench.putParquet({ name: 'big', path: files.bigPath })
    await bench.deploy(queries)
    const { tables } = await bench.app.catalogs.get(bench.projectId)
    const fileOf = (name: string): string => {
      const copy = tables.find((table) => table.name === name)?.copy
      if (copy === null || copy === undefined) throw new Error(`There is no copy of ${name} to serve from.`)
      return bench.app.files.pathOf(copy)
    }
    const { secret, dataDir } = bench
    return { secret, dataDir, tables: { data: fileOf('data'), big: fileOf('big') } }
  } finally {
    await bench.close()
  }
}
