import { parseDocument } from 'yaml'
import { splitSqlFile } from './query-file.ts'

/** The YAML of a file in the one style, comments included; what cannot be read stays as it is, and so does SQL. */
export function formatFile(path: string, text: string): string {
  if (path.endsWith('.yaml')) return formatYaml(text) ?? text
  const { header, sql } = splitSqlFile(text)
  const formatted = header === null ? undefined : formatYaml(header)
  const body = sql.endsWith('\n') ? sql : `${sql}\n`
  // In the comment above the SQL nothing may end it.
  if (formatted === undefined || formatted.includes('*/')) return header === null ? body : text
  return `/*---\n${formatted}---*/\n${body}`
}

function formatYaml(text: string): string | undefined {
  const document = parseDocument(text, { prettyErrors: false })
  if (document.errors.length > 0) return undefined
  const written = `${document.toString({ lineWidth: 0, indent: 2 }).trimEnd()}\n`
  return isSame(document.toJS(), parseDocument(written).toJS()) ? written : undefined
}

function isSame(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after)
}
