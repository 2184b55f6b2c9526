import type { ProjectFiles } from './layout.ts'
import { sqlLine } from './query-file.ts'

/** As the service ends a message about SQL. */
const place = / ?\(line (\d+), column (\d+)\)$/

/** A message about a query as one about its file: the service counts the lines of the SQL alone. */
export function messageInFile(files: ProjectFiles, query: string, message: string): string {
  const path = `queries/${query}.sql`
  const text = files.get(path)
  if (text === undefined) return `${query}: ${message}`
  const [first = '', ...rest] = message.split('\n')
  const found = place.exec(first)
  if (found === null) return `${path}  ${message}`
  const line = Number(found[1]) + sqlLine(text) - 1
  // The detail about the SQL says the same again.
  const others = rest.filter((each) => !each.startsWith('  sql: '))
  return [`${path}:${line}:${found[2]}  ${first.slice(0, found.index)}`, ...others].join('\n')
}
