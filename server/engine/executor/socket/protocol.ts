import type { ScalarSlotType } from '../../../../api/slots.ts'

/** What the API process and an executor say to each other, and how it looks on the socket between them. */

export type Column = { name: string; type: string }

/** Rows of a table that is loaded bit by bit: its parts one behind the other, less the rows that are past. */
export type LocalPartedTable = {
  /** All of them, those that SQL does not see included. */
  columns: Column[]
  parts: TablePart[]
  /** A file of places and positions: rows that were replaced or deleted. */
  pastPath?: string
  /** Columns whose values tell the rows apart; absent where rows may be alike. */
  key?: string[]
}
/** `columns` are its own in the order of the table's; null where it has none such. */
export type TablePart = { parquetPath: string; nativePath?: string; columns: Array<Column | null>; hasPast: boolean }

/** `columns` are those that SQL sees. */
export type LocalTable = {
  name: string
  parquetPath: string
  nativePath?: string
  /** Instead of the one file, of which `parquetPath` is the first then. */
  parted?: LocalPartedTable
  columns: Column[]
  hiddenColumns?: string[]
}

/** The tables of one scope. Another `version` is another set of files; the same version never changes. */
export type LocalCatalog = {
  version: string
  tables: LocalTable[]
  /** Names of tables that are not among them because the statement does not name them: for whoever misspells one. */
  others?: string[]
}

export type SlotType = ScalarSlotType | `${ScalarSlotType}[]`

/** A value to bind. Integers beyond 2^53 come as decimal text; `null` is an absent slot. */
export type SlotValue = { name: string; type: SlotType; value: unknown }

export type ReadFormat = 'json' | 'ndjson' | 'csv' | 'parquet' | 'arrow'

type ReadLimits = { maxRows: number; maxBytes: number }

export type ReadEnd = { rowCount: number; truncated: boolean; elapsedMs: number }

export type ReadCall = ReadLimits & { sql: string; slots: SlotValue[]; format: ReadFormat; stream: boolean }

/** Slots of SQL that nobody calls yet: a type where the author gave one. */
export type InspectCall = { sql: string; slots: { name: string; type: SlotType }[] }

/**
 * Writes all answers of a statement into a file. `given`: slots that have a value in the calls it is for; the others are
 * NULL. `path` is for something unfinished, in a folder that is there.
 */
export type LookupCall = InspectCall & { given: string[]; path: string; maxBytes: number }
/** `unfit`: it is not known how to write its answers down. `large`: they would fill more than they may. */
export type LookupWritten =
  | { outcome: 'written'; sizeBytes: number; keyCount: number; rowCount: number; elapsedMs: number }
  | { outcome: 'unfit'; reason: string }
  | { outcome: 'large' }

/** One thing that the engine does for a statement. */
export type PlanStep = {
  /** As DuckDB calls it: `HASH_JOIN`. */
  operator: string
  table: string | null
  details: Record<string, string>
  estimatedRows: number | null
}

export type Plan = {
  /** As DuckDB draws it. */
  plan: string
  steps: PlanStep[]
}

export type Inspection = {
  tables: string[]
  columnsByTable: Record<string, string[]>
  slots: { name: string; suggestedType: SlotType }[]
  columns: Column[]
  facets: SqlFacets
}

/** What a statement computes, as far as its syntax tree tells for sure. Columns are in small letters. */
export type SqlFacets = {
  measures: Array<{ kind: 'total' | 'average' | 'count' | 'lowest' | 'highest' | 'median'; column: string | null }>
  /** A row for each of these columns. */
  groups: string[]
  /** A row for each month, day …: units of the calendar. */
  grains: string[]
  /** What comes first in its answer. */
  order: { column: string; direction: 'ascending' | 'descending' } | null
  isLimited: boolean
  /** Only rows whose column has one of these values. */
  filters: Array<{ column: string; values: string[] }>
  /** What each slot is compared with. */
  slots: Record<string, { column: string | null; use: 'equal' | 'least' | 'most' | 'limit' }>
}

/** The body of an API's answer in a file, and what tells how to read it. */
export type AnswerBody = {
  path: string
  contentType: string | undefined
  /** The `responsePathExtractor`. */
  extractor: string | undefined
  maxDepth: number
  /** What it may hold once it is unpacked. */
  maxBytes?: number | undefined
}

/** `columns`: of CSV from earlier pages. */
export type RowsPageCall = {
  body: AnswerBody
  rowsPath: string
  columns: string[] | undefined
  /** Columns that every row of the page begins with, their values as JSON. */
  lead?: Record<string, string> | undefined
}
/** `digest`: of the rows that the page brought. `isOneObject`: they are one object, not a list. */
export type PageRows = {
  rowCount: number
  format: 'ndjson' | 'csv'
  columns: string[] | null
  digest: string
  isOneObject: boolean
}

export type ConvertCall = {
  source:
    /** `wholeMark`: the body is still being written, and whole once there is a file of this name. */
    | ({ kind: 'answer'; wholeMark?: string } & AnswerBody)
    | { kind: 'ndjson'; path: string; isOneObject?: boolean }
    /** `columns` where they are more than the first line of the file names. */
    | { kind: 'csv'; path: string; columns?: string[] }
  parquetPath: string
  /** What the columns are to be; null for a table that is made now. */
  contract: Contract | null
  /** Where values go that the contract turns into null. */
  rejectedPath?: string
}

/** A body that is packed, or no text: what stands in it. Files of its own begin with `workPath`. */
export type PeekCall = { body: AnswerBody; workPath: string; maxChars: number }
/** `text` is bytes, one a character. `isLines`: rows, one a line. `extractor`: what is still to be followed in it. */
export type Peeked = {
  text: string
  contentType: string | undefined
  extractor: string | undefined
  truncated: boolean
  isLines: boolean
}

/** What happens to data that is not as the columns are to be. */
export type OnMismatch = 'widen' | 'hold' | 'null' | 'refuse'
/** `type` is null while no value told it. A declared one is its author's, any other is what the table has now. */
export type ContractColumn = { sourceKey: string; name: string; type: string | null; declared: boolean }
/** `extends`: the rows join those that are there, so that a column is never narrower than it was. */
export type Contract = { columns: ContractColumn[]; onMismatch: OnMismatch; extends?: boolean }

/** `untyped`: no value was seen yet, so that the type says nothing. */
export type ConvertedColumn = Column & { sourceKey: string; untyped?: true }
/** Values of a column that are not what it is to be, and a few of them as they came. */
export type Mismatch = { column: string; expected: string; found: string; count: number; examples: string[] }
export type Converted = {
  rowCount: number
  sizeBytes: number
  columns: ConvertedColumn[]
  /** The answer was one object, not a list of rows. */
  isOneObject: boolean
  mismatches: Mismatch[]
}

export type LooksLike = 'date' | 'email' | 'url' | 'currency' | 'country' | 'identifier'
export type ColumnProfile = Column & {
  nullCount: number
  distinctCount: number
  distinctIsExact: boolean
  min: string | null
  max: string | null
  topValues: { value: string; count: number }[]
  histogram: { from: number; to: number; count: number }[]
  looksLike: LooksLike | null
}
export type Profile = { rowCount: number; columns: ColumnProfile[] }

/** What rows are looked at for. The columns are there. */
export type RowCheck =
  | { type: 'not_null'; column: string }
  | { type: 'unique'; columns: string[] }
  | { type: 'accepted_values'; column: string; values: Array<string | number | boolean> }
  | { type: 'freshness'; column: string }
/** `whole`: of a load that joins others, the table with it. What must hold of each row is asked of the new ones alone. */
export type CheckCall = { parquetPath: string; whole?: LocalPartedTable; checks: RowCheck[] }
/** `newestMs`: of a freshness check, the newest time that the column holds. */
export type CheckResult = { failing: number; examples: string[]; newestMs: number | null }

/** Rows of a load to be brought into a table; `table` is null for one that begins with them. */
export type MergeCall = {
  rowsPath: string
  columns: Column[]
  partPath: string
  pastPath: string
  table: LocalPartedTable | null
  /** Columns of the rows, with the types that the table has after them; empty where rows may be alike. */
  key: Column[]
  marker: { column: string; value: string } | null
  cursor: { column: string; type: string; before: string | null; checkOrder: boolean } | null
  /** Rows whose key is there already are left out, instead of replacing what is there. */
  keepsFirst: boolean
  /** The part gets a column of positions, so that its rows can be past one day. */
  numbered: boolean
}
/** Which rows are past: how many, and in which parts. */
export type Past = { rows: number; inPlaces: number[] }
export type Merged = {
  rowCount: number
  pastRows: number
  /** Null where none came to be past. */
  past: Past | null
  lastValue: string | null
  isOrdered: boolean
  /** Null where the rows are the part as they are. */
  sizeBytes: number | null
}
/** Parts from the place `from` on become one. `past` is what stays past of those before. */
export type CompactCall = {
  table: LocalPartedTable
  from: number
  partPath: string
  pastPath: string
  numbered: boolean
}
export type Compacted = { rowCount: number; sizeBytes: number; past: Past | null }

export type NativeCall = { parquetPath: string; nativePath: string }
/** `columns`: those that are wanted, with the types to write them in. */
export type CastCall = { table: LocalTable; columns: Column[]; path: string }
export type DistinctCall = { parquetPath: string; columns: string[]; cap: number }
export type DistinctValues = { values: { value: string; count: number }[]; capped: boolean }

/** Verbs that run inside a scope's locked instance. */
export type ScopedCall =
  | ({ verb: 'read' } & ReadCall)
  | ({ verb: 'inspect' } & InspectCall)
  | ({ verb: 'writeLookup' } & LookupCall)
  | ({ verb: 'explain' } & { sql: string; slots: SlotValue[] })

/** Verbs on files that belong to us. No SQL of a user is in them. */
export type FileCall =
  | ({ verb: 'convert' } & ConvertCall)
  | ({ verb: 'appendPage' } & RowsPageCall)
  | ({ verb: 'peek' } & PeekCall)
  | ({ verb: 'checkRows' } & CheckCall)
  | { verb: 'profile'; parquetPath: string }
  | ({ verb: 'mergeRows' } & MergeCall)
  | ({ verb: 'compactParts' } & CompactCall)
  | ({ verb: 'buildNative' } & NativeCall)
  | ({ verb: 'castTable' } & CastCall)
  | ({ verb: 'distinctValues' } & DistinctCall)

/**
 * `catalog` is sent when the executor may not know it yet; it answers `catalogUnknown` when it was wrongly left out.
 * `alike` are further calls of the same `read`, each with its own id, slots and answer.
 */
export type ScopedHead = {
  scope: string
  version: string
  catalog?: LocalCatalog
  call: ScopedCall
  alike?: AlikeCall[]
}
export type AlikeCall = { id: number; slots: SlotValue[] }

export type CallHead = ScopedHead | { scope: null; call: FileCall }

/** Of a result whose rows are not in its frame but were left in a file: see `large-rows.ts`. */
export type LeftHead = { leftBytes: number }

/** A `Failure` on its way to the API process. `cause` is for the log alone. */
export type FailedHead = {
  code: 'invalid_query' | 'invalid_request' | 'result_too_large' | 'query_timeout' | 'upstream_error' | 'internal_error'
  reason?: string
  message?: string
  details?: { field: string; message: string }[]
  fields?: Record<string, unknown>
  cause: string
}

/** The most that one statement may be: inspecting, binding and planning it takes time by its size. */
export type SqlLimits = { chars: number; nodes: number; levels: number }

/** How an executor is started: its first argument, as JSON. */
export type ExecutorSettings = {
  tempDir: string
  threads: number
  concurrency: number
  memoryBytes: number
  idleCloseMs: number
  sqlLimits: SqlLimits
}
