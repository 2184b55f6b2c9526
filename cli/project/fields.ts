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
