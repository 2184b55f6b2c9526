import { Failure } from '../failure.ts'
import { exceedsDepth } from '../json-depth.ts'
import { charsetOf, isBinary, isJsonType, parseContentType } from './text/content.ts'
import { parseCut } from './cut-json.ts'
import { cutValue, jsonBytes } from './cut-value.ts'
import { parseExact, parseExtractor, type JsonPath } from './json/json-path.ts'
import { eachRow, pick } from './json/parsed-members.ts'
import { outlineOf, type Position } from './outline.ts'

export type PreviewAsked = {
  contentType: string
  /** The path to take; empty for all. */
  extractor: string
  maxDepth: number
  /** There is more of the body than is given. */
  isCut: boolean
  /** Rows are wanted of it; the answer of an API that refuses is shown as it is. */
  hasRows: boolean
  /** Rows, one a line, and nothing else. */
  isLines?: boolean
  /** The size of the preview, as JSON. */
  maxBytes: number
}

export type Preview = {
  data: unknown
  /** `data` is a part of what there is. */
  isCut: boolean
  /** The shape of the whole body, where it is JSON. */
  outline: Position[] | null
  error?: { code: 'too_deep' | 'not_tabular' | 'extractor_no_match'; message: string }
}

/**
 * The preview of a body for a test of a connection: parsed where it is JSON, what the extractor takes of it, and no more than
 * fits. Takes time by the size of the body, so large ones are for an executor.
 */
export function previewOf(body: Buffer, asked: PreviewAsked): Preview {
  const { hasRows, maxDepth, isCut, maxBytes } = asked
  const read = (asked.isLines === true ? linesOf(body, isCut) : null) ?? readBody(body, asked)
  const shown = cutValue(read, maxBytes)
  const whole = { data: shown.value, isCut: isCut || shown.isCut, outline: null }
  if (!hasRows) return whole
  if (isTooDeep(read, maxDepth)) {
    const message = `The answer nests lists and objects deeper than ${maxDepth} levels, which no table holds. It is shown as text.`
    return { ...whole, error: { code: 'too_deep', message } }
  }
  const isData = typeof read === 'object' && read !== null && !('binary' in read)
  const outline = isData ? outlineOf(read) : null
  const path = parseExtractor(asked.extractor)
  if (path.text === '') return { ...whole, outline }
  try {
    const taken = cutValue(takeRows(read, path, asked), maxBytes)
    return { data: taken.value, isCut: isCut || taken.isCut, outline }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const code = error.reason === 'not_tabular' ? 'not_tabular' : 'extractor_no_match'
    return { ...whole, outline, error: { code, message: error.message } }
  }
}

/** The extracted rows, up to the one at which the preview is full. */
function takeRows(read: unknown, path: JsonPath, asked: PreviewAsked): unknown {
  const rows: unknown[] = []
  let left = asked.maxBytes
  const take = (row: unknown): boolean => {
    rows.push(row)
    left -= jsonBytes(row, left) + 1
    return left >= 0
  }
  const ofLines = typeof read === 'string' && takeFromLines(read, path, { isCut: asked.isCut, take })
  if (ofLines) return rows
  if (path.each === undefined) return pick(read, path)
  eachRow(read, path, take)
  return rows
}

type Taking = { isCut: boolean; take: (row: unknown) => boolean }

/** The extracted rows of each line of NDJSON; false where it is none. */
function takeFromLines(text: string, path: JsonPath, { isCut, take }: Taking): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  // The last line of a preview that was cut is cut too.
  const whole = isCut ? lines.slice(0, -1) : lines
  if (whole.length < 2) return false
  for (const line of whole) {
    let value: unknown
    try {
      value = parseExact(line)
    } catch {
      return false
    }
    const found = pick(value, path)
    if (!(Array.isArray(found) ? (found as unknown[]) : [found]).every(take)) break
  }
  return true
}

/** Null where a line is no JSON after all. */
function linesOf(bytes: Buffer, isCut: boolean): unknown[] | null {
  const lines = bytes.toString('utf8').split('\n')
  // The last one of those that were cut is cut too.
  if (isCut) lines.pop()
  try {
    return lines.filter((line) => line.trim() !== '').map(parseExact)
  } catch {
    return null
  }
}

/** Values deeper than execute takes stay text: parsed, they could not be written out again. */
function isTooDeep(data: unknown, maxDepth: number): boolean {
  return typeof data === 'string' && /^\s*[[{]/.test(data) && exceedsDepth(data, maxDepth)
}

/**
 * Parsed JSON, text, or a placeholder that says how much of what was there. Nothing for an empty body. Of JSON that was
 * cut the rows that are whole: execute takes it all, so a test must show where its rows are.
 */
function readBody(body: Buffer, { contentType, maxDepth, isCut }: PreviewAsked): unknown {
  if (body.length === 0) return null
  const charset = charsetOf(contentType, body)
  const isWide = charset?.startsWith('utf-16') ?? false
  const { type } = parseContentType(contentType)
  const isMedia = /^(image|audio|video|font)\//.test(type) && type !== 'image/svg+xml'
  if (isMedia || (!isWide && isBinary(body.subarray(0, 8192)))) {
    return { binary: true, content_type: contentType, size: body.length }
  }
  const text = new TextDecoder(charset ?? 'utf-8').decode(body)
  if (!isJsonType(type) && !/^\s*[[{]/.test(text)) return text
  if (isTooDeep(text, maxDepth)) return text
  try {
    return parseExact(text)
  } catch {
    return (isCut ? parseCut(text) : undefined) ?? text
  }
}
