import type { Observe } from '../observe.ts'
import type { ColumnRecord, Database, Deletions, LoadRule } from '../store/index.ts'
import type { CatalogTable } from '../engine/catalog.ts'
import type { Files } from '../files/stored-files.ts'
import { partedTable, readParts, type PartRecord } from './parts.ts'

type Parts = { store: Database; files: Files; observe: Observe }

type Served = {
  dataObjectId: string
  datasourceId: string
  version: number
  columns: ColumnRecord[] | null
  truncated: boolean
  createdAt: Date
  checkedAt: Date | null
}
type Version = Served & {
  parquetHash: string
  nativeHash: string | null
  load: LoadRule | null
  deletions: Deletions | null
}
/** A version whose files are what they were when they were written. */
export type WholeVersion = Served & Pick<CatalogTable, 'rows' | 'copy' | 'parted'>

/** How many versions back are looked at for one that is whole. */
const maxVersionsBack = 20

/** The version of each table of a project that SQL is to read. */
export function liveVersions({ store }: Parts, projectId: string): Promise<Version[]> {
  return versions(store).where('rows.projectId', '=', projectId).where('rows.isLive', '=', true).execute()
}

/** The live version, or the last one before it that served and is whole; where none is, the live one, whose reads fail. */
export async function lastWhole(parts: Parts, live: Version): Promise<WholeVersion> {
  const found = await whole(parts, live)
  if (found !== undefined) return found
  const before = versions(parts.store)
    .where('rows.datasourceId', '=', live.datasourceId)
    .where('rows.version', '<', live.version)
    // One that was held was never fit to serve.
    .where('rows.activatedAt', 'is not', null)
    .limit(maxVersionsBack)
  for (const version of await before.execute()) {
    const older = await whole(parts, version)
    if (older !== undefined) return older
  }
  return (await partedVersion(parts, live)) ?? { ...live, rows: { hash: live.parquetHash, format: 'parquet' } }
}

function versions({ db }: Database) {
  return db
    .selectFrom('dataObjects as rows')
    .leftJoin('dataObjects as native', (join) =>
      join
        .onRef('native.datasourceId', '=', 'rows.datasourceId')
        .onRef('native.version', '=', 'rows.version')
        .on('native.kind', '=', 'prepared'),
    )
    .select([
      'rows.id as dataObjectId',
      'rows.datasourceId',
      'rows.version',
      'rows.fileHash as parquetHash',
      'native.fileHash as nativeHash',
      'rows.columns',
      'rows.truncated',
      'rows.createdAt',
      'rows.checkedAt',
      'rows.load',
      'rows.deletions',
    ])
    .where('rows.kind', '=', 'response_data')
    .orderBy('rows.datasourceId')
    .orderBy('rows.version', 'desc')
}

/** The copy for speed where it is whole, else the record it was made from. */
async function whole(parts: Parts, version: Version): Promise<WholeVersion | undefined> {
  if (version.load !== null) return wholeParts(parts, version)
  const { files, observe } = parts
  const { parquetHash, nativeHash, ...served } = version
  const rows = { hash: parquetHash, format: 'parquet' } as const
  if (nativeHash !== null) {
    const copy = { hash: nativeHash, format: 'duckdb' } as const
    if (await files.isIntact(copy)) return { ...served, rows, copy }
    observe({ kind: 'fault', where: 'data files', error: damaged(version, 'its copy for speed', nativeHash) })
  }
  if (await files.isIntact(rows)) return { ...served, rows }
  observe({ kind: 'fault', where: 'data files', error: damaged(version, 'its rows', parquetHash) })
  return undefined
}

/** Null for what is one file. */
async function partedVersion({ store }: Parts, version: Version, found?: PartRecord[]): Promise<WholeVersion | null> {
  const { load, deletions, columns } = version
  if (load === null) return null
  const parts = found ?? (await readParts(store.db, [version.dataObjectId])).get(version.dataObjectId) ?? []
  const parted = partedTable({ columns: columns ?? [], parts, deletions, load })
  return { ...version, rows: { hash: parts[0]?.fileHash ?? version.parquetHash, format: 'parquet' }, parted }
}

/** Every part as its copy or as itself, and what says which of their rows are past. */
async function wholeParts(parts: Parts, version: Version): Promise<WholeVersion | undefined> {
  const { store, files, observe } = parts
  const fault = (what: string, hash: string) =>
    observe({ kind: 'fault', where: 'data files', error: damaged(version, what, hash) })
  const { deletions } = version
  if (deletions !== null && !(await files.isIntact({ hash: deletions.hash, format: 'parquet' }))) {
    fault('the list of its past rows', deletions.hash)
    return undefined
  }
  const found: PartRecord[] = []
  for (const part of (await readParts(store.db, [version.dataObjectId])).get(version.dataObjectId) ?? []) {
    const hasNative = part.nativeHash !== null && (await files.isIntact({ hash: part.nativeHash, format: 'duckdb' }))
    if (part.nativeHash !== null && !hasNative) fault('the copy for speed of a part', part.nativeHash)
    if (!hasNative && !(await files.isIntact({ hash: part.fileHash, format: 'parquet' }))) {
      fault('a part of its rows', part.fileHash)
      return undefined
    }
    found.push(hasNative ? part : { ...part, nativeHash: null })
  }
  return (await partedVersion(parts, version, found)) ?? undefined
}

function damaged({ datasourceId, version }: Version, what: string, hash: string): Error {
  return new Error(
    `Version ${version} of ${datasourceId}: ${what} (${hash}) is damaged or gone. What is whole is served; a refresh brings a new version.`,
  )
}
