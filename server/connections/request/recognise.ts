import type { HttpConfiguration, Pagination } from '../../../api/connections.ts'
import type { Position } from '../../rows/index.ts'
import { nextLink } from './pages.ts'

/** Recognised parts of an answer: where its rows are, and how it goes on. */
type Recognised = {
  rows: { path: string; count: number } | null
  pagination: Partial<Pagination> | null
}

/** A parameter that a request takes or has, and the most or the usual of it where that is a number. */
export type TakenParameter = { name: string; limit?: number | undefined; first?: number | undefined }

/** An answer, or a sample of one, and what is known of the request for it. */
type Asked = {
  headers: Record<string, string>
  parameters: TakenParameter[]
  /** The text of a GraphQL query; null where it is none. */
  graphql: string | null
  /** The parameters are all that a document knows of, and the answer is a sample that says nothing about its length. */
  isSample: boolean
}

/** Names of lists of records, the most telling first. */
const rowNames =
  'items results records rows data values value entries docs hits objects list features content nodes edges'.split(' ')

/** Lists that say why there are no rows, and those of JSON:API that only belong to them. */
const otherLists = new Set(['errors', 'warnings', 'included'])

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
  'odata.nextLink',
  'nextLink',
  'd.__next',
  '__next',
  'next_page_url',
  'next_url',
]
/** Places of cursors, and the parameters that take them. */
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

/** Names that APIs give the parameters of their pages. */
const cursorNames =
  'cursor after page_token pageToken next_token nextToken continuation starting_after start_cursor page[after] page[cursor] marker scroll_id'.split(
    ' ',
  )
const offsetNames = 'offset skip $skip start from startIndex start_index page[offset]'.split(' ')
const limitNames =
  'limit per_page perPage page_size pageSize size top $top count max_results maxResults page[limit] page[size]'.split(
    ' ',
  )
const pageNames = 'page page_number pageNumber pageNo p page[number]'.split(' ')

/** Looks at one answer. It says what is likely, never more: a person or a program takes it over. */
export function recognise(outline: Position[], asked: Asked): Recognised {
  const rows = findRows(outline)
  const { headers, parameters } = asked
  const found =
    nextLink(headers['link']) === null ? paginationIn(outline, rows, asked) : ({ type: 'link_header' } as const)
  return {
    rows,
    pagination: fitted(found, asked) ?? counted(parameters, asked.isSample ? Infinity : (rows?.count ?? 0)),
  }
}

/** Parameters that a request has itself, as far as they are numbers: its limit, and where it begins. */
export function parametersIn({ url, parameters = {} }: HttpConfiguration): TakenParameter[] {
  const inUrl = URL.canParse(url) ? [...new URL(url).searchParams] : []
  const all: Array<[string, unknown]> = [
    ...inUrl,
    ...Object.entries(parameters).map(([name, { value }]): [string, unknown] => [name, value]),
  ]
  return all.map(([name, value]) => {
    const number = value === '' || value === null || Array.isArray(value) ? Number.NaN : Number(value)
    return Number.isSafeInteger(number) && number >= 0 ? { name, limit: number, first: number } : { name }
  })
}

/** The text of a GraphQL query, in a body of that type or in one of JSON; null where there is none. */
export function graphqlIn({ body }: Pick<HttpConfiguration, 'body'>): string | null {
  const content: unknown = typeof body?.['type'] === 'string' ? body['content'] : body
  if (body?.['type'] === 'graphql' && typeof content === 'string') return content
  const query = typeof content === 'object' && content !== null && 'query' in content ? content.query : null
  return typeof query === 'string' && /^\s*(#|\{|query\b)/.test(query) ? query : null
}

function findRows(places: Position[]): Recognised['rows'] {
  const whole = places[0]?.list
  if (whole !== undefined) return { path: '', count: whole.count }
  const lists = places.flatMap(({ path, list }) => {
    if (list?.holdsObjects !== true || otherLists.has(path.at(-1) ?? '')) return []
    const rank = rowNames.indexOf(path.at(-1) ?? '')
    return [{ path, ...list, rank: rank === -1 ? rowNames.length : rank }]
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
  if (best === undefined) return null
  // The edges of Relay hold a cursor each, and the rows behind it.
  const isEdges = best.path.at(-1) === 'edges' && best.holdsNodes === true
  return { path: `${pathText(best.path)}${isEdges ? '.*.node' : ''}`, count: best.count }
}

type At = Map<string, Position['value']>

function paginationIn(places: Position[], rows: Recognised['rows'], { graphql }: Asked): Recognised['pagination'] {
  const at: At = new Map(places.map(({ path, value }) => [path.join('.'), value]))
  const link = linkPlaces.find((place) => isLink(place, at.get(place)) || isLastLink(place, at))
  if (link !== undefined) return { type: 'next_link', path: link.includes('odata.') ? `["${link}"]` : link }
  const info = places.find(({ path, value }) => path.at(-1) === 'endCursor' && typeof value === 'string')
  if (info !== undefined) return relay(info.path, graphql)
  const isCursor = (value: unknown) => (typeof value === 'string' && value !== '') || typeof value === 'number'
  const cursor = Object.entries(cursorPlaces).find(([place]) => isCursor(at.get(place)))
  if (cursor !== undefined) return { type: 'cursor', path: cursor[0], parameter: cursor[1] }
  if (typeof at.get('has_more') === 'boolean' && rows !== null && rows.count > 0) {
    return { type: 'cursor', from: 'last_row', path: 'id', parameter: 'starting_after', has_more_path: 'has_more' }
  }
  return countedIn(at, rows)
}

/** Relay's pages; in GraphQL by the variable that the query gives to `after`, and without one there is no way on. */
function relay(cursor: string[], graphql: string | null): Recognised['pagination'] {
  const path = pathText(cursor)
  const more = { has_more_path: pathText([...cursor.slice(0, -1), 'hasNextPage']) }
  if (graphql === null) return { type: 'cursor', path, parameter: 'after', ...more }
  const variable = /\bafter\s*:\s*\$([A-Za-z_]\w*)/.exec(graphql)?.[1]
  if (variable === undefined) return null
  return { type: 'cursor', path, parameter: `variables.${variable}`, in: 'body', ...more }
}

/** A field that is called a link may be relative to the address (`Orders?$skiptoken=20`); a cursor is none. */
function isLink(place: string, value: unknown): boolean {
  if (typeof value !== 'string') return false
  return /^(https?:\/\/|\/|\?)/.test(value) || (/(link|__next)$/i.test(place) && /^[^\s?#]+\?\S+=/.test(value))
}

/** A link that is null says that this is the last page, where others stand beside it. */
function isLastLink(place: string, at: At): boolean {
  const [, beside = '', name] = /^(.*\.)?(\w+)$/.exec(place) ?? []
  if (name !== 'next' || at.get(place) !== null) return false
  return ['previous', 'prev', 'first', 'last', 'self'].some((other) => at.get(beside + other) !== undefined)
}

/** An answer that says which page it is, or where it begins, of how many. */
function countedIn(at: At, rows: Recognised['rows']): Recognised['pagination'] {
  if (rows === null || rows.path === '') return null
  const number = (names: string[]) => names.map((name) => at.get(name)).find((value) => typeof value === 'number')
  const groups = ['', 'meta.', 'pagination.', 'paging.', 'page.', 'info.']
  const under = (names: string) => groups.flatMap((group) => names.split(' ').map((name) => `${group}${name}`))
  const odata = number(['@odata.count', 'odata.count'])
  if (odata !== undefined && odata > rows.count && rows.count > 0) {
    return { type: 'offset', parameter: '$skip', limit_parameter: '$top', limit: rows.count }
  }
  const total = number(under('total total_count totalCount count total_results totalElements totalItems'))
  const pages = number(under('total_pages totalPages pages page_count last_page'))
  const page = number([...under('page current_page currentPage page_number'), 'page.number', 'number'])
  const offset = number(under('offset skip start'))
  if (offset !== undefined && total !== undefined && total > rows.count) {
    return { type: 'offset', limit: Math.max(1, rows.count) }
  }
  if (page === undefined || (pages === undefined && total === undefined)) return null
  const isZero = page === 0
  const hasMore = pages === undefined ? Number(total) > rows.count : isZero ? pages > 1 : pages > page
  return hasMore ? { type: 'page', first: isZero ? 0 : 1 } : null
}

const among = (parameters: TakenParameter[], names: string[]): TakenParameter | undefined =>
  names.map((name) => parameters.find((each) => each.name === name)).find((each) => each !== undefined)

/** The rule that an answer suggests, with the parameters of the request; null where a document knows of none for it. */
function fitted(found: Recognised['pagination'], { parameters, isSample }: Asked): Recognised['pagination'] {
  if (found === null || found.type === 'link_header' || found.type === 'next_link') return found
  if (found.type === 'cursor') {
    if (found.in === 'body') return found
    const own = parameters.find(({ name }) => name === found.parameter) ?? among(parameters, cursorNames)
    if (own === undefined) return isSample ? null : found
    return { ...found, parameter: own.name }
  }
  if (isSample) return null
  const name = among(parameters, found.type === 'page' ? pageNames : offsetNames)?.name
  if (found.type === 'page') return { ...found, ...(name !== undefined && { parameter: name }) }
  const limit = among(parameters, limitNames)
  return {
    ...found,
    ...(name !== undefined && { parameter: name }),
    ...(limit !== undefined && { limit_parameter: limit.name }),
  }
}

/** Pages that a request asks for by number, where an answer says nothing against it: it is as long as it may be. */
function counted(parameters: TakenParameter[], rowCount: number): Recognised['pagination'] {
  const limit = among(parameters, limitNames)
  if (rowCount !== Infinity && (limit?.limit === undefined || rowCount < Math.max(1, limit.limit))) return null
  const offset = among(parameters, offsetNames)
  if (offset !== undefined && limit !== undefined) {
    return { type: 'offset', parameter: offset.name, limit_parameter: limit.name, limit: limit.limit ?? 100 }
  }
  const page = among(parameters, pageNames)
  return page === undefined ? null : { type: 'page', parameter: page.name, first: page.first === 0 ? 0 : 1 }
}

function pathText(steps: string[]): string {
  return steps
    .map((step, index) => {
      if (!/^[^.[\]"']+$/.test(step)) return `[${JSON.stringify(step)}]`
      return index === 0 ? step : `.${step}`
    })
    .join('')
}
