import { join } from 'node:path'
import { cacheFolder } from '../../scripts/launch.mjs'

/** Where compiled modules are kept, the server's and those of the command line. */
export function compiledFolder(): string {
  return join(cacheFolder(), 'compiled')
}
