import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Plugin } from 'vite'
import { parse } from 'yaml'

const catalogModule = 'virtual:catalog'

/** Makes a module of the entries of the catalog. */
export function catalog(folder: string): Plugin {
  return {
    name: 'sluice-catalog',
    resolveId: (id) => (id === catalogModule ? `\0${catalogModule}` : undefined),
    load(id) {
      if (id !== `\0${catalogModule}`) return undefined
      const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'))
      const entries = files.map((file) => {
        this.addWatchFile(join(folder, file))
        return { name: basename(file, '.yaml'), entry: parse(readFileSync(join(folder, file), 'utf8')) as unknown }
      })
      return `export const entries = ${JSON.stringify(entries)}`
    },
  }
}
