import type { ColumnType } from 'kysely'

/** Set by the database when it is not given. */
export type CreatedAt = ColumnType<Date, Date | undefined, never>

/** Written as JSON text, read as a value. */
export type Json<Value> = ColumnType<Value, string, string>
export type OptionalJson<Value> = ColumnType<Value | null, string | null | undefined, string | null>
/** With a default of its own in the database. */
export type GeneratedJson<Value> = ColumnType<Value, string | undefined, string>
