import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where compiled modules are kept, the server's and those of the command line. */
export function compiledFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sluice', 'compiled')
}
