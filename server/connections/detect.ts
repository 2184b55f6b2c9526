import type { Pagination } from '../../api/connections.ts'
import { nextLink } from './request/pages.ts'

/** What an answer looks like: where its rows are, and how it goes on. */
export type Detected = {
  rows: { path: string; count: number } | null
  pagination: Partial<Pagination> | null
}

type Found = { path: string[]; value: unknown }

const maxDepth = 4
const maxPlaces = 2_000
/** What APIs call the list of their records, the most telling first. */
const rowNames =
  'items results records rows data values value entries docs hits objects list features nodes edges'.split(' ')

/** Lists that say why there are no rows. */
const complaintNames = new Set(['errors', 'warnings'])

const linkPlaces = [
  'next',
  'links.next',
  'links.next.href',
  '_links.next.href',
  '_links.next',
  'paging.next',
  'pagination.next',
  'meta.next',
  'info.next',
  '@odata.nextLink',
  'nextLink',
  'next_page_url',
  'next_url',
]
/** Where a cursor stands, and the parameter that takes it. */
const cursorPlaces: Record<string, string> = {
  next_cursor: 'cursor',
  nextCursor: 'cursor',
  'meta.next_cursor': 'cursor',
  'meta.cursor.next': 'cursor',
  'pagination.next_cursor': 'cursor',
  'response_metadata.next_cursor': 'cursor',
  'paging.cursors.after': 'after',
  'paging.next.after': 'after',
  nextPageToken: 'pageToken',
  next_page_token: 'page_token',
  next_token: 'next_token',
  continuation: 'continuation',
}

/** Looks at one answer. It says what is likely, never more: a person or a program takes it over. */
export function detect(
  body: unknown,
  { headers, hasGraphql }: { headers: Record<string, string>; hasGraphql: boolean },
): Detected {
  const places = walk(body)
  const rows = findRows(body, places)
  const pagination =
    nextLink(headers['link']) === null
      ? paginationIn(body, places, { rows, hasGraphql })
      : ({ type: 'link_header' } as const)
  return { rows, pagination }
}

/** Every place of the answer outside of lists, the shallow ones first. */
function walk(body: unknown): Found[] {
  const found: Found[] = [{ path: [], value: body }]
  for (let at = 0; at < found.length && found.length < maxPlaces; at += 1) {
    const { path, value } = found[at] ?? { path: [], value: null }
    if (path.length >= maxDepth || typeof value !== 'object' || value === null || Array.isArray(value)) continue
    for (const [key, inner] of Object.entries(value)) found.push({ path: [...path, key], value: inner as unknown })
  }
  return found
}

function findRows(body: unknown, places: Found[]): Detected['rows'] {
  if (Array.isArray(body)) return { path: '', count: body.length }
  const lists = places.flatMap(({ path, value }) => {
    if (!Array.isArray(value) || !(value as unknown[]).every((item) => typeof item === 'object' && item !== null))
      return []
    if (complaintNames.has(path.at(-1) ?? '')) return []
    const rank = rowNames.indexOf(path.at(-1) ?? '')
    return [{ path, count: value.length, rank: rank === -1 ? rowNames.length : rank }]
  })
  // A list that is called so, then the longest, then the one nearest to the top.
  lists.sort(
    (left, right) =>
      Number(right.count > 0) - Number(left.count > 0) ||
      left.rank - right.rank ||
      right.count - left.count ||
      left.path.length - right.path.length,
  )
  const [best] = lists
  return best === undefined ? null : { path: pathText(best.path), count: best.count }
}

type Seen = { rows: Detected['rows']; hasGraphql: boolean }

function paginationIn(body: unknown, places: Found[], { rows, hasGraphql }: Seen): Detected['pagination'] {
  const at = new Map(places.map(({ path, value }) => [path.join('.'), value]))
  const isLink = (value: unknown) => typeof value === 'string' && /^(https?:\/\/|\/|\?)/.test(value)
  const link = linkPlaces.find((place) => isLink(at.get(place)))
  if (link !== undefined) return { type: 'next_link', path: link.startsWith('@') ? `["${link}"]` : link }
  const info = places.find(({ path, value }) => path.at(-1) === 'endCursor' && typeof value === 'string')
  if (info !== undefined) {
    const path = pathText(info.path)
    const more = { has_more_path: pathText([...info.path.slice(0, -1), 'hasNextPage']) }
    const place = hasGraphql ? ({ parameter: 'variables.after', in: 'body' } as const) : { parameter: 'after' }
    return { type: 'cursor', path, ...place, ...more }
  }
  const isCursor = (value: unknown) => (typeof value === 'string' && value !== '') || typeof value === 'number'
  const cursor = Object.entries(cursorPlaces).find(([place]) => isCursor(at.get(place)))
  if (cursor !== undefined) return { type: 'cursor', path: cursor[0], parameter: cursor[1] }
  if (typeof at.get('has_more') === 'boolean' && rows !== null && rows.count > 0) {
    return { type: 'cursor', from: 'last_row', path: 'id', parameter: 'starting_after', has_more_path: 'has_more' }
  }
  return countedIn(body, at, rows)
}

/** An answer that says which page it is, or where it begins, of how many. */
function countedIn(body: unknown, at: Map<string, unknown>, rows: Detected['rows']): Detected['pagination'] {
  if (Array.isArray(body) || rows === null) return null
  const number = (names: string[]) => names.map((name) => at.get(name)).find((value) => typeof value === 'number')
  const groups = ['', 'meta.', 'pagination.', 'paging.', 'page.', 'info.']
  const under = (names: string) => groups.flatMap((group) => names.split(' ').map((name) => `${group}${name}`))
  const total = number(under('total total_count totalCount count total_results'))
  const pages = number(under('total_pages totalPages pages page_count last_page'))
  const page = number(under('page current_page currentPage page_number'))
  const offset = number(under('offset skip start'))
  if (offset !== undefined && total !== undefined && total > rows.count) {
    return { type: 'offset', limit: Math.max(1, rows.count) }
  }
  if (page === undefined || (pages === undefined && total === undefined)) return null
  const hasMore = pages === undefined ? Number(total) > rows.count : pages > page
  return hasMore ? { type: 'page', first: page === 0 ? 0 : 1 } : null
}

function pathText(steps: string[]): string {
  return steps
    .map((step, index) => {
      if (!/^[^.[\]"']+$/.test(step)) return `[${JSON.stringify(step)}]`
      return index === 0 ? step : `.${step}`
    })
    .join('')
}
