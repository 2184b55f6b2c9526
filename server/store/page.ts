import { Failure } from '../failure.ts'

/** One page of a list, and where the next begins. */
export type Page<Item> = { items: Item[]; nextCursor: string | null }

/**
 * Reads one page by key, not by offset: rows that come or go meanwhile neither repeat nor hide others. Asks for one
 * row more than the page holds to know whether a next page exists.
 */
export async function pageAfter<Item>(
  fetch: (after: string | undefined, limit: number) => Promise<Item[]>,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  keyOf: (item: Item) => string,
): Promise<Page<Item>> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor)
  const rows = await fetch(after, limit + 1)
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(keyOf(last)) : null }
}

function encodeCursor(key: string): string {
  return Buffer.from(key, 'utf8').toString('base64url')
}

function decodeCursor(cursor: string): string {
  const key = Buffer.from(cursor, 'base64url').toString('utf8')
  if (key === '' || encodeCursor(key) !== cursor || key.includes('\0')) {
    throw new Failure('invalid_request', {
      reason: 'invalid_field',
      details: [{ field: 'cursor', message: 'must be the next_cursor of the page before' }],
    })
  }
  return key
}
