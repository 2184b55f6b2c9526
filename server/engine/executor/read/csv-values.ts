import { DuckDBTypeId, type DuckDBType } from '@duckdb/node-api'
import type { StatementPlan } from '../inspect/plan.ts'
import { bareText, jsonText } from '../instance/values.ts'

/** SQL for one row as a line of CSV with its end, written as `api/csv.ts` writes it. */
export function csvLine({ types }: StatementPlan): string {
  // To `concat` NULL is nothing.
  return `concat(${types.map((type, index) => cell(type, `c${index}`)).join(", ',', ")}, chr(13) || chr(10))`
}

const marks = ["','", `'"'`, 'chr(10)', 'chr(13)']

/** DuckDB works out a text as often as it stands here, so what can never need quotes is not looked at. */
function cell(type: DuckDBType, x: string): string {
  const bare = bareText(type, x)
  if (bare !== undefined) return bare
  const isText = type.typeId === DuckDBTypeId.VARCHAR && type.alias !== 'JSON'
  const text = isText ? x : unquoted(type, x)
  const needsQuotes = isText
    ? marks.map((mark) => `contains(${x}, ${mark})`).join(' OR ')
    : `regexp_matches(${text}, '[",\\r\\n]')`
  return `CASE WHEN ${text} = '' OR ${needsQuotes} THEN '"' || replace(${text}, '"', '""') || '"' ELSE ${text} END`
}

/** A value as it stands in JSON, without the quotes of a plain string. */
export function unquoted(type: DuckDBType, x: string): string {
  const text = jsonText(type, x)
  return `CASE WHEN ${x} IS NULL OR ${text} = 'null' THEN NULL WHEN starts_with(${text}, '"') THEN json_extract_string(${text}, '$') ELSE ${text} END`
}
