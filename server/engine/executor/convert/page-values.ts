import { readFile } from 'node:fs/promises'
import {
  charsetOf,
  eachRow,
  outlineOf,
  parseExact,
  parseExtractor,
  pick,
  unlessMissing,
  valuesAt,
} from '../../../rows/index.ts'
import type { AnswerBody, PageValues, PageValuesCall } from '../socket/protocol.ts'

/** Values of a page beside its rows: those at some paths of it, and at some of its last row. */
export async function pageValues({ body, paths, rowPaths }: PageValuesCall): Promise<PageValues> {
  const page = await parsed(body)
  const row = rowPaths.length === 0 ? undefined : lastRow(page, body.extractor ?? '')
  return {
    outline: page === undefined ? null : outlineOf(page),
    values: valuesAt(page, paths),
    rowValues: valuesAt(row, rowPaths),
  }
}

/** Undefined where it is no JSON. */
async function parsed({ path, contentType }: AnswerBody): Promise<unknown> {
  const bytes = await readFile(path)
  try {
    return parseExact(new TextDecoder(charsetOf(contentType, bytes) ?? 'utf-8').decode(bytes))
  } catch {
    return undefined
  }
}

function lastRow(page: unknown, extractor: string): unknown {
  const path = parseExtractor(extractor)
  return (
    unlessMissing(() => {
      let last: unknown
      if (path.each === undefined) {
        const rows = pick(page, path)
        return Array.isArray(rows) ? (rows.at(-1) as unknown) : rows
      }
      eachRow(page, path, (row) => {
        last = row
        return true
      })
      return last
    }) ?? null
  )
}
