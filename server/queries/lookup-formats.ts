import type { Column, LookedUp, ReadFormat, ReadStream } from '../data/index.ts'

type WrittenFormat = 'ndjson' | 'csv'

/** The formats that are made of rows as they lie in a file; the engine alone makes the others. */
export function isWrittenAs(format: ReadFormat): format is WrittenFormat {
  return format === 'ndjson' || format === 'csv'
}

/** Such rows as the engine would have streamed them. */
export function streamOf({ rows, rowCount, columns }: LookedUp, format: WrittenFormat): ReadStream {
  const lines = rowCount === 0 ? [] : rows.toString('utf8', 1, rows.length - 1).split(',\n')
  const text = format === 'ndjson' ? lines.map((line) => `${line}\n`).join('') : csvOf(lines, columns)
  const chunks = text === '' ? [] : [{ bytes: Buffer.from(text), rowCount }]
  return {
    columns,
    chunks: (async function* () {
      yield* chunks
    })(),
    end: () => ({ rowCount, truncated: false, elapsedMs: 0 }),
    finished: Promise.resolve(),
  }
}

/** As RFC 4180 has it. NULL is an empty cell, an empty text is `""`. */
function csvOf(lines: string[], columns: Column[]): string {
  const header = columns.map(({ name }) => quoted(name)).join(',')
  const rows = lines.map((line) => valuesOf(line, columns).map(cellOf).join(','))
  return [header, ...rows].map((row) => `${row}\r\n`).join('')
}

function quoted(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A value as it stands in JSON, without the quotes of a plain string. */
function cellOf(json: string): string {
  if (json === 'null') return ''
  return quoted(json.startsWith('"') ? (JSON.parse(json) as string) : json)
}

/** The values of a row object as they are written, in the order of the columns: their digits are not to be read. */
function valuesOf(line: string, columns: Column[]): string[] {
  let at = 0
  return columns.map(({ name }) => {
    at += 1 + JSON.stringify(name).length + 1
    const start = at
    at = endOfValue(line, at)
    return line.slice(start, at)
  })
}

function endOfValue(line: string, start: number): number {
  let depth = 0
  for (let at = start; at < line.length; at += 1) {
    const letter = line[at]
    if (letter === '"') at = endOfText(line, at)
    else if (letter === '{' || letter === '[') depth += 1
    else if (depth === 0 && (letter === ',' || letter === '}')) return at
    else if (letter === '}' || letter === ']') depth -= 1
  }
  return line.length
}

/** Where the closing quote of the text is that begins at `start`. */
function endOfText(line: string, start: number): number {
  let at = start + 1
  for (; line[at] !== '"' && at < line.length; at += 1) if (line[at] === '\\') at += 1
  return at
}
