import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Client, type ClientConfig } from 'pg'
import type { TestProject } from 'vitest/node'
import { embeddedServer } from '../../server/store/postgres/embedded.ts'
import { readFolderId } from '../../server/store/postgres/places.ts'
import { copyCluster, makePassableFolder } from './data-dir.ts'
import { databaseUrl, dropTemplate, makeTemplate } from './database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The template on the server that this run uses; `createDatabase` copies it. */
    templateUrl: string
    /** The files of a server that was made and stopped; `makeDataDir` copies them. */
    clusterDir: string
    /** For what test processes share and nobody closes; removed when the run is over. */
    scratchDir: string
  }
}

/** Projects whose tests ask for databases. */
const onDatabase = new Set([
  'gate',
  'api',
  'cli',
  'clients',
  'store',
  'worker',
  'objects',
  'redis',
  'trino',
  'upstreams',
  'catalog',
  'mcp',
  'generators',
  'web',
  'timing',
  'timing-web',
  'neighbours',
  'accuracy',
])
/** Projects whose tests start servers of their own, with all their durability. */
const onCluster = new Set(['faults', 'secrets'])

/** One server for the whole run: `TEST_DATABASE_URL` where it is set, else an embedded one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runs = (projects: Set<string>): boolean => project.vitest.projects.some(({ name }) => projects.has(name))
  const closers: Array<() => Promise<void>> = []
  const named = process.env['TEST_DATABASE_URL'] ?? ''
  if (runs(onDatabase)) {
    const scratchDir = await makePassableFolder()
    closers.push(() => rm(scratchDir, { recursive: true, force: true, maxRetries: 10 }))
    project.provide('scratchDir', scratchDir)
  }
  if (runs(onCluster) || (runs(onDatabase) && named === '')) {
    const folder = await makeCluster()
    closers.push(() => rm(folder, { recursive: true }))
    project.provide('clusterDir', join(folder, 'postgres'))
    if (runs(onDatabase) && named === '') {
      const server = await startServer(join(folder, 'postgres'))
      closers.push(server.stop)
      project.provide('templateUrl', await makeTemplate(server.url, migrationsDir))
    }
  }
  if (runs(onDatabase) && named !== '') {
    const template = await makeTemplate(named, migrationsDir)
    closers.push(() => dropTemplate(template))
    project.provide('templateUrl', template)
  }
  return async () => {
    for (const close of closers.toReversed()) await close()
  }
}

const migrationsDir = join(import.meta.dirname, '../../server/store/migrations')

/** A data folder whose server has run once. */
async function makeCluster(): Promise<string> {
  const dataDir = await makePassableFolder()
  const server = await openServer(dataDir)
  await server.ensure(AbortSignal.timeout(30_000))
  await server.stop()
  return dataDir
}

async function startServer(clusterDir: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const dataDir = await makePassableFolder()
  await copyCluster(clusterDir, dataDir)
  const server = await openServer(dataDir)
  await server.ensure(AbortSignal.timeout(30_000))
  await forgetDurability(server.connection)
  return {
    url: databaseUrl(server.connection),
    stop: async () => {
      await server.stop()
      await rm(dataDir, { recursive: true })
    },
  }
}

async function openServer(dataDir: string) {
  const folderId = await readFolderId(dataDir)
  // Test files run side by side, each with apps and pools of its own.
  return embeddedServer({ dataDir, folderId, connections: 200, observe: () => undefined })
}

/** No test of these pulls a plug, and waiting for the disk is a good part of their time; those that do are in `faults`. */
async function forgetDurability(connection: ClientConfig): Promise<void> {
  const client = new Client(connection)
  await client.connect()
  try {
    for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      await client.query(`alter system set ${setting} = off`)
    }
    await client.query('select pg_reload_conf()')
  } finally {
    await client.end()
  }
}
