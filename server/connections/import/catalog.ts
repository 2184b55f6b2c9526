import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { catalogEntry, type CatalogEntry } from '../../../api/catalog.ts'

const folder = join(import.meta.dirname, '../../../catalog')

type Named = { name: string; entry: CatalogEntry }

let reading: Promise<Named[]> | undefined

/** The APIs that are ready to connect. They come with the program, so they are read once. */
export function catalogEntries(): Promise<Named[]> {
  reading ??= readAll().catch((error: unknown) => {
    reading = undefined
    throw error
  })
  return reading
}

async function readAll(): Promise<Named[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml')).toSorted()
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(folder, file), 'utf8')
      return { name: basename(file, '.yaml'), entry: catalogEntry.parse(parse(text)) }
    }),
  )
}
