import { sql, type SelectQueryBuilder } from 'kysely'
import type { Tables } from './tables.ts'

/** One page of a list, and where the next begins. */
export type Page<Item> = { items: Item[]; nextCursor: string | null }

type PageAsked = { limit: number; cursor?: string | undefined }

/**
 * Reads one page by key, not by offset: rows that come or go meanwhile neither repeat nor hide others. Asks for one
 * row more than the page holds to know whether a next page exists.
 */
export async function pageAfter<Item>(
  fetch: (after: string | undefined, limit: number) => Promise<Item[]>,
  { limit, cursor }: PageAsked,
  keyOf: (item: Item) => string,
): Promise<Page<Item>> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor)
  const rows = await fetch(after, limit + 1)
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null }
}

/** One page of a query, the newest rows first: ids grow with time. */
export function newestFirst<From extends keyof Tables, Row extends { id: string }>(
  query: SelectQueryBuilder<Tables, From, Row>,
  page: PageAsked,
): Promise<Page<Row>> {
  return pageBy(query, page, { key: 'id', direction: 'desc' })
}

/** One page of a query in the order of a column that tells its rows apart. */
export function pageOf<From extends keyof Tables, Key extends string, Row extends Record<Key, string>>(
  query: SelectQueryBuilder<Tables, From, Row>,
  page: PageAsked,
  key: Key,
): Promise<Page<Row>> {
  return pageBy(query, page, { key, direction: 'asc' })
}

function pageBy<From extends keyof Tables, Key extends string, Row extends Record<Key, string>>(
  query: SelectQueryBuilder<Tables, From, Row>,
  page: PageAsked,
  { key, direction }: { key: Key; direction: 'asc' | 'desc' },
): Promise<Page<Row>> {
  const column = sql.ref<string>(key)
  return pageAfter(
    (after, limit) => {
      const rows = after === undefined ? query : query.where(column, direction === 'asc' ? '>' : '<', after)
      return rows.orderBy(column, direction).limit(limit).execute()
    },
    page,
    (row) => row[key],
  )
}

/** Every text of this shape has a place in the order of keys: the shape is all that a caller has to meet. */
function encodeCursor(key: string): string {
  return Buffer.from(key, 'utf8').toString('hex')
}

function decodeCursor(cursor: string): string {
  return Buffer.from(cursor, 'hex').toString('utf8')
}
