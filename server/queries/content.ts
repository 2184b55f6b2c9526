import type { Selectable } from 'kysely'
import type { Chart } from '../../api/queries.ts'
import type { SlotsSchema } from '../../api/slots.ts'
import type { Dialect, QueryExample, Tables } from '../store/index.ts'

/** What an author writes, and what a version freezes. */
export type QueryContent = {
  description: string
  sql: string
  slots: SlotsSchema
  examples: QueryExample[]
  cacheSeconds: number | null
  timeoutMs: number | null
  maxRows: number | null
  maxBytes: number | null
  /** Of each key's calls of this query, beside the key's own limit. */
  rateLimit: { perMinute: number; burst: number } | null
  /** How its result is drawn; null: as its columns and rows suggest. */
  chart: Chart | null
  /** What the SQL is written in: that of the project's engine when it was written. */
  dialect: Dialect
}

/** Those that a query can do without. */
type Setting = Exclude<keyof QueryContent, 'description' | 'sql' | 'slots' | 'examples' | 'dialect'>

/** A query of which its author has said nothing but what it is. */
export const defaultSettings: Pick<QueryContent, Setting> = {
  cacheSeconds: null,
  timeoutMs: null,
  maxRows: null,
  maxBytes: null,
  rateLimit: null,
  chart: null,
}

/**
 * The columns that `queries` and `query_versions` share, in the order in which they are hashed. A field that is missing
 * here or in `contentOfRow` does not compile.
 */
export function columnsOf(content: QueryContent) {
  return {
    description: content.description,
    sql: content.sql,
    slots: JSON.stringify(content.slots),
    examples: JSON.stringify(content.examples),
    cacheSeconds: content.cacheSeconds,
    timeoutMs: content.timeoutMs,
    maxRows: content.maxRows,
    maxBytes: content.maxBytes,
    ratePerMinute: content.rateLimit?.perMinute ?? null,
    rateBurst: content.rateLimit?.burst ?? null,
    chart: content.chart === null ? null : JSON.stringify(content.chart),
    dialect: content.dialect,
  } satisfies Record<keyof ContentRow, unknown>
}

/**
 * The same by the names that callers know: what a diff shows, and what a content's hash is made of, so that a query keeps
 * its hash however the code calls its columns.
 */
export function writtenContent(content: QueryContent): Record<string, unknown> {
  const { chart, dialect, ...columns } = columnsOf(content)
  // Queries that were written before there were charts, or another dialect, keep their hash.
  const written = Object.entries({
    ...columns,
    ...(chart !== null && { chart }),
    ...(dialect !== 'duckdb' && { dialect }),
  })
  return Object.fromEntries(written.map(([name, value]) => [wireName(name), value]))
}

function wireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

type ContentRow = Omit<
  Selectable<Tables['queries']>,
  'id' | 'projectId' | 'name' | 'tags' | 'reads' | 'revision' | 'contentHash' | 'createdAt' | 'updatedAt' | 'updatedBy'
>

export function contentOfRow(row: ContentRow): QueryContent {
  const { ratePerMinute: perMinute, rateBurst: burst } = row
  return {
    description: row.description,
    sql: row.sql,
    slots: row.slots as SlotsSchema,
    examples: row.examples,
    cacheSeconds: row.cacheSeconds,
    timeoutMs: row.timeoutMs,
    maxRows: row.maxRows,
    maxBytes: row.maxBytes,
    rateLimit: perMinute === null || burst === null ? null : { perMinute, burst },
    chart: row.chart as Chart | null,
    dialect: row.dialect,
  }
}

/** Of something that has content and more: the content alone. */
export function contentOf(draft: QueryContent): QueryContent {
  return contentOfRow({ ...columnsOf(draft), slots: draft.slots, examples: draft.examples, chart: draft.chart })
}
