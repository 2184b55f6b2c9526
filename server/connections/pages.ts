import { type Pagination } from '../../api/connections.ts'
import { Failure } from '../failure.ts'
import { withQuery } from './build-request.ts'
import { parsePath, valueAt } from '../rows/index.ts'

/** What one page told: the headers of its answer, its body where the rule looks into it, and how many rows it had. */
export type Page = { url: string; headers: Record<string, string>; body: unknown; rowCount: number; digest: string }

/**
 * Why no page follows. `again`: this very page came before, its rows do not count. `circle`: the next address was there
 * already. `cap`: there is more, but enough pages were read. `refused`: the API gives no more, and perhaps it has more.
 */
export type End = 'last' | 'again' | 'circle' | 'cap' | 'refused'

export type NextPage = { url: string } | { end: End }

/** Whether the rule has to look into the body of a page. */
export function readsBody(rule: Pagination): boolean {
  return rule.type === 'next_link' || rule.type === 'cursor'
}

/** Whether we count the pages ourselves, so that we ask for one behind the last. */
function isCounted(rule: Pagination): boolean {
  return rule.type === 'offset' || rule.type === 'page'
}

/** Whether rows are missing when the walk ended so. */
export function isCutShort(end: End): boolean {
  return end !== 'last' && end !== 'again'
}

/** The address of the first page: offset and page number start where the rule says. */
export function firstPage(rule: Pagination, url: string): string {
  if (rule.type === 'page') return withQuery(new URL(url), [[rule.parameter, String(rule.first)]])
  if (rule.type !== 'offset') return url
  return withQuery(new URL(url), [
    [rule.parameter, '0'],
    [rule.limit_parameter, String(rule.limit)],
  ])
}

/** Walks from page to page. Keeps what it has seen, so that an address that comes again ends the walk. */
export function createPager(rule: Pagination, firstUrl: string) {
  const addresses = new Set([firstUrl])
  let before: string | null = null
  let pages = 0
  let rows = 0
  let firstRows = 0
  let lastRows = 0

  function next(page: Page): NextPage {
    pages += 1
    rows += page.rowCount
    if (pages === 1) firstRows = page.rowCount
    lastRows = page.rowCount
    // Counted pages that run out may repeat the last one. Pages behind links of their own may well hold the same.
    const isAgain = isCounted(rule) && page.rowCount > 0 && page.digest === before
    before = page.digest
    if (isAgain) return { end: 'again' }
    const url = nextUrl(rule, page, { pages, rows, firstRows })
    if (url === null) return { end: 'last' }
    if (addresses.has(url)) return { end: 'circle' }
    if (pages >= rule.max_pages) return { end: 'cap' }
    addresses.add(url)
    return { url }
  }

  /** What it means that the API refuses a page: with those that are counted, often that there are no more. */
  function refused(status: number): End | null {
    if (pages === 0 || !isCounted(rule)) return null
    if (status === 404 || status === 410 || status === 416) return 'last'
    if (status === 400 || status === 422) return lastRows < firstRows ? 'last' : 'refused'
    return null
  }

  return { next, refused }
}

type Walked = { pages: number; rows: number; firstRows: number }

function nextUrl(rule: Pagination, page: Page, { pages, rows, firstRows }: Walked): string | null {
  const at = new URL(page.url)
  switch (rule.type) {
    case 'link_header':
      return absolute(nextLink(page.headers['link']), at)
    case 'next_link':
      return absolute(textAt(page.body, rule.path), at)
    case 'cursor': {
      const cursor = textAt(page.body, rule.path)
      return cursor === null || page.rowCount === 0 ? null : withQuery(at, [[rule.parameter, cursor]])
    }
    case 'offset':
      // Many APIs give fewer than they are asked for: the first page tells how many make a full one.
      return page.rowCount === 0 || page.rowCount < firstRows ? null : withQuery(at, [[rule.parameter, String(rows)]])
    case 'page':
      return page.rowCount === 0 ? null : withQuery(at, [[rule.parameter, String(rule.first + pages)]])
    default:
      return rule satisfies never
  }
}

/**
 * A page without the link or cursor is the last one: a missing, null or empty value says so. A link may be an object
 * with its address as `href`, as in JSON:API and HAL.
 */
function textAt(body: unknown, path: string): string | null {
  try {
    const found = valueAt(body, parsePath(path))
    const value = typeof found === 'object' && found !== null && 'href' in found ? found.href : found
    if (typeof value === 'number') return String(value)
    if (typeof value === 'string') return value === '' ? null : value
    if (value === null || value === undefined || value === false) return null
    throw noPlace(path)
  } catch (error) {
    if (error instanceof Failure && error.reason === 'extractor_no_match') return null
    throw error
  }
}

function noPlace(path: string): Failure {
  const message = `leads to something that is neither a link nor a cursor: ${path}`
  return new Failure('invalid_request', {
    reason: 'invalid_field',
    message: `pagination.path ${message}.`,
    details: [{ field: 'pagination.path', message }],
  })
}

/** The target of `rel="next"` in a `Link` header (RFC 8288). */
export function nextLink(header: string | undefined): string | null {
  for (const link of (header ?? '').split(/,(?=\s*<)/)) {
    const [, target = '', parameters = ''] = /^\s*<([^>]*)>(.*)$/s.exec(link) ?? []
    const relations = parameters
      .split(';')
      .map((parameter) => /^\s*rel\s*=\s*"?([^"]*)"?\s*$/i.exec(parameter)?.[1] ?? '')
    if (relations.some((names) => names.toLowerCase().split(/\s+/).includes('next'))) return target
  }
  return null
}

function absolute(link: string | null, base: URL): string | null {
  if (link === null || !URL.canParse(link, base.href)) return null
  const url = new URL(link, base)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null
}
