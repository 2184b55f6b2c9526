import type { Observe } from '../observe.ts'
import type { ColumnRecord, Database } from '../store/index.ts'
import type { Files } from './files.ts'

type Parts = { store: Database; files: Files; observe: Observe }

type Served = {
  datasourceId: string
  version: number
  columns: ColumnRecord[] | null
  truncated: boolean
  createdAt: Date
}
type Version = Served & { parquetHash: string; nativeHash: string | null }
/** A version whose files are what they were when they were written. */
export type WholeVersion = Served & { parquetPath: string; nativePath?: string }

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
  return { ...live, parquetPath: parts.files.pathOf(live.parquetHash, 'parquet') }
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
      'rows.datasourceId',
      'rows.version',
      'rows.fileHash as parquetHash',
      'native.fileHash as nativeHash',
      'rows.columns',
      'rows.truncated',
      'rows.createdAt',
    ])
    .where('rows.kind', '=', 'response_data')
    .orderBy('rows.datasourceId')
    .orderBy('rows.version', 'desc')
}

/** The copy for speed where it is whole, else the record it was made from. */
async function whole({ files, observe }: Parts, version: Version): Promise<WholeVersion | undefined> {
  const { parquetHash, nativeHash, ...served } = version
  const paths = { parquetPath: files.pathOf(parquetHash, 'parquet') }
  if (nativeHash !== null) {
    if (await files.isIntact(nativeHash, 'duckdb')) {
      return { ...served, ...paths, nativePath: files.pathOf(nativeHash, 'duckdb') }
    }
    observe({ kind: 'fault', where: 'data files', error: damaged(version, 'its copy for speed', nativeHash) })
  }
  if (await files.isIntact(parquetHash, 'parquet')) return { ...served, ...paths }
  observe({ kind: 'fault', where: 'data files', error: damaged(version, 'its rows', parquetHash) })
  return undefined
}

function damaged({ datasourceId, version }: Version, what: string, hash: string): Error {
  return new Error(
    `Version ${version} of ${datasourceId}: ${what} (${hash}) is damaged or gone. What is whole is served; a refresh brings a new version.`,
  )
}
