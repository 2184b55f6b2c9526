import { DuckDBTypeId, type DuckDBType } from '@duckdb/node-api'
import type { StatementPlan } from './plan.ts'
import { jsonText } from './values.ts'

/** SQL for one row as a line of CSV (RFC 4180). NULL is an empty cell, an empty text is `""`. */
export function csvLine({ types }: StatementPlan): string {
  return `concat_ws(',', ${types.map((type, index) => cell(type, `c${index}`)).join(', ')})`
}

function cell(type: DuckDBType, x: string): string {
  const isText = type.typeId === DuckDBTypeId.VARCHAR && type.alias !== 'JSON'
  const text = isText ? x : unquoted(type, x)
  return `coalesce(CASE WHEN ${text} = '' OR regexp_matches(${text}, '[",\\r\\n]') THEN '"' || replace(${text}, '"', '""') || '"' ELSE ${text} END, '')`
}

/** A value as it stands in JSON, without the quotes of a plain string. */
function unquoted(type: DuckDBType, x: string): string {
  const text = jsonText(type, x)
  return `CASE WHEN ${x} IS NULL OR ${text} = 'null' THEN NULL WHEN starts_with(${text}, '"') THEN json_extract_string(${text}, '$') ELSE ${text} END`
}

export function csvText(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
