import { readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(import.meta.url)

/** A program of the server, as this file is: TypeScript in a checkout, JavaScript in the package. */
export function serverProgram(name: string): string {
  return join(dirname(here), '../../server', `${name}${extname(here)}`)
}

/** The version of the package that this is a part of. */
export function packageVersion(): string {
  for (const up of ['../..', '../../..']) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(dirname(here), up, 'package.json'), 'utf8')) as {
        name: string
        version: string
      }
      if (name === 'sluice') return version
    } catch {
      // It is one folder further up in the package.
    }
  }
  return 'unknown'
}
