import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClientBase } from 'pg'
import { inTurn } from './locks.ts'

export type Migration = { number: number; name: string; sql: string; sha256: string }

type Applied = { number: number; name: string; sha256: string }

/** Reads `0001_people.sql`, `0002_….sql`, … in order, without a gap. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).sort()
  return Promise.all(
    files.map(async (file, index) => {
      const [, digits, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? []
      if (digits === undefined || name === undefined) throw new Error(`${file} is no migration: 0001_name.sql is.`)
      const number = Number(digits)
      if (number !== index + 1) throw new Error(`Migrations count 1, 2, 3…: ${file} is where ${index + 1} is expected.`)
      // A checkout that changes line ends does not change the migration.
      const sql = (await readFile(join(folder, file), 'utf8')).replaceAll('\r\n', '\n')
      return { number, name, sql, sha256: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

/**
 * Brings the database forward, one transaction a migration. Starters that come together take turns, and each
 * migration runs once. A database that is not a prefix of `migrations` is refused before anything is changed.
 */
export async function migrate(client: ClientBase, migrations: Migration[]): Promise<{ from: number; to: number }> {
  return inTurn(client, 'migrations', async () => {
    const applied = await readApplied(client)
    refuseStrange(applied, migrations)
    const from = applied.length
    for (const migration of migrations.slice(from)) await apply(client, migration)
    return { from, to: migrations.length }
  })
}

async function readApplied(client: ClientBase): Promise<Applied[]> {
  const table = await client.query<{ there: boolean }>(`select to_regclass('sluice_migrations') is not null as there`)
  if (table.rows[0]?.there !== true) return []
  const { rows } = await client.query<Applied>('select number, name, sha256 from sluice_migrations order by number')
  return rows
}

function refuseStrange(applied: Applied[], migrations: Migration[]): void {
  if (applied.length > migrations.length)
    throw new Error(
      `The database is at migration ${applied.length} and this version knows ${migrations.length}: start the newer version.`,
    )
  for (const [index, row] of applied.entries()) {
    const known = migrations[index]
    const file = `${String(row.number).padStart(4, '0')}_${row.name}.sql`
    if (known?.number !== row.number || known.name !== row.name)
      throw new Error(`The database has applied ${file}, which this version does not have.`)
    if (known.sha256 !== row.sha256)
      throw new Error(`${file} was changed after it was applied: undo the change and add a new migration.`)
  }
}

async function apply(client: ClientBase, { number, name, sql, sha256 }: Migration): Promise<void> {
  await client.query('begin')
  try {
    await client.query(
      `create table if not exists sluice_migrations (
         number integer primary key, name text not null, sha256 text not null,
         applied_at timestamptz not null default now())`,
    )
    await client.query(sql)
    await client.query('insert into sluice_migrations (number, name, sha256) values ($1, $2, $3)', [
      number,
      name,
      sha256,
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`Migration ${number} (${name}) failed: ${why}`, { cause: error })
  }
}
