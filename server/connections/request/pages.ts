import { type Pagination } from '../../../api/connections.ts'
import { Failure, invalidField } from '../../failure.ts'
import { withQuery } from './build-request.ts'
import { parsePath, type JsonPath } from '../../rows/index.ts'

/** One fetched page: the headers of its answer, what stands at the paths of the rule in it, and its rows. */
export type FetchedPage = {
  call: PageCall
  headers: Record<string, string>
  /** By path, those of the body and those of the last row; a path that leads nowhere has none. */
  values: Record<string, unknown>
  rowValues: Record<string, unknown>
  rowCount: number
  /** Digest of its rows: the same digest is the same rows. */
  digest: string
}

/** How a page is asked for: an address, and values at paths of the body. */
export type PageCall = { url: string; values?: BodyValue[] }
export type BodyValue = { path: JsonPath; value: unknown }

/**
 * Why no page follows. `clamped`: this very page came before and is shorter than a full one: the API gives the last page
 * for every number behind it. `again`: it came before and is full, so there may be more. `circle`: the next call was made
 * already. `cap`: there is more, but enough pages were read. `refused`: the API gives no more, and perhaps it has more.
 */
export type End = 'last' | 'clamped' | 'again' | 'circle' | 'cap' | 'refused'

export type NextPage = { call: PageCall } | { end: End }

/** The paths that the rule looks at in the body of a page, and in its last row. */
export function pathsOf(rule: Pagination): { paths: string[]; rowPaths: string[] } {
  const ofRow = rule.type === 'cursor' && rule.from === 'last_row'
  const own = rule.type === 'next_link' || rule.type === 'cursor' ? [rule.path] : []
  const more = rule.has_more_path === undefined ? [] : [rule.has_more_path]
  return { paths: [...(ofRow ? [] : own), ...more], rowPaths: ofRow ? own : [] }
}

/** Says at once which path of a rule cannot be read, instead of at the first load. */
export function checkPagination(rule: Pagination): void {
  if ('path' in rule) parsePath(rule.path, 'pagination.path')
  if (rule.has_more_path !== undefined) parsePath(rule.has_more_path, 'pagination.has_more_path')
  if ('in' in rule && rule.in === 'body') parsePath(rule.parameter, 'pagination.parameter')
  if (rule.type === 'offset' && rule.in === 'body') parsePath(rule.limit_parameter, 'pagination.limit_parameter')
}

/** Whether we count the pages ourselves, so that we ask for one behind the last. */
export function countsPages(rule: Pagination): boolean {
  return rule.type === 'offset' || rule.type === 'page'
}

/** Whether the rows of this page are there already. */
export function isRepeated(end: End): boolean {
  return end === 'clamped' || end === 'again'
}

/** Whether rows may be missing when the walk ended so. */
export function isCutShort(end: End): boolean {
  return end !== 'last' && end !== 'clamped'
}

/** The call of the first page: offset and page number start where the rule says. */
export function firstPage(rule: Pagination, url: string): PageCall {
  if (rule.type === 'page') return withParameters({ url }, rule.in, [[rule.parameter, rule.first]])
  if (rule.type !== 'offset') return { url }
  return withParameters({ url }, rule.in, [
    [rule.parameter, 0],
    [rule.limit_parameter, rule.limit],
  ])
}

/** How far a walk has come, for one that goes on from there. */
export type PagerState = {
  before: string | null
  pages: number
  rows: number
  firstRows: number
  lastRows: number
}
const atStart: PagerState = { before: null, pages: 0, rows: 0, firstRows: 0, lastRows: 0 }

/** Walks from page to page. Keeps what it has seen, so that a call that comes again ends the walk. */
export function createPager(rule: Pagination, first: PageCall, resumed: PagerState = atStart) {
  const calls = new Set([keyOf(first)])
  let { before, pages, rows, firstRows, lastRows } = resumed

  function next(page: FetchedPage): NextPage {
    pages += 1
    rows += page.rowCount
    if (pages === 1) firstRows = page.rowCount
    lastRows = page.rowCount
    const isSame = page.rowCount > 0 && page.digest === before
    before = page.digest
    const call = hasMore(rule, page) ? nextCall(rule, page, { pages, rows, firstRows }) : null
    const isKnown = call !== null && calls.has(keyOf(call))
    // Pages behind links of their own may well hold the same.
    if (isSame && (countsPages(rule) || isKnown)) {
      if (page.rowCount < firstRows) return { end: 'clamped' }
      if (pages === 2) throw repeatedPage(rule)
      return { end: 'again' }
    }
    if (call === null) return { end: 'last' }
    if (isKnown) return { end: 'circle' }
    if (pages >= rule.max_pages) return { end: 'cap' }
    calls.add(keyOf(call))
    return { call }
  }

  /** A refused page ends a load: where pages are counted, it often means that there are no more. */
  function refused(status: number): End | null {
    if (pages === 0 || !countsPages(rule)) return null
    if (status === 404 || status === 410 || status === 416) return 'last'
    if (status === 400 || status === 422) return lastRows < firstRows ? 'last' : 'refused'
    return null
  }

  const state = (): PagerState => ({ before, pages, rows, firstRows, lastRows })

  return { next, refused, state }
}

function keyOf({ url, values = [] }: PageCall): string {
  return values.length === 0 ? url : `${url}\n${JSON.stringify(values.map(({ value }) => value))}`
}

type Walked = { pages: number; rows: number; firstRows: number }

function nextCall(rule: Pagination, page: FetchedPage, { pages, rows, firstRows }: Walked): PageCall | null {
  const at = new URL(page.call.url)
  switch (rule.type) {
    case 'link_header':
      return addressed(absolute(nextLink(page.headers['link']), at))
    case 'next_link':
      return addressed(absolute(linkAt(page.values, rule.path), at))
    case 'cursor': {
      const cursor = page.rowCount === 0 ? null : cursorAt(rule, page)
      return cursor === null ? null : withParameters(page.call, rule.in, [[rule.parameter, cursor]])
    }
    case 'offset': {
      // Many APIs give fewer than they are asked for: the first page tells how many make a full one.
      const isShort = rule.stop_when !== 'empty' && page.rowCount < firstRows
      return page.rowCount === 0 || isShort ? null : withParameters(page.call, rule.in, [[rule.parameter, rows]])
    }
    case 'page': {
      const isShort = rule.stop_when === 'short' && page.rowCount < firstRows
      const number = rule.first + pages
      return page.rowCount === 0 || isShort ? null : withParameters(page.call, rule.in, [[rule.parameter, number]])
    }
    default:
      return rule satisfies never
  }
}

function addressed(url: string | null): PageCall | null {
  return url === null ? null : { url }
}

/** The same call with further values, each in the place of an earlier one of its name. */
function withParameters(call: PageCall, place: 'query' | 'body', pairs: [string, unknown][]): PageCall {
  if (place === 'query') {
    const texts = pairs.map(([name, value]): [string, string] => [name, String(value)])
    return { ...call, url: withQuery(new URL(call.url), texts) }
  }
  const added = pairs.map(([name, value]) => ({ path: parsePath(name, 'pagination.parameter'), value }))
  const kept = (call.values ?? []).filter(({ path }) => !added.some((each) => each.path.text === path.text))
  return { ...call, values: [...kept, ...added] }
}

/** The answer itself may say whether there are further pages; without such a place the rule finds out. */
function hasMore(rule: Pagination, { values }: FetchedPage): boolean {
  if (rule.has_more_path === undefined) return true
  const found = foundAt(values, rule.has_more_path)
  if (found === undefined) {
    const message = `leads nowhere in the answer: ${rule.has_more_path}`
    throw invalidField('pagination.has_more_path', message)
  }
  return found !== null && found !== false && found !== 0 && found !== '' && found !== 'false'
}

/** Undefined where the path leads nowhere. */
function foundAt(values: Record<string, unknown>, path: string): unknown {
  return Object.hasOwn(values, path) ? values[path] : undefined
}

/**
 * A page without the link is the last one: a missing, null or empty value says so. A link may be an object with its
 * address as `href`, as in JSON:API and HAL.
 */
function linkAt(values: Record<string, unknown>, path: string): string | null {
  const found = foundAt(values, path)
  const value = typeof found === 'object' && found !== null && 'href' in found ? found.href : found
  const link = scalarOf(value)
  if (link === undefined)
    throw invalidField('pagination.path', `leads to something that is neither a link nor a cursor: ${path}`)
  return link === null ? null : String(link)
}

/** In a body a cursor may be anything, such as the list that `search_after` takes; in a query it is one value. */
function cursorAt(rule: Extract<Pagination, { type: 'cursor' }>, page: FetchedPage): unknown {
  const value = foundAt(rule.from === 'last_row' ? page.rowValues : page.values, rule.path)
  const cursor = scalarOf(value)
  if (cursor !== undefined) return cursor
  if (rule.in === 'body' && Array.isArray(value)) return value.length === 0 ? null : value
  throw invalidField('pagination.path', `leads to something that is neither a link nor a cursor: ${rule.path}`)
}

/** Null for what says that there is none, undefined for what is no single value. */
function scalarOf(value: unknown): string | number | null | undefined {
  if (typeof value === 'number') return value
  if (typeof value === 'string') return value === '' ? null : value
  return value === null || value === undefined || value === false ? null : undefined
}

function repeatedPage(rule: Pagination): Failure {
  const name = 'parameter' in rule ? `the parameter ${rule.parameter}` : 'the link'
  return new Failure('upstream_error', {
    reason: 'repeated_page',
    message: `The second page has the same rows as the first: the API seems to ignore ${name}. Check its name and place, or leave pagination out if one page is all there is.`,
  })
}

/** The target of `rel="next"` in a `Link` header (RFC 8288). */
export function nextLink(header: string | undefined): string | null {
  for (const link of (header ?? '').split(/,(?=\s*<)/)) {
    const [, target = '', parameters = ''] = /^\s*<([^>]*)>(.*)$/s.exec(link) ?? []
    if (parameters.split(';').some((parameter) => relationsOf(parameter).includes('next'))) return target
  }
  return null
}

/** Without a pattern over all of it: an upstream wrote it, and blanks can be matched in many ways. */
function relationsOf(parameter: string): string[] {
  const at = parameter.indexOf('=')
  if (parameter.slice(0, at).trim().toLowerCase() !== 'rel') return []
  return parameter
    .slice(at + 1)
    .trim()
    .replaceAll(/^"|"$/g, '')
    .toLowerCase()
    .split(/\s+/)
}

function absolute(link: string | null, base: URL): string | null {
  if (link === null || !URL.canParse(link, base.href)) return null
  const url = new URL(link, base)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null
}
