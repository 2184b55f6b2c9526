import { filesOfParts, filesOfTable, localParts, localTable, type CatalogTable, type PartedTable } from './catalog.ts'
import type { CallLimits, Engine } from './executor-engine.ts'
import type * as local from './executor/socket/protocol.ts'
import type { Files, StoredFile } from '../files/stored-files.ts'
import { leasing } from '../files/leasing.ts'

type CheckCall = { rows: StoredFile; whole?: PartedTable; checks: local.RowCheck[] }
type MergeCall = Omit<local.MergeCall, 'table'> & { table: PartedTable | null }
type CompactCall = Omit<local.CompactCall, 'table'> & { table: PartedTable }
type NativeCall = { rows: StoredFile; nativePath: string }
type CastCall = Omit<local.CastCall, 'table'> & { table: CatalogTable }
type DistinctCall = { rows: StoredFile; columns: string[]; cap: number }

/**
 * The engine's door for data: makes tables of what was fetched, whichever engine reads them. What is finished is named
 * by its content, what is being made by a path on this machine.
 */
export type TableBuilder = Pick<Engine, 'appendPage' | 'convert' | 'peek'> & {
  /** What of each check the rows fail. */
  checkRows(scope: string, input: CheckCall, limits?: CallLimits): Promise<local.CheckResult[]>
  /** Brings the rows of a load into a table that is loaded bit by bit. */
  mergeRows(scope: string, input: MergeCall, limits?: CallLimits): Promise<local.Merged>
  /** Several parts of a table as one. */
  compactParts(input: CompactCall, limits?: CallLimits): Promise<local.Compacted>
  /** What each column holds. */
  profile(rows: StoredFile, limits?: CallLimits): Promise<local.Profile>
  /** A read-optimised copy of some rows. */
  buildNative(input: NativeCall, limits?: CallLimits): Promise<{ sizeBytes: number }>
  /** The rows of a table as one Parquet file, with types that its reader has. */
  castTable(input: CastCall, limits?: CallLimits): Promise<{ sizeBytes: number }>
  /** The values of each of some columns by frequency, at most `cap` of one. */
  distinctValues(input: DistinctCall, limits?: CallLimits): Promise<local.DistinctValues[]>
}

export function createTableBuilder(engine: Engine, files: Files): TableBuilder {
  const { pathOf } = files
  return {
    appendPage: (...call) => engine.appendPage(...call),
    convert: (...call) => engine.convert(...call),
    peek: (...call) => engine.peek(...call),
    checkRows: (scope, { rows, whole, checks }, limits) => {
      const call = { parquetPath: pathOf(rows), ...(whole && { whole: localParts(whole, pathOf) }), checks }
      const needed = whole === undefined ? [rows] : [rows, ...filesOfParts(whole)]
      return leasing(files, needed, () => engine.checkRows(scope, call, limits), limits)
    },
    mergeRows: (scope, { table, ...input }, limits) => {
      const call = { ...input, table: table && localParts(table, pathOf) }
      const needed = table === null ? [] : filesOfParts(table)
      return leasing(files, needed, () => engine.mergeRows(scope, call, limits), limits)
    },
    compactParts: ({ table, ...input }, limits) => {
      const call = { ...input, table: localParts(table, pathOf) }
      return leasing(files, filesOfParts(table), () => engine.compactParts(call, limits), limits)
    },
    profile: (rows, limits) => leasing(files, [rows], () => engine.profile(pathOf(rows), limits), limits),
    buildNative: ({ rows, nativePath }, limits) =>
      leasing(files, [rows], () => engine.buildNative({ parquetPath: pathOf(rows), nativePath }, limits), limits),
    castTable: ({ table: { copy: _copy, ...table }, ...input }, limits) =>
      leasing(
        files,
        filesOfTable(table),
        () => engine.castTable({ ...input, table: localTable(table, pathOf) }, limits),
        limits,
      ),
    distinctValues: ({ rows, ...input }, limits) =>
      leasing(files, [rows], () => engine.distinctValues({ parquetPath: pathOf(rows), ...input }, limits), limits),
  }
}
