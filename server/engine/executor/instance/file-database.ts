import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import type { ExecutorSettings } from '../socket/protocol.ts'
import { quoteText } from './sql-text.ts'

/** A DuckDB for our own statements on files. No SQL of a user runs here; the data in the files may still be hostile. */
export async function withFiles<Result>(
  settings: ExecutorSettings,
  paths: string[],
  use: (connection: DuckDBConnection) => Promise<Result>,
): Promise<Result> {
  const database = await DuckDBInstance.create(':memory:', {
    threads: String(settings.threads),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    temp_directory: settings.tempDir,
  })
  try {
    const connection = await database.connect()
    try {
      await connection.run(`SET memory_limit = '${settings.memoryBytes}B'`)
      await connection.run("SET TimeZone = 'UTC'")
      await connection.run(`SET allowed_paths = [${paths.map(quoteText).join(', ')}]`)
      await connection.run('SET enable_external_access = false')
      await connection.run('SET lock_configuration = true')
      return await use(connection)
    } finally {
      connection.closeSync()
    }
  } finally {
    database.closeSync()
  }
}
