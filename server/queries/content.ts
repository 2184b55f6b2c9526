import type { Selectable } from 'kysely'
import type { SlotsSchema } from '../../api/slots.ts'
import type { QueryExample, Tables } from '../store/index.ts'

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
}

/** Those that a query can do without. */
type Setting = Exclude<keyof QueryContent, 'description' | 'sql' | 'slots' | 'examples'>

/** A query of which its author has said nothing but what it is. */
export const defaultSettings: Pick<QueryContent, Setting> = {
  cacheSeconds: null,
  timeoutMs: null,
  maxRows: null,
  maxBytes: null,
  rateLimit: null,
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
    cache_seconds: content.cacheSeconds,
    timeout_ms: content.timeoutMs,
    max_rows: content.maxRows,
    max_bytes: content.maxBytes,
    rate_per_minute: content.rateLimit?.perMinute ?? null,
    rate_burst: content.rateLimit?.burst ?? null,
  } satisfies Record<keyof ContentRow, unknown>
}

type ContentRow = Omit<
  Selectable<Tables['queries']>,
  'id' | 'project_id' | 'name' | 'revision' | 'content_hash' | 'created_at' | 'updated_at' | 'updated_by'
>

export function contentOfRow(row: ContentRow): QueryContent {
  const { rate_per_minute: perMinute, rate_burst: burst } = row
  return {
    description: row.description,
    sql: row.sql,
    slots: row.slots as SlotsSchema,
    examples: row.examples,
    cacheSeconds: row.cache_seconds,
    timeoutMs: row.timeout_ms,
    maxRows: row.max_rows,
    maxBytes: row.max_bytes,
    rateLimit: perMinute === null || burst === null ? null : { perMinute, burst },
  }
}

/** Of something that has content and more: the content alone. */
export function contentOf(draft: QueryContent): QueryContent {
  return contentOfRow({ ...columnsOf(draft), slots: draft.slots, examples: draft.examples })
}
