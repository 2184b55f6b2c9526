import type { ClientConfig } from 'pg'

/** A PostgreSQL server: our own in the data folder, or one that the configuration names. */
export type Server = {
  kind: 'embedded' | 'external'
  /** How to reach the database in it. */
  connection: ClientConfig
  /** Resolves once the server accepts connections; starts it where it is ours. Throws one clear line otherwise. */
  ensure(signal: AbortSignal): Promise<void>
  /** Removes what killed processes left. Only for the process that holds the data folder. */
  sweep(): Promise<void>
  /** Stops the server where it is ours. */
  stop(): Promise<void>
}
