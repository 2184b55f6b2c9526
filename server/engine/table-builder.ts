import { filesOfParts, filesOfTable, localParts, localTable, type CatalogTable, type PartedTable } from './catalog.ts'
import type { CallLimits, Engine } from './executor-engine.ts'
import type * as local from './executor/socket/protocol.ts'
import { type Files, type StoredFile, leasing } from '../files/index.ts'

type CheckCall = { rows: StoredFile; whole?: PartedTable; checks: local.RowCheck[] }
type MergeCall = Omit<local.MergeCall, 'table'> & { table: PartedTable | null }
type CompactCall = Omit<local.CompactCall, 'table'> & { table: PartedTable }
type NativeCall = { rows: StoredFile; nativePath: string }
type CastCall = Omit<local.CastCall, 'table'> & { table: CatalogTable }
type DistinctCall = { rows: StoredFile; columns: string[]; cap: number }

export type TableBuilder = ReturnType<typeof createTableBuilder>

/**
 * The engine's door for data: makes tables of what was fetched, whichever engine reads them. What is finished is named
 * by its content, what is being made by a path on this machine. The verbs are those of `FileVerbs`.
 */
export function createTableBuilder(engine: Engine, files: Files) {
  const { pathOf } = files
  const { appendPage, convert, pageValues, peek } = engine
  return {
    appendPage,
    convert,
    pageValues,
    peek,
    checkRows: (scope: string, { rows, whole, checks }: CheckCall, limits?: CallLimits) => {
      const call = { parquetPath: pathOf(rows), ...(whole && { whole: localParts(whole, pathOf) }), checks }
      const needed = whole === undefined ? [rows] : [rows, ...filesOfParts(whole)]
      return leasing(files, needed, () => engine.checkRows(scope, call, limits), limits)
    },
    mergeRows: (scope: string, { table, ...input }: MergeCall, limits?: CallLimits) => {
      const call = { ...input, table: table && localParts(table, pathOf) }
      const needed = table === null ? [] : filesOfParts(table)
      return leasing(files, needed, () => engine.mergeRows(scope, call, limits), limits)
    },
    compactParts: ({ table, ...input }: CompactCall, limits?: CallLimits) => {
      const call = { ...input, table: localParts(table, pathOf) }
      return leasing(files, filesOfParts(table), () => engine.compactParts(call, limits), limits)
    },
    profile: (rows: StoredFile, limits?: CallLimits) =>
      leasing(files, [rows], () => engine.profile({ parquetPath: pathOf(rows) }, limits), limits),
    buildNative: ({ rows, nativePath }: NativeCall, limits?: CallLimits) =>
      leasing(files, [rows], () => engine.buildNative({ parquetPath: pathOf(rows), nativePath }, limits), limits),
    castTable: ({ table: { copy: _copy, ...table }, ...input }: CastCall, limits?: CallLimits) => {
      const call = { ...input, table: localTable(table, pathOf) }
      return leasing(files, filesOfTable(table), () => engine.castTable(call, limits), limits)
    },
    distinctValues: ({ rows, ...input }: DistinctCall, limits?: CallLimits) =>
      leasing(files, [rows], () => engine.distinctValues({ parquetPath: pathOf(rows), ...input }, limits), limits),
  }
}
