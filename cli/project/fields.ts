import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'

type Fields = Record<string, unknown>
type Schema = z.ZodObject

/** Only what is special about a thing: a field that has its default is not worth a line. */
export function withoutDefaults(schema: Schema, fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(schema.shape).flatMap(([key, field]): Array<[string, unknown]> => {
      const value = fields[key]
      if (value === undefined) return []
      const whenAbsent = (field as z.ZodType).safeParse(undefined)
      return whenAbsent.success && isDeepStrictEqual(whenAbsent.data, value) ? [] : [[key, value]]
    }),
  )
}

/**
 * The fields of a file that must be written anew, each as `shown` has it; undefined takes it out. A field that says the
 * same in other words, or says its default, stays as somebody wrote it.
 */
export function changedFields(
  schema: Schema,
  { old, fresh, shown }: { old: Fields; fresh: Fields; shown: Fields },
): Map<string, unknown> {
  const changed = Object.keys(schema.shape).filter((key) => !isDeepStrictEqual(old[key], fresh[key]))
  return new Map(changed.map((key) => [key, shown[key]]))
}
