import { resolve } from 'node:path'
import { makeBackup, restoreBackup } from './backup/index.ts'
import { readConfig } from './config.ts'
import { openBucket } from './files/index.ts'
import { bucketOptions } from './part-options.ts'

/** `sluice backup <folder>` and `sluice restore <folder>`: the configuration says of which installation. */
async function main(): Promise<void> {
  const [act = '', folder = ''] = process.argv.slice(2)
  const config = readConfig(process.env)
  if ('mistakes' in config) throw new Error(`Configuration: ${config.mistakes.join('; ')}.`)
  const objects = bucketOptions(config)
  const place = {
    bucket: objects === null ? null : await openBucket(objects),
    dataDir: config.dataDir,
    databaseUrl: config.databaseUrl,
    connections: config.limits.databaseConnections,
    timeoutMs: config.limits.databaseTimeoutMs,
    observe: () => undefined,
  }
  const work = act === 'restore' ? restoreBackup(place, resolve(folder)) : makeBackup(place, resolve(folder), Date.now)
  const { tables, files, missing_files: missing, migrations, created_at: at } = await work
  const rows = tables.reduce((sum, each) => sum + each.rows, 0)
  const report = {
    tables: tables.length,
    rows,
    files: files.length,
    missing_files: missing,
    migration: migrations.length,
    at,
  }
  process.stdout.write(`${JSON.stringify(report)}\n`)
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
