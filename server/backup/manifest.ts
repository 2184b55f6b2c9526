import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

/** Proof that a backup is whole: written last, by a rename. */
export const manifestFile = 'backup.json'
/** Seals the credentials of external APIs; without it they cannot be opened again. */
export const keyFile = 'secret.key'

/** Names and bounds become SQL, and paths are written to: a back-up that somebody else made says nothing beyond them. */
const identifier = z.string().regex(/^[a-z_][a-z0-9_]*$/)
const bound = z.string().regex(/^FOR VALUES FROM \('[-0-9:+. ]+'\) TO \('[-0-9:+. ]+'\)$/)

const manifest = z.strictObject({
  format: z.literal(1),
  created_at: z.iso.datetime(),
  migrations: z.array(z.strictObject({ number: z.int(), name: z.string(), sha256: z.string() })),
  tables: z.array(
    z.strictObject({
      schema: z.string().regex(/^(public|sluice_partitions)$/),
      name: identifier,
      columns: z.array(identifier),
      rows: z.int(),
      file: z.string().regex(/^\d+-[a-z0-9_]+\.copy$/),
      partition: z.strictObject({ parent: identifier, bound }).nullable(),
    }),
  ),
  files: z.array(z.string().regex(/^[0-9a-f]{2}\/[0-9a-f]{64}(\.[a-z0-9]+)+$/)),
  missing_files: z.array(z.string()),
})
export type Manifest = z.output<typeof manifest>

export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, manifestFile), 'utf8').catch(() => undefined)
  if (text === undefined) throw new Error(`${folder} holds no whole backup: there is no ${manifestFile} in it.`)
  const parsed = manifest.safeParse(JSON.parse(text))
  if (!parsed.success) throw new Error(`${join(folder, manifestFile)} is not of this version, or damaged.`)
  return parsed.data
}
