/** An installation with data and deployed queries, made by an app in this process. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApp } from '../server/app.ts'
import { readConfig } from '../server/config.ts'
import { buildHttp } from '../server/http/index.ts'
import { putParquet, putTable } from '../test/harness/tables.ts'
import { describeParquet } from './data.ts'
import { benchSettings, manageAt } from './serve.ts'

export type Query = { name: string; sql: string; cache_seconds?: number; max_rows?: number; max_bytes?: number }
type Table = { name: string; rows: Iterable<object> }

/** One project, its tables and deployed queries, and a key without limit. */
export async function openBenchApp({ tables, queries }: { tables: Table[]; queries: Query[] }) {
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  await chmod(dataDir, 0o711)
  const config = readConfig(benchSettings(dataDir))
  if ('mistakes' in config) throw new Error(config.mistakes.join('\n'))
  const app = await openApp(config)
  const [http] = await Promise.all([buildHttp(app), app.started])
  await http.listen({ port: 0, host: '127.0.0.1' })
  const { port } = http.server.address() as AddressInfo
  const manage = manageAt(port)
  const { id: projectId } = await manage('/v1/projects', { name: 'Bench' })
  for (const table of tables) await putTable(app, projectId, { ...table, native: true })
  const deploy = async (given: Query[]): Promise<void> => {
    const path = `/v1/projects/${projectId}/queries`
    for (const query of given) {
      await manage(path, query)
      await manage(`${path}/${query.name}/deploy`, {})
    }
  }
  await deploy(queries)
  const permissions = [{ project_id: projectId, environments: '*' }]
  const { secret } = await manage('/v1/api-keys', { name: 'bench', plan: 'unlimited', permissions })
  return {
    app,
    dataDir,
    port,
    projectId,
    secret,
    manage,
    deploy,
    putTable: (id: string, given: Table) => putTable(app, id, given),
    /** A table of a Parquet file, which stays where it is, with a copy to serve from. */
    putParquet: async ({ name, path }: { name: string; path: string }) =>
      putParquet(app, projectId, { name, native: true, ...(await describeParquet(path)) }),
    close: async (): Promise<void> => {
      await http.close()
      await app.close()
    },
    remove: () => rm(dataDir, { recursive: true, force: true, maxRetries: 10 }),
  }
}

/** Fills an installation, and closes it however that ends. */
export async function filled<Result>(
  bench: Awaited<ReturnType<typeof openBenchApp>>,
  fill: () => Promise<Result>,
): Promise<Result> {
  try {
    return await fill()
  } finally {
    await bench.close()
  }
}
