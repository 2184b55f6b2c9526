import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Transaction } from 'kysely'
import { syncPath } from '../../process/index.ts'
import { rewriteColumn, type Database, type Tables } from '../../store/index.ts'
import { openVault, type Vault } from './vault.ts'

type KeyLocation = { store: Database; dataDir: string; secretKey?: string | undefined }

/** A port: a room that keeps sealed secrets seals each of its own anew, and answers how many there were. */
type Reseal = (transaction: Transaction<Tables>, reseal: (sealed: Buffer) => Buffer) => Promise<number>

const keyFile = 'secret.key'
/** A key that a rotation has written but perhaps not yet sealed with. */
const nextKeyFile = 'secret.key.next'

/**
 * Opens the vault with the configured key, else with that of the data folder, made on first use. A key that is not the
 * one the secrets were sealed with is refused here, at the start, and not when the first secret is needed.
 */
export async function openInstalledVault(place: KeyLocation): Promise<Vault> {
  const sealed = await readCheck(place.store)
  const vault = openVault(place.secretKey ?? (await readOrMakeKey(place.dataDir)))
  if (sealed === undefined) {
    await writeCheck(place.store, vault)
    return vault
  }
  if (opens(vault, sealed)) return vault
  if (place.secretKey === undefined) {
    // A rotation was killed after it had sealed everything anew and before its key took its place.
    const next = await readKey(place.dataDir, nextKeyFile)
    if (next !== undefined && opens(openVault(next), sealed)) {
      await rename(join(place.dataDir, nextKeyFile), join(place.dataDir, keyFile))
      return openVault(next)
    }
  }
  const origin = place.secretKey === undefined ? `${keyFile} of the data folder` : 'SLUICE_SECRET_KEY'
  const advice = 'Set SLUICE_SECRET_KEY to that key; processes that share a database share it.'
  throw new Error(`${origin} is not the key that the stored credentials were sealed with. ${advice}`)
}

/**
 * Seals every stored credential with a new key: the one given, where the key is configured, else one that is made and
 * takes the place of the data folder's. Killed at any point, the next start finds a key that fits.
 */
export async function rotateVaultKey(
  place: KeyLocation,
  { reseals, newKey }: { reseals: Reseal[]; newKey?: string | undefined },
): Promise<{ resealed: number }> {
  const before = await openInstalledVault(place)
  const key = newKey ?? randomBytes(32).toString('base64url')
  const after = openVault(key)
  if (place.secretKey === undefined) await writeKey(place.dataDir, nextKeyFile, key)
  const resealed = await place.store.db.transaction().execute(async (transaction) => {
    let count = 0
    for (const each of reseals) count += await each(transaction, (sealed) => after.seal(before.open(sealed)))
    await transaction
      .updateTable('vaultCheck')
      .set({ sealed: after.seal('check') })
      .execute()
    return count
  })
  if (place.secretKey === undefined) {
    await rename(join(place.dataDir, nextKeyFile), join(place.dataDir, keyFile))
    await syncPath(place.dataDir)
  }
  return { resealed }
}

/** The port for secrets that stand in one column of a room's own table. */
export function resealColumn(table: keyof Tables, column: string): Reseal {
  return (transaction, reseal) => rewriteColumn(transaction, { table, column }, reseal)
}

function opens(vault: Vault, sealed: Buffer): boolean {
  try {
    return vault.open(sealed) === 'check'
  } catch {
    return false
  }
}

async function readCheck(store: Database): Promise<Buffer | undefined> {
  return (await store.db.selectFrom('vaultCheck').select('sealed').executeTakeFirst())?.sealed
}

async function writeCheck(store: Database, vault: Vault): Promise<void> {
  await store.db
    .insertInto('vaultCheck')
    .values({ sealed: vault.seal('check') })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

async function readOrMakeKey(dataDir: string): Promise<string> {
  const found = await readKey(dataDir, keyFile)
  if (found !== undefined) return found
  const made = randomBytes(32).toString('base64url')
  await writeKey(dataDir, keyFile, made)
  return made
}

async function readKey(dataDir: string, name: string): Promise<string | undefined> {
  try {
    return (await readFile(join(dataDir, name), 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Written whole under another name first: half a key is no key. */
async function writeKey(dataDir: string, name: string, key: string): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  const draft = join(dataDir, `${name}.draft`)
  await rm(draft, { force: true })
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(`${key}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, join(dataDir, name))
  await syncPath(dataDir)
}
