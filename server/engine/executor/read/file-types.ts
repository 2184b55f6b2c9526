import { DuckDBArrayType, DuckDBListType, DuckDBStructType, DuckDBTypeId, type DuckDBType } from '@duckdb/node-api'
import { quoteName } from '../instance/sql-text.ts'

/** Parquet and Arrow have no wider integer than a decimal of 38 digits: the engine itself would write a double. */
const widest = 'DECIMAL(38,0)'

const renamed = new Map<DuckDBTypeId, string>([
  [DuckDBTypeId.HUGEINT, widest],
  [DuckDBTypeId.UHUGEINT, widest],
])

/** The SQL type under which a file can hold every value of `type`; null where it is the same. */
export function fileType(type: DuckDBType, others = renamed): string | null {
  const known = others.get(type.typeId)
  if (known !== undefined && type.alias !== 'JSON') return known
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType) {
    const item = fileType(type.valueType, others)
    if (item === null) return null
    return type instanceof DuckDBArrayType ? `${item}[${type.length}]` : `${item}[]`
  }
  if (!(type instanceof DuckDBStructType) || type.entryNames.some((name) => name === '')) return null
  const entries = type.entryTypes.map((entry) => fileType(entry, others))
  if (entries.every((entry) => entry === null)) return null
  const members = entries.map((entry, index) => {
    return `${quoteName(type.entryNames[index] ?? '')} ${entry ?? String(type.entryTypes[index])}`
  })
  return `STRUCT(${members.join(', ')})`
}

/** The types of Arrow: as those of files, and what it has no word for as text. */
export const arrowTypes = new Map<DuckDBTypeId, string>([
  ...renamed,
  [DuckDBTypeId.UINTEGER, 'BIGINT'],
  [DuckDBTypeId.TIMESTAMP_S, 'TIMESTAMP'],
  [DuckDBTypeId.TIMESTAMP_MS, 'TIMESTAMP'],
  [DuckDBTypeId.BIGNUM, 'VARCHAR'],
  [DuckDBTypeId.UUID, 'VARCHAR'],
  [DuckDBTypeId.ENUM, 'VARCHAR'],
  [DuckDBTypeId.INTERVAL, 'VARCHAR'],
  [DuckDBTypeId.BIT, 'VARCHAR'],
  [DuckDBTypeId.TIME_TZ, 'VARCHAR'],
])

export function asFileType(type: DuckDBType, x: string, others = renamed): string {
  const stored = fileType(type, others)
  return stored === null ? x : `CAST(${x} AS ${stored})`
}
