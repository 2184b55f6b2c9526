import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Pool } from 'pg'

type Folder = { id: string; directory: string; machine: string; opened_at: Date }

/**
 * The first data folder that is opened on a database has it for good. The tables name files in it: a process with
 * another folder would answer that they are missing, and take jobs it cannot do.
 */
export async function claimForFolder(pool: Pool, folderId: string, dataDir: string): Promise<void> {
  await pool.query('insert into data_folder (id, directory, machine) values ($1, $2, $3) on conflict do nothing', [
    folderId,
    resolve(dataDir),
    hostname(),
  ])
  const { rows } = await pool.query<Folder>('select id, directory, machine, opened_at from data_folder')
  const [first] = rows
  if (first === undefined || first.id === folderId) return
  const since = first.opened_at.toISOString().slice(0, 10)
  throw new Error(
    `This database belongs to another data folder: ${first.directory} on ${first.machine}, since ${since}. ` +
      `Its tables name files that ${resolve(dataDir)} does not have. Start on that folder, or give this one a database of its own with SLUICE_DATABASE_URL. ` +
      'If that folder is lost, run `delete from data_folder` in the database: the next start takes it over, and every table has to be fetched again.',
  )
}
