import { setTimeout as wait } from 'node:timers/promises'
import { Client, type ClientConfig } from 'pg'
import type { Server } from './server.ts'
import { isConnectionError } from './store-failure.ts'

const oldestVersion = 15

/** A server named by `SLUICE_DATABASE_URL`. */
export function externalServer(url: string, timeoutMs: number): Server {
  const connection = { connectionString: url }
  return {
    kind: 'external',
    connection,
    ensure: (signal) => reach(connection, timeoutMs, signal),
    sweep: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  }
}

/** A server that is just starting gets until the limit; a wrong password does not get better by waiting. */
async function reach(connection: ClientConfig, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    const client = new Client({ ...connection, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await refuseOld(client)
      return
    } catch (error) {
      if (isConnectionError(error) && performance.now() + pauseMs < deadline) {
        await wait(pauseMs, undefined, { signal })
        continue
      }
      throw sayWhere(client, error)
    } finally {
      await client.end().catch(() => undefined)
    }
  }
}

async function refuseOld(client: Client): Promise<void> {
  const answer = await client.query<{ version: string; major: number }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int / 10000 as major`,
  )
  const { version, major } = answer.rows[0] ?? { version: 'unknown', major: 0 }
  if (major < oldestVersion) throw new Error(`it is PostgreSQL ${version}, and ${oldestVersion} or newer is needed`)
}

/** Names the address but never the user's password. */
function sayWhere(client: Client, error: unknown): Error {
  const where = `${client.host}:${client.port}, database ${client.database ?? '?'}`
  const why = error instanceof Error ? error.message || String(error) : String(error)
  return new Error(`SLUICE_DATABASE_URL: PostgreSQL at ${where} cannot be used: ${why}.`, { cause: error })
}
