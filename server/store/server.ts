import type { ClientConfig } from 'pg'

/** A PostgreSQL server: our own in the data folder, or one that the configuration names. */
export type Server = {
  kind: 'embedded' | 'external'
  /** How to reach the database in it. */
  connection: ClientConfig
  /** Resolves once the server accepts connections; starts it where it is ours. Throws one clear line otherwise. */
  ensure(): Promise<void>
  /** Called by the process that holds the data folder, when it has the server for itself. */
  sweep(): void
  /** Stops the server where it is ours. */
  stop(): Promise<void>
}
