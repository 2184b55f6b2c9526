import { columnNameOf } from '../../../../api/column-names.ts'
import { sayType } from '../../../text/words.ts'
import type { ChangeTableSchema, Check, TableSchema } from '../shared/wire.ts'

type SchemaColumn = TableSchema['columns'][number]

/** A column as it stands in the form. */
export type ColumnDraft = {
  sourceName: string
  name: string
  /** Empty: as the data has it. */
  type: string
  hidden: boolean
  /** Empty: as it comes. */
  onLoad: '' | 'drop' | 'hash'
  description: string
}

export type ContractDraft = {
  columns: ColumnDraft[]
  onMismatch: TableSchema['on_mismatch']
  onBreaking: TableSchema['on_breaking']
  checks: Check[]
}

export function draftOf(schema: TableSchema): ContractDraft {
  return {
    columns: schema.columns.map((column) => ({
      sourceName: column.source_name,
      name: column.name,
      type: column.declared ? (column.type ?? '') : '',
      hidden: column.hidden,
      onLoad: column.on_load ?? '',
      description: column.description ?? '',
    })),
    onMismatch: schema.on_mismatch,
    onBreaking: schema.on_breaking,
    checks: schema.checks,
  }
}

type ColumnChange = NonNullable<ChangeTableSchema['columns']>[number]

/** The changes of the draft that the schema lacks, as the API takes them; null where there are none. */
export function changesOf(schema: TableSchema, draft: ContractDraft): ChangeTableSchema | null {
  const before = draftOf(schema)
  const columns = draft.columns.flatMap((column): ColumnChange[] => {
    const known = before.columns.find(({ sourceName }) => sourceName === column.sourceName)
    const change: ColumnChange = {
      source_name: column.sourceName,
      ...(column.name.trim() !== (known?.name ?? '') && { name: nameOf(column) }),
      ...(column.type !== (known?.type ?? '') && { type: column.type === '' ? null : column.type }),
      ...(column.hidden !== (known?.hidden ?? false) && { hidden: column.hidden }),
      ...(column.onLoad !== (known?.onLoad ?? '') && { on_load: column.onLoad === '' ? null : column.onLoad }),
      ...(column.description.trim() !== (known?.description ?? '') && {
        description: column.description.trim() || null,
      }),
    }
    // A path that is added becomes a column by being named, even where nothing else is said of it.
    if (known === undefined) return [{ ...change, name: nameOf(column) ?? columnNameOf(column.sourceName) }]
    return Object.keys(change).length > 1 ? [change] : []
  })
  const changes: ChangeTableSchema = {
    ...(columns.length > 0 && { columns }),
    ...(draft.onMismatch !== before.onMismatch && { on_mismatch: draft.onMismatch }),
    ...(draft.onBreaking !== before.onBreaking && { on_breaking: draft.onBreaking }),
    ...(JSON.stringify(draft.checks) !== JSON.stringify(before.checks) && { checks: draft.checks }),
  }
  return Object.keys(changes).length === 0 ? null : changes
}

/** An empty name, or the key itself, takes the renaming back. */
function nameOf({ name, sourceName }: ColumnDraft): string | null {
  const plain = name.trim()
  return plain === '' || plain === sourceName ? null : plain
}

/** A value inside an object, as a new column of the form. */
export function addedColumn(path: string): ColumnDraft {
  return { sourceName: path, name: columnNameOf(path), type: '', hidden: false, onLoad: '', description: '' }
}

export const onLoadChoices: Array<{ value: ColumnDraft['onLoad']; label: string }> = [
  { value: '', label: 'Store' },
  { value: 'hash', label: 'Hash' },
  { value: 'drop', label: 'Drop' },
]

/** Whether the data that serves has not followed the contract yet: names and types hold from the next load on. */
export function isAhead(column: SchemaColumn): boolean {
  const { name, type, hidden, on_load: onLoad, source_name: sourceName } = column
  const { live_name: liveName, live_type: liveType } = column
  if (onLoad === 'drop') return liveName !== null
  // A value that is hashed inside a list is no column of its own.
  if (liveName === null && sourceName.includes('*')) return false
  return (
    !hidden && (liveName === null || liveName !== name || (type !== null && liveType !== null && liveType !== type))
  )
}

export const columnTypes = [
  { value: 'VARCHAR', label: 'Text' },
  { value: 'BIGINT', label: 'Integer' },
  { value: 'DOUBLE', label: 'Number' },
  { value: 'DECIMAL(18,2)', label: 'Decimal, 2 places' },
  { value: 'DECIMAL(18,4)', label: 'Decimal, 4 places' },
  { value: 'BOOLEAN', label: 'True or false' },
  { value: 'DATE', label: 'Date' },
  { value: 'TIMESTAMP', label: 'Time' },
  { value: 'TIMESTAMPTZ', label: 'Time with its zone' },
  { value: 'JSON', label: 'Object or list' },
]

/** The type in the data, every other type, and a decimal that was set with digits of its own. */
export function typeChoices(chosen: string): Array<{ value: string; label: string }> {
  const own = chosen !== '' && !columnTypes.some(({ value }) => value === chosen)
  return [
    { value: '', label: 'Automatic' },
    ...columnTypes,
    ...(own ? [{ value: chosen, label: `${sayType(chosen)} (${chosen})` }] : []),
  ]
}

export const mismatchChoices: Array<{ value: TableSchema['on_mismatch']; label: string; about: string }> = [
  {
    value: 'widen',
    label: 'Let the column become what the data needs',
    about: 'One word among numbers makes the column text; it is a number again when the word is gone.',
  },
  {
    value: 'hold',
    label: 'Hold the new data',
    about: 'The last good version goes on serving until you decide or better data comes.',
  },
  {
    value: 'null',
    label: 'Leave the value out',
    about: 'It becomes null, is counted, and is kept aside as it came.',
  },
  { value: 'refuse', label: 'Refuse the load', about: 'Nothing of it is stored, and the refresh fails.' },
]

/** A check as a sentence. */
export function sayCheck(check: Check): string {
  switch (check.type) {
    case 'not_null':
      return `${check.column} is never missing`
    case 'unique':
      return `${check.columns.join(' with ')} is there once only`
    case 'accepted_values':
      return `${check.column} is one of ${check.values.join(', ')}`
    case 'row_count_share':
      return `${sayShares(check)} of the rows of the version before`
    case 'freshness':
      return `the newest ${check.column} is at most ${sayMinutes(check.max_age_minutes)} old`
    default:
      return check satisfies never
  }
}

function sayShares({ min, max }: { min?: number | undefined; max?: number | undefined }): string {
  const percent = (share: number): string => `${Math.round(share * 100)} %`
  if (min !== undefined && max !== undefined) return `there are ${percent(min)} to ${percent(max)}`
  return min === undefined ? `there are at most ${percent(max ?? 0)}` : `there are at least ${percent(min)}`
}

function sayMinutes(minutes: number): string {
  const units = [
    [1_440, 'day'],
    [60, 'hour'],
    [1, 'minute'],
  ] as const
  const [size, word] = units.find(([each]) => minutes % each === 0) ?? [1, 'minute']
  const count = minutes / size
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
