import type { Transaction } from 'kysely'
import { newId } from '../ids.ts'
import type { ColumnRecord, Database, Deletions, LoadRule, Tables } from '../store/index.ts'
import type { CatalogTable, Column, PartedTable } from '../engine/index.ts'
import type { FileFormat, StoredCopy, StoredFile } from '../files/index.ts'

/** An immutable file of rows: a version of a table has one, or several where it is loaded bit by bit. */
export type PartRecord = {
  id: string
  fileHash: string
  sizeBytes: number
  rowCount: number
  columns: ColumnRecord[]
  /** The versions whose loads brought its rows. */
  loads: number[]
  nativeHash: string | null
}

/** Parts of a version. */
export type PartedVersion = {
  columns: ColumnRecord[]
  parts: PartRecord[]
  deletions: Deletions | null
  load: LoadRule
}

/** The parts of versions, each in the order in which it is read. */
export async function readParts(db: Database['db'], dataObjectIds: string[]): Promise<Map<string, PartRecord[]>> {
  const parts = new Map<string, PartRecord[]>()
  if (dataObjectIds.length === 0) return parts
  const rows = await db
    .selectFrom('versionParts')
    .innerJoin('dataParts', 'dataParts.id', 'versionParts.partId')
    .select(['dataObjectId', 'id', 'fileHash', 'sizeBytes', 'rowCount', 'columns', 'loads', 'nativeHash'])
    .where('dataObjectId', 'in', dataObjectIds)
    .orderBy('dataObjectId')
    .orderBy('place')
    .execute()
  for (const { dataObjectId, ...part } of rows) {
    parts.set(dataObjectId, [...(parts.get(dataObjectId) ?? []), part])
  }
  return parts
}

/** A new part, within the transaction of the version that first names it. */
export type NewPart = {
  file: StoredCopy
  rowCount: number
  columns: ColumnRecord[]
  loads: number[]
  native?: StoredCopy | null
}

export async function insertPart(
  transaction: Transaction<Tables>,
  { projectId, datasourceId }: { projectId: string; datasourceId: string },
  { file, rowCount, columns, loads, native = null }: NewPart,
): Promise<PartRecord> {
  const nativeHash = native?.hash ?? null
  const part = { id: newId('dataPart'), fileHash: file.hash, sizeBytes: file.sizeBytes, rowCount, loads, nativeHash }
  await transaction
    .insertInto('dataParts')
    .values({
      ...part,
      projectId,
      datasourceId,
      columns: JSON.stringify(columns),
      nativeBytes: native?.sizeBytes ?? null,
    })
    .execute()
  return { ...part, columns }
}

/** Makes a list of parts what a version consists of, in place of what it did. */
export async function setParts(
  transaction: Transaction<Tables>,
  dataObjectId: string,
  parts: PartRecord[],
): Promise<void> {
  await transaction.deleteFrom('versionParts').where('dataObjectId', '=', dataObjectId).execute()
  if (parts.length === 0) return
  const rows = parts.map((part, place) => ({ dataObjectId, place, partId: part.id }))
  await transaction.insertInto('versionParts').values(rows).execute()
}

/** Parts that no version names any more go; their files go with the next sweep. */
export async function dropUnusedParts(transaction: Transaction<Tables>, datasourceId: string): Promise<void> {
  await transaction
    .deleteFrom('dataParts')
    .where('datasourceId', '=', datasourceId)
    .where((part) =>
      part.not(
        part.exists(
          part.selectFrom('versionParts').select('partId').whereRef('versionParts.partId', '=', 'dataParts.id'),
        ),
      ),
    )
    .execute()
}

const keyOf = ({ name, sourceKey = name }: ColumnRecord): string => sourceKey

/** The files of a part: a part of a load that is not stored yet has no more. */
export type PartFiles = Pick<PartRecord, 'fileHash' | 'columns' | 'nativeHash'>

/** The rows of a version as a table has them: one file where it was loaded whole. */
export function rowsOfVersion({
  fileHash,
  columns,
  parts,
  deletions,
  load,
}: Omit<PartedVersion, 'load' | 'columns'> & {
  fileHash: string
  columns: ColumnRecord[] | null
  load: LoadRule | null
}): Pick<CatalogTable, 'rows' | 'copy' | 'parted'> {
  const [first] = parts
  const rows = storedFile(first?.fileHash ?? fileHash, 'parquet')
  if (load !== null) return { rows, parted: partedTable({ columns: columns ?? [], parts, deletions, load }) }
  return { rows, ...copyOf(first) }
}

function copyOf(part: PartFiles | undefined): { copy?: StoredFile } {
  const hash = part?.nativeHash ?? null
  return hash === null ? {} : { copy: storedFile(hash, 'duckdb') }
}

/** A version by its files. A column is the same in every part by its key in the answer. */
export function partedTable({
  columns,
  parts,
  deletions,
  load,
}: Omit<PartedVersion, 'parts'> & { parts: PartFiles[] }): PartedTable {
  const plain = ({ name, type }: ColumnRecord): Column => ({ name, type })
  const key = keyColumns(columns, load)
  return {
    columns: columns.map(plain),
    parts: parts.map((part, place) => {
      const own = new Map(part.columns.map((column) => [keyOf(column), plain(column)]))
      return {
        rows: storedFile(part.fileHash, 'parquet'),
        ...copyOf(part),
        columns: columns.map((column) => own.get(keyOf(column)) ?? null),
        hasPast: deletions?.inPlaces.includes(place) === true,
      }
    }),
    ...(deletions !== null && { past: storedFile(deletions.hash, 'parquet') }),
    ...(key !== null && { key }),
  }
}

function storedFile(hash: string, format: FileFormat): StoredFile {
  return { hash, format }
}

/** The columns of a key as the table calls them; null where there is none, or it does not tell rows apart. */
function keyColumns(columns: ColumnRecord[], { primaryKey }: LoadRule): string[] | null {
  const names = (primaryKey ?? []).flatMap((key) => columns.find((column) => keyOf(column) === key)?.name ?? [])
  return names.length > 0 && names.length === primaryKey?.length ? names : null
}

/** The columns of a table once rows with others have joined it: none goes, and each is as wide as it came to be. */
export function joinedColumns(before: ColumnRecord[], brought: ColumnRecord[]): ColumnRecord[] {
  const now = new Map(brought.map((column) => [keyOf(column), column]))
  const existing = before.map((column) => {
    const next = now.get(keyOf(column))
    now.delete(keyOf(column))
    return next === undefined || next.untyped === true ? { ...column, ...(next && { name: next.name }) } : next
  })
  return [...existing, ...now.values()]
}

/** Bytes of a version with all its parts, which others may share. */
export function partBytes(parts: PartRecord[], ownBytes: number): number {
  return parts.reduce((sum, part) => sum + part.sizeBytes, ownBytes)
}
