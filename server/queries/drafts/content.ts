import type { Insertable, Selectable } from 'kysely'
import type { z } from 'zod'
import { queryContent } from '../../../api/queries.ts'
import type { SlotsSchema } from '../../../api/slots.ts'
import { fieldName, wireName, type FromWire } from '../../../api/wire-codec.ts'
import type { Dialect, QueryColumns } from '../../store/index.ts'

/** The content of a query, which a version freezes: the fields of `api/queries.ts`, and the engine its SQL is for. */
export type QueryContent = Omit<FromWire<z.output<typeof queryContent>>, 'slots'> & {
  slots: SlotsSchema
  dialect: Dialect
}

const schemas = Object.entries(queryContent.shape).map(([key, schema]) => ({ field: fieldName(key), schema }))
/** In the order in which they are hashed: a field that is added to the schema comes after those that are there. */
const fields = [...schemas.map(({ field }) => field), 'dialect'] as Array<keyof QueryContent>

type Setting = { [Field in keyof QueryContent]: null extends QueryContent[Field] ? Field : never }[keyof QueryContent]

/** Settings of a query whose author chose none. */
export const defaultSettings = Object.fromEntries(
  schemas.filter(({ schema }) => schema.safeParse(null).success).map(({ field }) => [field, null]),
) as Record<Setting, null>

/** One column for each field, but for the rate limit, which has two. A field without a column does not compile. */
type Columns = Exclude<keyof QueryContent, 'rateLimit'> | 'ratePerMinute' | 'rateBurst'

/** The columns that `queries` and `query_versions` share. */
export function columnsOf(content: QueryContent): Pick<Insertable<QueryColumns>, Columns> {
  const { rateLimit } = content
  const columns = fields.flatMap((field): Array<[Columns, unknown]> => {
    if (field !== 'rateLimit') return [[field, stored(content[field])]]
    return [
      ['ratePerMinute', rateLimit?.perMinute ?? null],
      ['rateBurst', rateLimit?.burst ?? null],
    ]
  })
  return Object.fromEntries(columns) as Pick<Insertable<QueryColumns>, Columns>
}

function stored(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

/**
 * The content by the names of the wire: what a diff shows, and what its hash is made of. The first columns are hashed
 * whether or not they are set; those that came later only where they are, so that older queries keep their hash.
 */
export function writtenContent({ dialect, ...content }: QueryContent): Record<string, unknown> {
  const columns = Object.entries(columnsOf({ ...content, dialect }))
  const later = columns.findIndex(([name]) => name === 'chart')
  const written = columns.filter(([name, value], at) => {
    return at < later || (name === 'dialect' ? dialect !== 'duckdb' : value !== null)
  })
  return Object.fromEntries(written.map(([name, value]) => [wireName(name), value]))
}

/** A row of a draft or a version, with its content as it is outside the table. */
export function withContent<Row extends Selectable<QueryColumns>>(row: Row) {
  const { ratePerMinute: perMinute, rateBurst: burst, ...rest } = row
  const rateLimit = perMinute === null || burst === null ? null : { perMinute, burst }
  return { ...rest, rateLimit } as Omit<Row, keyof QueryColumns> & QueryContent
}

/** The content alone of a draft or a version. */
export function contentOf(draft: QueryContent): QueryContent {
  return Object.fromEntries(fields.map((field) => [field, draft[field]])) as QueryContent
}
