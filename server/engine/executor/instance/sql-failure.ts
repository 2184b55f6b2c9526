import { closest, Failure } from '../../../failure.ts'
import { tokenize } from './sql-tokens.ts'

/** A refusal of SQL that points at the line, column and word. */
export function sqlFailure(sql: string, message: string, at?: number): Failure {
  const place = at === undefined ? undefined : pointAt(sql, at)
  const where = place === undefined ? '' : ` (line ${place.line}, column ${place.column})`
  return new Failure('invalid_request', {
    reason: 'invalid_sql',
    message: `${message}${where}`,
    details: [{ field: 'sql', message }],
    ...(place === undefined ? {} : { fields: place }),
  })
}

function pointAt(sql: string, at: number): { line: number; column: number; word: string } {
  const lines = sql.slice(0, at).split('\n')
  const token = tokenize(sql).find(({ start, text }) => at >= start && at < start + text.length)
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1, word: (token?.text ?? '').slice(0, 100) }
}

/** DuckDB counts bytes. */
export function charOffset(sql: string, byteOffset: number): number {
  return Buffer.from(sql).subarray(0, byteOffset).toString().length
}

/** Where `word` stands in `sql`, as a name. */
function offsetOfWord(sql: string, word: string): number | undefined {
  const wanted = word.toLowerCase()
  const found = tokenize(sql).find(({ kind, text }) => {
    if (kind === 'word') return text.toLowerCase() === wanted
    return kind === 'quoted' && text.slice(1, -1).replaceAll('""', '"').toLowerCase() === wanted
  })
  return found?.start
}

export type KnownTable = { name: string; columns: { name: string }[] }

/** The message of DuckDB about SQL it cannot bind, in one line and with a place. */
export function bindFailure({ sql, tables }: { sql: string; tables: KnownTable[] }, error: Error): Failure {
  const [first = ''] = error.message.split('\n')
  const [kind, ...rest] = first.split(': ')
  const sentence = (/^[A-Za-z ]+ Error$/.test(kind ?? '') ? rest.join(': ') : first).trim()
  const column = columnPattern.exec(sentence)?.[1]
  if (column !== undefined) {
    const listed = /Candidate bindings: (.*)/.exec(error.message)?.[1] ?? ''
    const candidates = [...listed.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name.split('.').at(-1) ?? name)
    // The engine lists none of a table that has no rows yet.
    const near = closest(column, candidates.length === 0 ? columnsNamedIn(sql, tables) : candidates)
    const hint = near === undefined ? '' : ` Did you mean ${near}?`
    return sqlFailure(sql, `No column ${column}.${hint}`, offsetOfWord(sql, column))
  }
  const name = /"([^"]+)"/.exec(sentence)?.[1] ?? /name (\S+) does not exist/.exec(sentence)?.[1]
  const meant = /Did you mean "([^"]+)"/.exec(error.message)?.[1]
  const hint = meant === undefined ? '' : `; perhaps you meant ${meant.split('.').at(-1) ?? meant}`
  const message = `${sentence.replace(/[.!]$/, '')}${hint}.`
  return sqlFailure(sql, message, name === undefined ? undefined : offsetOfWord(sql, name))
}

function columnsNamedIn(sql: string, tables: KnownTable[]): string[] {
  const words = new Set(tokenize(sql).map(({ text }) => text.toLowerCase().replaceAll('"', '')))
  return tables.flatMap(({ name, columns }) =>
    words.has(name.toLowerCase()) ? columns.map((column) => column.name) : [],
  )
}

const columnPattern = /(?:^Referenced column|does not have a column named) "([^"]+)"/
