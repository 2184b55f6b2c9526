import { readFile } from 'node:fs/promises'
import { Failure } from '../../../failure.ts'
import {
  charsetOf,
  eachRow,
  jsonBytes,
  outlineOf,
  parseExact,
  parseExtractor,
  parsePath,
  pick,
  valueAt,
} from '../../../rows/index.ts'
import type { AnswerBody, PageValues, PageValuesCall } from '../socket/protocol.ts'

/** A link or cursor is shorter; what is longer is none. */
const maxValueBytes = 16_384

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

/** Paths that lead nowhere are left out. An object stands for what is too large to be a link or a cursor. */
export function valuesAt(root: unknown, paths: string[]): Record<string, unknown> {
  const found = paths.flatMap((path) => {
    const value = unlessMissing(() => valueAt(root, parsePath(path, 'pagination')))
    if (value === undefined) return []
    return [[path, jsonBytes(value, maxValueBytes) > maxValueBytes ? {} : value] as const]
  })
  return Object.fromEntries(found)
}

function unlessMissing(find: () => unknown): unknown {
  try {
    return find()
  } catch (error) {
    if (error instanceof Failure && error.reason === 'extractor_no_match') return undefined
    throw error
  }
}
