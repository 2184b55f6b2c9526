import type * as local from './executor/socket/protocol.ts'
import type { StoredFile } from '../files/index.ts'

/** The tables of a project by the content of their files. Where those lie on this machine is known to the engine alone. */

/** Rows of a table that is loaded bit by bit: its parts one behind the other, less the rows that are past. */
export type PartedTable = Omit<local.LocalPartedTable, 'parts' | 'pastPath'> & {
  parts: TablePart[]
  /** Places and positions: rows that were replaced or deleted. */
  past?: StoredFile
  /** Columns whose values tell the rows apart; absent where rows may be alike. */
  key?: string[]
}

type TablePart = Omit<local.TablePart, 'parquetPath' | 'nativePath'> & RowFiles

/** The record of some rows, and a copy of it for speed. */
type RowFiles = { rows: StoredFile; copy?: StoredFile }

/** `columns` are those that SQL sees. */
export type CatalogTable = Omit<local.LocalTable, 'parquetPath' | 'nativePath' | 'parted'> &
  RowFiles & {
    /** Instead of the one file, of which `rows` is the first then. */
    parted?: PartedTable
  }

/** The tables of a project. Another `version` is another set of files; the same version never changes. */
export type Catalog = { projectId: string; version: string; tables: CatalogTable[] }

/** Every file that a table is read from, copies for speed included. */
export function filesOfTable({ rows, copy, parted }: Pick<CatalogTable, 'rows' | 'copy' | 'parted'>): StoredFile[] {
  return parted === undefined ? filesOf({ rows, ...(copy && { copy }) }) : filesOfParts(parted)
}

export function filesOfParts({ parts, past, fromPlace = 0 }: PartedTable): StoredFile[] {
  const files = parts.slice(fromPlace).flatMap(filesOf)
  return past === undefined ? files : [...files, past]
}

function filesOf({ rows, copy }: RowFiles): StoredFile[] {
  return copy === undefined ? [rows] : [rows, copy]
}

/** Names the rows of a table, whatever copies there are of them. */
export function nameOfRows({ rows, parted }: CatalogTable): string {
  if (parted === undefined) return rows.hash
  const hashes = parted.parts.slice(parted.fromPlace ?? 0).map((part) => part.rows.hash)
  return (parted.past === undefined ? hashes : [...hashes, parted.past.hash]).join('\n')
}

/** The same files, read the same way, are the same version. */
export function catalogVersion(tables: CatalogTable[]): string {
  return tables.map(tableVersion).sort().join('\n')
}

function tableVersion(table: CatalogTable): string {
  const { name, rows, copy, parted, hiddenColumns = [] } = table
  const files =
    parted === undefined
      ? (copy ?? rows).hash
      : filesOfParts(parted)
          .map(({ hash }) => hash)
          .join(' + ')
  const hidden = hiddenColumns.length === 0 ? '' : ` without ${JSON.stringify(hiddenColumns)}`
  const from = parted?.fromPlace === undefined ? '' : ` from ${parted.fromPlace}`
  return `${name}=${files}${from}${hidden}`
}

type PathOf = (file: StoredFile) => string

/** As an executor reads it. */
export function localTable({ rows, copy, parted, ...rest }: CatalogTable, pathOf: PathOf): local.LocalTable {
  return {
    ...rest,
    ...localRows({ rows, ...(copy && { copy }) }, pathOf),
    ...(parted && { parted: localParts(parted, pathOf) }),
  }
}

export function localParts({ parts, past, ...rest }: PartedTable, pathOf: PathOf): local.LocalPartedTable {
  const { columns, fromPlace } = rest
  return {
    columns,
    ...(fromPlace !== undefined && { fromPlace }),
    parts: parts.map(({ rows, copy, ...part }) => ({ ...part, ...localRows({ rows, ...(copy && { copy }) }, pathOf) })),
    ...(past !== undefined && { pastPath: pathOf(past) }),
  }
}

function localRows({ rows, copy }: RowFiles, pathOf: PathOf): { parquetPath: string; nativePath?: string } {
  return { parquetPath: pathOf(rows), ...(copy !== undefined && { nativePath: pathOf(copy) }) }
}
