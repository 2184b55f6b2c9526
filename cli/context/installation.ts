import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** A program of the server, in a checkout. Both packages replace this module: `scripts/packing.mjs`. */
export function serverProgram(name: string): string {
  return join(root, 'server', `${name}.ts`)
}

export function packageVersion(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version
}
