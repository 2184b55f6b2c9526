import type { Fields, Operation } from './contract.ts'
import { valueOf } from './values.ts'

/**
 * How an API seems to page, told by the names of its parameters and of the fields of its answer alone: what an entry says
 * of it has to agree.
 */

const sizes = /^(limit|count|take|pagelen|(per|max)_?(page|results)|page_?size|page\[(size|limit)\])$/i
const pages = /^(page|page_?number|page\[number\])$/i
const offsets = /^(offset|skip|start|start_?at)$/i
const cursors = /^(cursor|starting_?after|after|page\[cursor\]|page_?token|latest|until|from|marker|offset)$/i

export type Window = { from: number; to: number; more: boolean }
type Query = URLSearchParams | Map<string, string>

/** What an answer needs to say how it goes on. */
export type Asked = { total: number; window: Window; next: { link: string; cursor: string }; size: number }

/** How many rows make three pages of this request, or two large ones, or a handful where an API has no pages. */
export function rowsFor(operation: Operation, query: Query): number {
  const size = sizeOf(operation, query)
  if (!hasPages(operation)) return 12
  return size > 100 ? size + 2 : 2 * size + 2
}

export function hasPages(operation: Operation): boolean {
  const names = namesOf(operation)
  return (
    names.some((name) => pages.test(name) || isOffset(operation, name) || isCursor(operation, name)) ||
    hasNext(operation.answer) ||
    operation.headers?.includes('link') === true
  )
}

/** The rows of a page; text where the request asks for none that there is. */
export function windowOf(
  operation: Operation,
  query: Query,
  { total, find }: { total: number; find: (value: string) => number | undefined },
): Window | string {
  if (!hasPages(operation)) return { from: 0, to: total, more: false }
  const size = sizeOf(operation, query)
  let from = 0
  for (const name of namesOf(operation)) {
    const value = query.get(name)
    if (value === null || value === undefined) continue
    if (isCursor(operation, name)) {
      const at = find(value)
      if (at === undefined && /^(cursor|starting_?after|after|page\[cursor\]|page_?token)$/i.test(name))
        return `${name} is no cursor: ${value}`
      from = at ?? from
    } else if (isOffset(operation, name)) from = Number(value)
    else if (pages.test(name)) from = (Number(value) - firstPage(operation, name, value)) * size
  }
  const mark = query.get('__from')
  if (mark !== null && mark !== undefined) from = Number(mark)
  return { from, to: Math.min(total, from + size), more: from + size < total }
}

/** Page 0 exists where the document says so, or somebody began with it. */
function firstPage(operation: Operation, name: string, asked: string): number {
  const { minimum, default: usual } = operation.parameters[name] ?? {}
  if (minimum !== undefined) return minimum
  if (asked === '0') begunAtZero.add(operation)
  return usual === 0 || begunAtZero.has(operation) ? 0 : 1
}

const begunAtZero = new WeakSet<Operation>()

function sizeOf(operation: Operation, query: Query): number {
  const name = namesOf(operation).find((each) => sizes.test(each))
  const asked = name === undefined ? null : query.get(name)
  if (asked !== null && asked !== undefined) return Number(asked)
  const usual = name === undefined ? undefined : operation.parameters[name]?.default
  return typeof usual === 'number' && usual > 0 && usual <= 100 ? usual : 10
}

function namesOf({ parameters, body }: Operation): string[] {
  const inBody = typeof body === 'object' && !Array.isArray(body) ? Object.keys(body) : []
  const inQuery = Object.entries(parameters).flatMap(([name, each]) => (each.in === 'query' ? [name] : []))
  return [...inQuery, ...inBody]
}

function isOffset({ parameters }: Operation, name: string): boolean {
  return offsets.test(name) && /^(integer|number)/.test(parameters[name]?.type ?? '')
}

function isCursor(operation: Operation, name: string): boolean {
  const { type = 'string' } = operation.parameters[name] ?? {}
  return cursors.test(name) && !type.includes(':date') && !isOffset(operation, name) && !/^(integer)/.test(type)
}

const nextNames = /^(next|next_?(page|link|url|uri|href|page_ur[il]|cursor|page_token)|@odata\.nextLink)$/i

function hasNext(fields: Fields | undefined, depth = 0): boolean {
  if (fields === undefined || typeof fields === 'string' || Array.isArray(fields) || depth > 2) return false
  return Object.entries(fields).some(([name, each]) => nextNames.test(name) || hasNext(each, depth + 1))
}

/** The answer around its rows: links, cursors and totals where the document has fields for them. */
export function answerAround(
  fields: Fields,
  rows: { path: string[]; value: unknown },
  asked: Asked,
  above: string[] = [],
): unknown {
  if (rows.path.length === 0) return rows.value
  if (typeof fields === 'string' || Array.isArray(fields)) return rows.value
  const [inside, ...rest] = rows.path
  const entries = Object.entries(fields).flatMap(([name, each]) => {
    if (name === inside)
      return [
        [
          name,
          rest.length === 0
            ? rows.value
            : answerAround(each, { path: rest, value: rows.value }, asked, [...above, name]),
        ] as const,
      ]
    const value = fieldAround(name, each, asked, above)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(entries)
}

const totals =
  /^(total|count|totalcount|total_?(count|rows|items|results|entries|matching|returned)|items_?total|results|totalresults|itemcount)$/i

function fieldAround(name: string, fields: Fields, asked: Asked, above: string[]): unknown {
  const { window, total, next, size } = asked
  if (/^(errors?|warnings?|error_?(code|message|description)|faults?|included)$/i.test(name)) return undefined
  if (Array.isArray(fields)) return []
  if (typeof fields === 'object') {
    const inner = Object.entries(fields).flatMap(([each, type]) => {
      const value = fieldAround(each, type, asked, [...above, name])
      return value === undefined ? [] : [[each, value] as const]
    })
    // Without a next page, what holds its address or cursor is left out.
    return nextNames.test(name) && !window.more ? undefined : Object.fromEntries(inner)
  }
  const isNext = nextNames.test(name) || above.some((each) => nextNames.test(each))
  if (/has_?(more|next)|^more$/i.test(name)) return window.more
  if (/^(is)?_?(last|done)$/i.test(name) && fields.startsWith('boolean')) return !window.more
  if (/prev/i.test(name) || above.some((each) => /prev/i.test(each))) return fields.endsWith('?') ? null : undefined
  const isCursor =
    /^(cursor|next_?cursor|after|starting_?after|next_?page_?token|token|marker|bookmark)$/i.test(name) ||
    (isNext && name === 'offset')
  if (isCursor && fields.startsWith('string'))
    return window.more ? next.cursor : fields.endsWith('?') ? null : undefined
  if (isNext && /^(number|integer)/.test(fields)) return window.more ? Number(next.cursor) : null
  if (isNext && fields.startsWith('string')) {
    if (!window.more) return fields.endsWith('?') ? null : undefined
    return /uri$/i.test(name) && above.length === 0 ? next.link.replace(/^https?:\/\/[^/]+/, '') : next.link
  }
  if (totals.test(name) && /^(integer|number)/.test(fields)) return total
  if (/^(pages|total_?pages|pages_?total|page_?count)$/i.test(name)) return Math.ceil(total / size)
  if (name === 'ok') return true
  return valueOf(name, fields, 0)
}
