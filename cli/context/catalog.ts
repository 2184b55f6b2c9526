import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { catalogEntry, type CatalogEntry } from '../../api/catalog.ts'

/** Beside the program, in a checkout and in the package. */
const folder = join(import.meta.dirname, '../../catalog')

export type NamedEntry = { name: string; entry: CatalogEntry }

export async function readCatalog(): Promise<NamedEntry[]> {
  const names = (await readdir(folder)).filter((file) => file.endsWith('.yaml')).toSorted()
  return Promise.all(names.map((file) => readEntry(basename(file, '.yaml'))))
}

async function readEntry(name: string): Promise<NamedEntry> {
  return { name, entry: catalogEntry.parse(parse(await readFile(join(folder, `${name}.yaml`), 'utf8'))) }
}
