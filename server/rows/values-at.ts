import { Failure } from '../failure.ts'
import { jsonBytes } from './cut-value.ts'
import { parsePath, valueAt } from './json/json-path.ts'

/** A link or cursor is shorter; what is longer is none. */
const maxValueBytes = 16_384

/** Paths that lead nowhere are left out. An object stands for what is too large to be a link or a cursor. */
export function valuesAt(root: unknown, paths: string[]): Record<string, unknown> {
  const found = paths.flatMap((path) => {
    const value = unlessMissing(() => valueAt(root, parsePath(path, 'pagination')))
    if (value === undefined) return []
    return [[path, jsonBytes(value, maxValueBytes) > maxValueBytes ? {} : value] as const]
  })
  return Object.fromEntries(found)
}

/** Undefined where a path leads nowhere. */
export function unlessMissing(find: () => unknown): unknown {
  try {
    return find()
  } catch (error) {
    if (error instanceof Failure && error.reason === 'extractor_no_match') return undefined
    throw error
  }
}
