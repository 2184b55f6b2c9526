import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'

/** For the environment of a child process, which inherits none: where this process keeps its compiled modules. */
export function compileCache(): { NODE_COMPILE_CACHE?: string } {
  const folder = getCompileCacheDir()
  // Node answers the folder of its own version, inside the one that was named.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

/** A program beside a module, as the module itself is: TypeScript in a checkout, JavaScript in the package. */
export function programBeside(moduleUrl: string, name: string): URL {
  return new URL(`${name}${extname(moduleUrl)}`, moduleUrl)
}
