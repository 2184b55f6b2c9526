import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, stat } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { namedFiles } from '../data/index.ts'
import { syncPath, syncTree } from '../process/index.ts'
import { recordFiles, type Bucket, type StoredFile } from '../files/index.ts'
import { requeueUnfinished } from '../jobs/index.ts'
import { openDatabase, restoreTables, type DatabaseOptions } from '../store/index.ts'
import { hashOf } from './make.ts'
import { keyFile, readManifest, type Manifest } from './manifest.ts'

/** `bucket` is null where the files are to be in the data folder. */
type Installation = Omit<DatabaseOptions, 'migrationsDir'> & { bucket: Bucket | null }

/** Makes an installation of a backup, in an empty data folder and database, and brings it to this version. */
export async function restoreBackup(place: Installation, folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder)
  await refuseFilled(place.dataDir)
  for (const path of manifest.files) {
    const from = join(folder, 'files', path)
    if (place.bucket === null) await putFile(from, join(place.dataDir, 'files', path))
    else await putObject(from, place.bucket)
  }
  await putKey(folder, place.dataDir)
  // Files are on disk before the rows that name them.
  await syncTree(place.dataDir)
  await syncPath(dirname(place.dataDir))
  const { tables, migrations } = manifest
  await restoreTables(place, { folder: join(folder, 'tables'), tables, migrations })
  const store = await openDatabase(place)
  try {
    await requeueUnfinished({ store, observe: place.observe })
    if (place.bucket !== null) await recordFiles(store, await namedFiles({ client: store.pool }))
  } finally {
    await store.close()
  }
  return manifest
}

async function refuseFilled(dataDir: string): Promise<void> {
  // As root the database runs as someone else, who has to pass.
  await mkdir(dataDir, { recursive: true, mode: 0o711 })
  if ((await readdir(dataDir)).length > 0) {
    throw new Error(`${dataDir} is not empty: restore into a folder of its own, or move it away first.`)
  }
}

/** Copied, not linked: the backup outlives what becomes of the installation. Its name tells whether it is whole. */
async function putFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await copyFile(from, to)
  if ((await digestOf(to)) !== hashOf(to)) throw new Error(`${from} is damaged: its content is not what its name says.`)
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

async function putObject(from: string, bucket: Bucket): Promise<void> {
  const hash = await digestOf(from)
  if (hash !== hashOf(from)) throw new Error(`${from} is damaged: its content is not what its name says.`)
  const format = extname(from).slice(1) as StoredFile['format']
  const { size: sizeBytes } = await stat(from)
  await bucket.put(from, { hash, format }, { sizeBytes, isDamaged: false })
}

/** Where the key is configured, it is not in the data folder, nor in the backup. */
async function putKey(folder: string, dataDir: string): Promise<void> {
  try {
    await copyFile(join(folder, keyFile), join(dataDir, keyFile))
    await chmod(join(dataDir, keyFile), 0o600)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
}
