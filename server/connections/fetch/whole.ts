import type { HttpConfiguration, Pagination } from '../../../api/connections.ts'
import type { Converted, PageValues } from '../../engine/index.ts'
import { Failure } from '../../failure.ts'
import type { Position } from '../../rows/index.ts'
import type { LoadWarning } from '../../store/index.ts'

/** Evidence that pages gave beside their rows, in a form that can be stored between attempts. */
export type Seen = {
  /** Totals by the API's own count: of the first page, and of the last page that names one. */
  firstTotal: number | null
  total: number | null
  /** State of the next page's field; `left_out` where leaving it out is how an API ends. */
  next: 'unasked' | 'absent' | 'left_out' | 'found'
  errors: string | null
  /** The pages are counted, so that rows that come or go move between them. */
  isCounted: boolean
  pages: number
  firstRows: number
  rows: number
}

export const nothingSeen: Seen = {
  firstTotal: null,
  total: null,
  next: 'unasked',
  errors: null,
  isCounted: false,
  pages: 0,
  firstRows: 0,
  rows: 0,
}

/** Paths of the first error in an answer. */
export const errorPaths = ['errors[0].message', 'errors[0].detail', 'errors[0]', 'error.message']

/** Names that their protocols leave out of a last page: OData, Google's APIs and AWS's. */
const leftOutAtTheEnd = /(^|\.|")(@?odata\.nextLink|nextLink|nextPageToken|NextToken)"?\]?$/i
/** JSON:API and HAL leave a link out of an object of links that is there. */
const linkObjects = /^(.*\b_?links)\.next(\.href)?$/

type Page = { rule: Pagination | undefined; values: PageValues; total: number | null; rowCount: number }

/** Evidence with that of one more page. */
export function seenWith(seen: Seen, { rule, values: { outline, values, rowValues }, total, rowCount }: Page): Seen {
  const isFirst = seen.pages === 0
  return {
    ...seen,
    firstTotal: isFirst ? total : seen.firstTotal,
    total: total ?? seen.total,
    next: rule === undefined ? seen.next : nextSeen(seen, rule, { values, rowValues, outline }),
    errors: seen.errors ?? (outline === null ? null : errorsIn(outline, values)),
    pages: seen.pages + 1,
    firstRows: isFirst ? rowCount : seen.firstRows,
    rows: seen.rows + rowCount,
  }
}

function nextSeen({ next }: Seen, rule: Pagination, { values, rowValues, outline }: PageValues): Seen['next'] {
  if (next === 'found' || (rule.type !== 'next_link' && rule.type !== 'cursor')) return next
  const ofRow = rule.type === 'cursor' && rule.from === 'last_row'
  if (Object.hasOwn(ofRow ? rowValues : values, rule.path)) return 'found'
  if (next !== 'unasked') return next
  const [, links] = linkObjects.exec(rule.path) ?? []
  const hasLinks = links !== undefined && outline?.some(({ path }) => path.join('.') === links) === true
  return hasLinks || leftOutAtTheEnd.test(rule.path) ? 'left_out' : 'absent'
}

/** Errors of an answer in its own words; null where it has none. */
export function errorsIn(outline: Position[], values: Record<string, unknown>): string | null {
  const at = outline.find(({ path: [name, more] }) => more === undefined && (name === 'errors' || name === 'error'))
  if (at === undefined) return null
  const isSaid = at.list === undefined ? at.value === undefined || isWord(at.value) : at.list.count > 0
  if (!isSaid) return null
  const said = [...errorPaths.map((path) => values[path]), at.value].find((value) => typeof value === 'string')
  return shortened(typeof said === 'string' ? said : 'It does not say which.')
}

/** The texts at those places of an answer that is at hand. */
export function errorTexts(data: unknown): Record<string, unknown> {
  const { errors, error } = (data ?? {}) as { errors?: unknown; error?: { message?: unknown } | null }
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  const { message, detail } = (first ?? {}) as { message?: unknown; detail?: unknown }
  const texts = [message, detail, first, error?.message]
  return Object.fromEntries(errorPaths.map((path, index) => [path, texts[index]]))
}

/** GraphQL's answer to a request that failed as a whole: `data` is null, or not there beside the errors. */
export function hasNoData(outline: Position[]): boolean {
  const data = outline.find(({ path }) => path.length === 1 && path[0] === 'data')
  if (data !== undefined) return data.value === null
  const lists = outline.filter(({ list }) => list?.holdsObjects === true && list.count > 0)
  return lists.length > 0 && lists.every(({ path }) => path.length === 1 && path[0] === 'errors')
}

/** A number, false or nothing under such a name says that all went well. */
function isWord(value: Position['value']): boolean {
  return value === true || (typeof value === 'string' && value !== '')
}

const complaint = /^(errors?|error_?(code|message|description)|exception|fault|message|detail|title|reason)$/i

/** An object that a later page is in place of rows; null where it may just be the end of them. */
export function complaintIn(outline: Position[], values: Record<string, unknown>): string | null {
  const errors = errorsIn(outline, values)
  if (errors !== null) return errors
  if (outline.some(({ list }) => list?.holdsObjects === true)) return null
  const said = outline.find(({ path, value }) => complaint.test(path.at(-1) ?? '') && isWord(value))
  return said === undefined ? null : shortened(String(said.value))
}

/** The failure of an answer that has errors and no rows. */
export function errorsInstead(host: string, message: string, page: number): Failure {
  const where = page > 1 ? ` on page ${page}` : ''
  return new Failure('upstream_error', {
    reason: 'upstream_errors',
    message: `${host} answered with an error instead of rows${where}: ${message}`,
  })
}

/** GraphQL may hold errors beside its data, so that every page is looked into. */
export function isGraphql({ body }: HttpConfiguration): boolean {
  return body?.['type'] === 'graphql'
}

/** The most that is quoted of what an API says. */
const quotedChars = 200

function shortened(text: string): string {
  return text.length > quotedChars ? `${text.slice(0, quotedChars)}…` : text
}

/** `besides`: rows of the table that those of the load join. */
type Known = { looked?: Converted['looked'] | undefined; besides?: number | undefined }

/** Why a load cannot be shown to be whole. Rows that came twice count once. */
export function warningsOf(seen: Seen, rule: Pagination | undefined, { looked, besides }: Known): LoadWarning[] {
  const repeated = looked?.repeated ?? null
  const received = seen.rows - (repeated?.rows ?? 0)
  // The number of rows of the whole table says nothing about what is new in it.
  const isOfTable =
    besides !== undefined && seen.total !== null && seen.total >= besides && seen.total <= besides + received
  const total = isOfTable ? null : seen.total
  const warnings: LoadWarning[] = []
  if (seen.next === 'absent' && received > 0 && (total === null || total > received)) {
    const path = rule !== undefined && 'path' in rule ? rule.path : ''
    const message = `The answer has no ${path}, where the next page should stand, so only one page was read. Check pagination.path.`
    warnings.push({ code: 'next_page_absent', message, received })
  }
  if (total !== null && total > received) {
    const came = `${received} ${repeated === null ? '' : 'different ones '}came`
    const message = `The API says that it has ${total} rows, and ${came}. Check the pagination.`
    warnings.push({ code: 'fewer_than_total', message, expected: total, received })
  }
  if (seen.errors !== null) {
    const message = `The answer has errors beside its rows: ${seen.errors}`
    warnings.push({ code: 'upstream_errors', message, received })
  }
  const moved = movedRows(seen, repeated)
  if (moved === null) return warnings
  return [...warnings, { code: 'rows_moved', message: moved, received, ...(total !== null && { expected: total }) }]
}

/** Rows that moved between the pages while these were read: how many came twice, and how many were not read at all. */
function movedRows({ total, firstTotal, isCounted, rows }: Seen, repeated: Repeated): string | null {
  const advice = 'Sort by a field that does not change, or use a cursor.'
  if (repeated !== null) {
    const which = `${repeated.rows} ${repeated.rows === 1 ? 'row' : 'rows'} came twice, such as ${repeated.examples.join(', ')}`
    const lost = total === null ? null : Math.max(0, total - rows + repeated.rows)
    const missing = lost === null ? 'others may be missing' : `${lost} ${lost === 1 ? 'is' : 'are'} missing`
    return `The rows moved while the pages were read: ${which}, and ${missing}. ${advice}`
  }
  if (!isCounted || total === null || firstTotal === null || total >= firstTotal) return null
  return `The API had ${firstTotal} rows at the first page and ${total} at the last, so up to ${firstTotal - total} may have moved past the pages. ${advice}`
}

type Repeated = NonNullable<Converted['looked']>['repeated']
