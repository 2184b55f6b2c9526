import type { ScalarSlotType } from '../../../../api/slots.ts'
import type { Position, Preview, PreviewAsked } from '../../../rows/index.ts'

/** The messages between the API process and an executor, and how they look on the socket between them. */

export type Column = { name: string; type: string }
/** A count is never null, and stays among the integers that every client reads as numbers. */
export type ResultColumn = Column & { isCount?: true }

/** Rows of a table that is loaded bit by bit: its parts one behind the other, less the rows that are past. */
export type LocalPartedTable = {
  /** All of them, those that SQL does not see included. */
  columns: Column[]
  parts: TablePart[]
  /** A file of places and positions: rows that were replaced or deleted. */
  pastPath?: string
  /** The place of the first part that is read, where it is not the first of all. */
  fromPlace?: number
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

/**
 * A value to bind. Integers beyond 2^53 come as decimal text; `null` is an absent slot. `isPattern`: its `%` and `_` are
 * wildcards in LIKE; without it they stand for themselves.
 */
export type SlotValue = { name: string; type: SlotType; value: unknown; isPattern?: boolean }

export type ReadFormat = 'json' | 'ndjson' | 'csv' | 'parquet' | 'arrow' | 'xlsx'

type ReadLimits = { maxRows: number; maxBytes: number }

export type ReadEnd = { rowCount: number; truncated: boolean; elapsedMs: number }

/** Said before the first part of a stream. The size is known where a file of it was written first. */
export type OpenedHead = { columns: Column[]; sizeBytes: number | null }

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

/** Writes the rows of a statement without slots as a Parquet file: `path` is for something unfinished. */
export type WriteTableCall = { sql: string; path: string; maxRows: number; maxBytes: number }
/** `columns`: as the file has them. */
export type WrittenTable = { rowCount: number; sizeBytes: number; columns: Column[] }

/** One thing that the engine does for a statement. */
export type PlanStep = {
  /** As DuckDB calls it: `HASH_JOIN`. */
  operator: string
  table: string | null
  details: Record<string, string>
  estimatedRows: number | null
}

export type EnginePlan = {
  /** As DuckDB draws it. */
  plan: string
  steps: PlanStep[]
}

export type Inspection = {
  tables: string[]
  columnsByTable: Record<string, string[]>
  slots: { name: string; suggestedType: SlotType }[]
  columns: ResultColumn[]
  facets: SqlFacets
}

/** The computation of a statement, as far as its syntax tree tells for sure. Columns are in small letters. */
export type SqlFacets = {
  measures: Array<{ kind: 'total' | 'average' | 'count' | 'lowest' | 'highest' | 'median'; column: string | null }>
  /** A row for each of these columns. */
  groups: string[]
  /** A row for each month, day …: units of the calendar. */
  grains: string[]
  /** The order of its answer: the first column in it. */
  order: { column: string; direction: 'ascending' | 'descending' } | null
  isLimited: boolean
  /** Only rows whose column has one of these values. */
  filters: Array<{ column: string; values: string[] }>
  /** The column that each slot is compared with. */
  slots: Record<string, { column: string | null; use: 'equal' | 'least' | 'most' | 'limit' }>
}

/** Months, days and milliseconds that are added to a day or a moment. */
export type Shift = { months: number; days: number; ms: number }
export type CalendarUnit = 'day' | 'week' | 'month' | 'quarter' | 'year'

/**
 * The other side of a comparison. `typed`: the column as it is, by its type; `cast`: text of it is made a moment; `day`:
 * cut to the beginning of a unit. `otherwise` holds where no table has the column.
 */
export type ComparedColumn = {
  at: { tables: string[]; column: string } | null
  grain: 'typed' | 'cast' | 'day' | 'moment' | 'unknown'
  unit: CalendarUnit | null
  otherwise: ComparedColumn | null
}

export type TextEdit = { start: number; end: number; text: string }

/**
 * A slot compared with something of a row: `start` of a range is `>` or `>=` of it. `same`: equality. `unread`: it is not
 * understood. `unit`: what the slot is cut to; `isMoment`: it is made a moment.
 */
export type SlotComparison = {
  slot: string
  side: 'start' | 'end' | 'same' | 'unread'
  isStrict: boolean
  shift: Shift
  unit: CalendarUnit | null
  isMoment: boolean
  row: ComparedColumn | null
  /** Changes of the text: the operator the other way, and a day more. */
  edits: { strict: TextEdit[]; day: TextEdit[] } | null
  /** No row passes while the slot is NULL. */
  isNeeded: boolean
}

/** The body of an API's answer in a file, and what tells how to read it. */
export type AnswerBody = {
  path: string
  contentType: string | undefined
  /** The `responsePathExtractor`. */
  extractor: string | undefined
  /** JSON:API: rows are joined with the resources that the answer includes. */
  included?: boolean | undefined
  maxDepth: number
  /** The size limit once it is unpacked. */
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
    /** A file that `writeTable` wrote: it has types already. */
    | ({ kind: 'table'; path: string } & WrittenTable)
  parquetPath: string
  /** The declared columns; null for a table that is made now. */
  contract: Contract | null
  /** Where values go that the contract turns into null. */
  rejectedPath?: string
  look?: RowsLook
}
/**
 * Further looks at rows: the largest time of a field as it was written, and rows that came on two of several
 * pages, by the fields of their key. Without a key a column that is called like one tells them.
 */
export type RowsLook = {
  cursor?: string | undefined
  pages?: { key?: string[] | undefined; firstRows: number } | undefined
}
export type Looked = { cursorText: string | null; repeated: { rows: number; examples: string[] } | null }

/**
 * A body of which a part is shown. `unpacks`: it is packed, or no text, and read as rows; files of its own begin with
 * `workPath`. No more of it is read than `readBytes`, and no more shown than `maxBytes`.
 */
export type PeekCall = Pick<PreviewAsked, 'isCut' | 'hasRows' | 'maxBytes'> & {
  body: AnswerBody
  workPath: string
  unpacks: boolean
  readBytes: number
}
export type Peeked = Preview

/** A page of an answer, the paths to look at in it, and those in the last of its rows. */
export type PageValuesCall = { body: AnswerBody; paths: string[]; rowPaths: string[] }
/** By path, where it leads somewhere. `outline` is null where the page is no JSON. */
export type PageValues = {
  outline: Position[] | null
  values: Record<string, unknown>
  rowValues: Record<string, unknown>
}

/** The treatment of data that does not fit the declared columns. */
export type OnMismatch = 'widen' | 'hold' | 'null' | 'refuse'
/** `type` is null while no value told it. A declared one is its author's, any other is what the table has now. */
export type ContractColumn = { sourceKey: string; name: string; type: string | null; declared: boolean }
/** `extends`: the rows join those that are there, so that a column is never narrower than it was. */
export type Contract = { columns: ContractColumn[]; onMismatch: OnMismatch; extends?: boolean; reshape?: Reshape }

/**
 * How rows are changed before anything of them is stored: values at paths that become columns of their own, values that
 * are left out, and values whose HMAC takes their place, under a key in hex.
 */
export type Reshape = { lifted: string[]; dropped: string[]; hashed: string[]; hashKey: string }

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
  looked?: Looked
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

/** The filters of rows. The columns are there. */
export type RowCheck =
  | { type: 'not_null'; column: string }
  | { type: 'unique'; columns: string[] }
  | { type: 'accepted_values'; column: string; values: Array<string | number | boolean> }
  /** Times behind `untilMs` say nothing about how fresh the others are. */
  | { type: 'freshness'; column: string; untilMs: number }
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
  /** Several rows of one key are refused: none of them is the newest. */
  refusesTwins: boolean
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
  | ({ verb: 'writeTable' } & WriteTableCall)
  | ({ verb: 'explain' } & { sql: string; slots: SlotValue[] })

/** Verbs on files that belong to us, and on SQL as text. No SQL of a user runs in them. */
export type FileVerbs = {
  /** Writes the rows of one page of an answer behind those of the pages before. */
  appendPage: { input: RowsPageCall; result: PageRows }
  /** The answer of an API, or NDJSON (one object a line) or CSV, to Parquet, every value kept. */
  convert: { input: ConvertCall; result: Converted }
  /** The preview of a body for a test of a connection. */
  peek: { input: PeekCall; result: Peeked }
  /** The values at given paths of a page, beside its rows. */
  pageValues: { input: PageValuesCall; result: PageValues }
  /** The failures of each check over the rows of a Parquet file. */
  checkRows: { input: CheckCall; result: CheckResult[] }
  /** Brings the rows of a load into a table that is loaded bit by bit. */
  mergeRows: { input: MergeCall; result: Merged }
  /** Several parts of a table as one. */
  compactParts: { input: CompactCall; result: Compacted }
  /** The profile of each column of a Parquet file. */
  profile: { input: { parquetPath: string }; result: Profile }
  /** A read-optimised copy of a Parquet file, to be named as `nativePath` in a catalog. */
  buildNative: { input: NativeCall; result: { sizeBytes: number } }
  /** The rows of a table as one Parquet file with other types. */
  castTable: { input: CastCall; result: { sizeBytes: number } }
  /** The values of each of some columns by frequency, at most `cap` of one. */
  distinctValues: { input: DistinctCall; result: DistinctValues[] }
  /** How slots bound the rows of statements, told by their text alone; null for what cannot be parsed. */
  readComparisons: { input: { statements: string[] }; result: Array<SlotComparison[] | null> }
}
export type FileCall = { [Verb in keyof FileVerbs]: { verb: Verb } & FileVerbs[Verb]['input'] }[keyof FileVerbs]

/** `catalog` is sent when the executor may not know it yet; it answers `catalogUnknown` when it was wrongly left out. */
export type ScopedHead = { scope: string; version: string; catalog?: LocalCatalog; call: ScopedCall }

export type CallHead = ScopedHead | { scope: null; call: FileCall }

/** The file of a result whose rows are not in its frame: see `large-rows.ts`. */
export type LeftHead = { leftBytes: number }

/** A `Failure` on its way to the API process. `cause` is for the log alone. */
export type FailedHead = {
  code: 'invalid_query' | 'invalid_request' | 'result_too_large' | 'query_timeout' | 'upstream_error' | 'internal_error'
  reason?: string
  message?: string
  details?: { field: string; message: string }[]
  more?: number
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
