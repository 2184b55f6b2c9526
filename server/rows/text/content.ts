/** The type of a body by its Content-Type and first bytes. Pure. */

export type ContentType = { type: string; parameters: Record<string, string> }

export function parseContentType(header: string | null | undefined): ContentType {
  const [type = '', ...rest] = (header ?? '').split(';')
  const parameters: Record<string, string> = {}
  for (const part of rest) {
    const [name = '', ...value] = part.split('=')
    parameters[name.trim().toLowerCase()] = value
      .join('=')
      .trim()
      .replace(/^"(.*)"$/, '$1')
  }
  return { type: type.trim().toLowerCase(), parameters }
}

const lineTypes = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonl',
  'application/jsonlines',
  'application/json-lines',
  'application/x-jsonlines',
  'application/stream+json',
  'text/x-ndjson',
])
const csvTypes = new Set(['text/csv', 'application/csv', 'text/x-csv', 'text/tab-separated-values', 'text/tsv'])

export function isJsonType(type: string): boolean {
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json') || type.endsWith('/json')
}

export type BodyKind = 'json' | 'lines' | 'csv' | 'html' | 'xml' | 'text' | 'binary' | 'empty'

/** The kind of a body. The Content-Type decides where it speaks of data; where it does not, the first bytes do. */
export function kindOf(header: string | null | undefined, head: string): BodyKind {
  const { type } = parseContentType(header)
  const start = head.replace(/^\uFEFF/, '').trimStart()
  if (start === '') return 'empty'
  if (lineTypes.has(type)) return 'lines'
  if (csvTypes.has(type)) return 'csv'
  if (start.startsWith('<')) return isXml(type, start) ? 'xml' : 'html'
  if (isJsonType(type)) return 'json'
  if (start.startsWith('{') || start.startsWith('[')) return 'json'
  if (type.startsWith('image/') || type.startsWith('audio/') || type.startsWith('video/')) return 'binary'
  return looksLikeCsv(start.slice(0, lookBytes)) ? 'csv' : 'text'
}

function isXml(type: string, start: string): boolean {
  return (
    type !== 'application/xhtml+xml' && (type.endsWith('/xml') || type.endsWith('+xml') || start.startsWith('<?xml'))
  )
}

const delimiters = [',', '\t', ';', '|']
const lookBytes = 4096

function looksLikeCsv(start: string): boolean {
  const [first = '', second = ''] = start.split(/\r?\n/, 3).map(withoutQuoted)
  return second !== '' && delimiters.some((each) => first.includes(each) && count(first, each) === count(second, each))
}

/** The delimiter that cuts the first line into the most fields. */
export function delimiterOf(head: string): string {
  const line = withoutQuoted(head.slice(0, lookBytes).split(/\r?\n/, 1)[0] ?? '')
  return delimiters.reduce((best, each) => (count(line, each) > count(line, best) ? each : best), ',')
}

function withoutQuoted(line: string): string {
  return line.replaceAll(/"(?:[^"]|"")*"/g, '')
}

function count(line: string, character: string): number {
  return line.split(character).length - 1
}

/** The charset to decode with: a byte order mark wins, then the header, then UTF-8. `null` when nobody knows it. */
export function charsetOf(header: string | null | undefined, head: Uint8Array): string | null {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8'
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  const named = parseContentType(header).parameters['charset']
  if (named === undefined || named === '') return 'utf-8'
  try {
    return new TextDecoder(named).encoding
  } catch {
    return null
  }
}

/** Whether bytes are no text at all: a NUL in them, or a share of control characters that no text has. */
export function isBinary(head: Uint8Array): boolean {
  let controls = 0
  for (const byte of head) {
    if (byte === 0) return true
    if (byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b)) controls += 1
  }
  return controls > head.length / 20
}
