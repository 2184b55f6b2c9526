import type { ProjectFiles } from './layout.ts'
import { sqlLine } from './query-file.ts'

/** As the service ends a message about SQL. */
const place = / ?\(line (\d+), column (\d+)\)$/

/** A message about a query as one about its file: the service counts the lines of the SQL alone. */
export function messageInFile(files: ProjectFiles, query: string, message: string): string {
  const path = `queries/${query}.sql`
  const text = files.get(path)
  if (text === undefined) return `${query}: ${message}`
  const found = place.exec(message)
  if (found === null) return `${path}  ${message}`
  const line = Number(found[1]) + sqlLine(text) - 1
  return `${path}:${line}:${found[2]}  ${message.slice(0, found.index)}`
}
