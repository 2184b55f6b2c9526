import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Pool } from 'pg'

type FolderRecord = { id: string; directory: string; machine: string; opened_at: Date; objects_url: string | null }

/** Where the files are that the tables name. */
export type FilesPlace = 'folder' | 'bucket'

/**
 * Files lie in the first data folder that is opened on a database, or in a bucket, for good. A process with another
 * folder would answer that they are missing, and take jobs it cannot do; with the bucket any number of processes work.
 */
export async function claimPlaceOfFiles(
  pool: Pool,
  { folderId, dataDir, objectsUrl }: { folderId: string; dataDir: string; objectsUrl: string | undefined },
): Promise<FilesPlace> {
  await pool.query(
    'insert into data_folder (id, directory, machine, objects_url) values ($1, $2, $3, $4) on conflict do nothing',
    [folderId, resolve(dataDir), hostname(), objectsUrl ?? null],
  )
  const { rows } = await pool.query<FolderRecord>(
    'select id, directory, machine, opened_at, objects_url from data_folder',
  )
  const [first] = rows
  if (first === undefined) return objectsUrl === undefined ? 'folder' : 'bucket'
  if (first.objects_url !== null) return inBucket(first.objects_url, objectsUrl)
  if (first.id === folderId) return 'folder'
  throw objectsUrl === undefined ? foreignFolder(first, dataDir) : unmovedFolder(first)
}

/** Every file that a row names is in the bucket: from now on it counts, and the folder is a cache. */
export async function settleInBucket({ pool }: { pool: Pool }, objectsUrl: string): Promise<void> {
  await pool.query('update data_folder set objects_url = $1', [objectsUrl])
}

function inBucket(known: string, asked: string | undefined): FilesPlace {
  if (known === asked) return 'bucket'
  throw new Error(
    `The files of this database are in the bucket ${known}. Set SLUICE_OBJECTS_URL to it. ` +
      `If they were copied to another bucket, run \`update data_folder set objects_url = '…'\` in the database.`,
  )
}

function foreignFolder({ directory, machine, opened_at }: FolderRecord, dataDir: string): Error {
  const since = opened_at.toISOString().slice(0, 10)
  return new Error(
    `This database belongs to another data folder: ${directory} on ${machine}, since ${since}. ` +
      `Its tables name files that ${resolve(dataDir)} does not have. Start on that folder, or give this one a database of its own with SLUICE_DATABASE_URL. ` +
      'If that folder is lost, run `delete from data_folder` in the database: the next start takes it over, and every table has to be fetched again.',
  )
}

function unmovedFolder({ directory, machine }: FolderRecord): Error {
  return new Error(
    `The files of this database are in the data folder ${directory} on ${machine}, not in the bucket yet. ` +
      'Start once on that folder with SLUICE_OBJECTS_URL: it writes them to the bucket, and from then on any number of replicas work.',
  )
}
