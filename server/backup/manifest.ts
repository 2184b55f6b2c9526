import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

/** What says that a back-up is whole: written last, by a rename. */
export const manifestFile = 'backup.json'
/** Seals the credentials of external APIs; without it they cannot be opened again. */
export const keyFile = 'secret.key'

const manifest = z.strictObject({
  format: z.literal(1),
  created_at: z.iso.datetime(),
  migrations: z.array(z.strictObject({ number: z.int(), name: z.string(), sha256: z.string() })),
  tables: z.array(
    z.strictObject({
      schema: z.string(),
      name: z.string(),
      columns: z.array(z.string()),
      rows: z.int(),
      file: z.string(),
      partition: z.strictObject({ parent: z.string(), bound: z.string() }).nullable(),
    }),
  ),
  files: z.array(z.string()),
  missing_files: z.array(z.string()),
})
export type Manifest = z.output<typeof manifest>

export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, manifestFile), 'utf8').catch(() => undefined)
  if (text === undefined) throw new Error(`${folder} holds no whole back-up: there is no ${manifestFile} in it.`)
  const parsed = manifest.safeParse(JSON.parse(text))
  if (!parsed.success) throw new Error(`${join(folder, manifestFile)} is not of this version, or damaged.`)
  return parsed.data
}
