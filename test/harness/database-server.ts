import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, type ClientConfig } from 'pg'
import type { TestProject } from 'vitest/node'
import { embeddedServer } from '../../server/store/embedded.ts'
import { readFolderId } from '../../server/store/places.ts'
import { databaseUrl, dropDatabase, makeTemplate } from './database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The template on the server that this run uses; `createDatabase` copies it. */
    templateUrl: string
  }
}

/** One server for the run of a project: `TEST_DATABASE_URL` where it is set, else an embedded one of its own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const named = process.env['TEST_DATABASE_URL']
  const server = named === undefined || named === '' ? await startServer() : { url: named, stop: async () => {} }
  const template = await makeTemplate(server.url, join(project.vitest.config.root, 'server/store/migrations'))
  project.provide('templateUrl', template)
  return async () => {
    await dropDatabase(template)
    await server.stop()
  }
}

async function startServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-test-'))
  // As root the server runs as someone else, who has to reach it.
  await chmod(dataDir, 0o711)
  const folderId = await readFolderId(dataDir)
  // Test files run side by side, each with apps and pools of its own.
  const server = await embeddedServer({ dataDir, folderId, connections: 200, observe: () => undefined })
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
