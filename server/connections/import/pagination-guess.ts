import type { Pagination } from '../../../api/connections.ts'
import { detect, type Detected } from '../detect.ts'

/** What APIs call the parameters of their pages. */
const cursorNames = [
  'cursor',
  'after',
  'page_token',
  'pageToken',
  'next_token',
  'nextToken',
  'continuation',
  'starting_after',
  'start_cursor',
  'page[after]',
  'page[cursor]',
  'marker',
  'scroll_id',
]
const offsetNames = ['offset', 'skip', '$skip', 'start', 'from', 'startIndex', 'start_index', 'page[offset]']
const limitNames = [
  'limit',
  'per_page',
  'perPage',
  'page_size',
  'pageSize',
  'size',
  'top',
  '$top',
  'count',
  'max_results',
  'maxResults',
  'page[limit]',
  'page[size]',
]
const pageNames = ['page', 'page_number', 'pageNumber', 'pageNo', 'p', 'page[number]']

/** A parameter that a request takes, and the most or the usual of it where that is a number. */
export type TakenParameter = { name: string; limit?: number | undefined; first?: number | undefined }

/** Where rows are and how they go on, by an answer, or what one would look like, and the parameters that are taken. */
export function guessPagination(
  answer: unknown,
  { parameters, hasLinks, hasGraphql }: { parameters: TakenParameter[]; hasLinks: boolean; hasGraphql: boolean },
): Detected {
  const headers: Record<string, string> = hasLinks ? { link: '<https://api.example/next>; rel="next"' } : {}
  const { rows, pagination } = detect(answer, { headers, hasGraphql })
  return { rows, pagination: fitted(pagination, parameters) ?? counted(parameters) }
}

const among = (parameters: TakenParameter[], names: string[]): TakenParameter | undefined =>
  names.map((name) => parameters.find((each) => each.name === name)).find((each) => each !== undefined)

/** What an answer suggests, with the parameter that the request really takes; null where it takes none. */
function fitted(found: Detected['pagination'], parameters: TakenParameter[]): Partial<Pagination> | null {
  if (found === null || found.type === 'link_header' || found.type === 'next_link') return found
  if (found.type === 'cursor') {
    if (found.in === 'body') return found
    const named = found.parameter === undefined ? undefined : parameters.find(({ name }) => name === found.parameter)
    const taken = named ?? among(parameters, cursorNames)
    return taken === undefined ? null : { ...found, parameter: taken.name }
  }
  return null
}

function counted(parameters: TakenParameter[]): Partial<Pagination> | null {
  const limit = among(parameters, limitNames)
  const offset = among(parameters, offsetNames)
  if (offset !== undefined && limit !== undefined) {
    return { type: 'offset', parameter: offset.name, limit_parameter: limit.name, limit: limit.limit ?? 100 }
  }
  const page = among(parameters, pageNames)
  return page === undefined ? null : { type: 'page', parameter: page.name, first: page.first === 0 ? 0 : 1 }
}
