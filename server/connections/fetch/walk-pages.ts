import { stat, truncate, writeFile } from 'node:fs/promises'
import type { Pagination } from '../../../api/connections.ts'
import type { ConvertCall, PageRows, PageValues } from '../../engine/index.ts'
import { Failure } from '../../failure.ts'
import { parseExtractor } from '../../rows/index.ts'
import type { Validators } from '../../store/index.ts'
import { withQuery, type OutboundRequest } from '../request/build-request.ts'
import { conditional, isUnchanged, validatorsOf } from './conditional.ts'
import {
  bodyOf,
  download,
  isRefusal,
  statusFailure,
  type DownloadedRows,
  type Loaded,
  type LoadRun,
} from './download.ts'
import { encodeBody, withBodyValues } from '../request/encode-body.ts'
import { outboundError, toFailure } from '../outbound/error.ts'
import {
  createPager,
  firstPage,
  countsPages,
  isCutShort,
  isRepeated,
  nextLink,
  pathsOf,
  type PageCall,
} from '../request/pages.ts'
import { totalRows } from '../request/total-rows.ts'
import { retargeted } from '../outbound/redirect.ts'
import { secretBodyStays, type Sent } from '../outbound/send.ts'
import {
  complaintIn,
  errorPaths,
  errorsIn,
  errorsInstead,
  hasNoData,
  isGraphql,
  nothingSeen,
  seenWith,
  type Seen,
} from './whole.ts'

/** A page whose link or cursor is inside it is parsed whole, so it must not be huge. */
const parsedPageBytes = 16_777_216
/** A page no larger than this is looked at for how many rows there are. */
const lookedAtBytes = 1_048_576

/** Every page of a list, from the first or from where an earlier attempt stopped. */
export async function walkPages(
  run: LoadRun,
  request: OutboundRequest,
  rule: Pagination,
): Promise<DownloadedRows | null> {
  const { rowsPath: path, checkpoint, onPage } = run.options
  const resumed = checkpoint?.resumed?.walk ?? null
  if (resumed === null) await writeFile(path, '')
  let asked = resumed?.next ?? firstPage(rule, request.url)
  const pager = createPager(rule, asked, resumed?.pager)
  let call = atPage(run, request, asked)
  let first: PageRows | null = resumed?.first ?? null
  let columns: string[] | null = resumed?.columns ?? null
  let estimate = resumed?.estimate ?? lastLoad(run)
  let seen: Seen = resumed?.seen ?? { ...nothingSeen, isCounted: countsPages(rule) }
  // Validators of a first page hold for the load where it is the only one.
  let validators: Validators | null = null
  for (let pages = (resumed?.pager.pages ?? 0) + 1; ; pages += 1) {
    const isFirst = pages === 1
    const { validators: known } = run.options
    let sent = await download(run, isFirst ? conditional(call, known, rule) : call, { pagesBefore: pages - 1 })
    if (isFirst && isUnchanged(sent, call, known, rule)) {
      // The rows may be the same and yet go on by now, which only the header tells.
      if (nextLink(sent.headers['link']) === null) return null
      sent = await download(run, call)
    }
    validators = isFirst ? validatorsOf(call, sent, rule) : null
    if (isRefusal(sent)) {
      const end = pager.refused(sent.status)
      if (end === null || first === null) throw statusFailure(sent)
      const source = sourceOf(path, first, columns)
      return { source, pages: pages - 1, truncated: isCutShort(end), seen: () => seen, validators: null }
    }
    const from = (await stat(path)).size
    const { rows, page } = await readPage(run, sent, { rule, first, columns, pages })
    first ??= rows
    columns = rows.columns
    if (isFirst && page.total !== null) estimate = { rows: page.total, from: 'total' }
    const next = pager.next({ call: asked, headers: sent.headers, ...page.values, ...rows })
    const walked = pager.state()
    const isAgain = 'end' in next && isRepeated(next.end)
    if (isAgain) await truncate(path, from)
    else seen = seenWith(seen, page)
    if (rows.rowCount > 0 && !isAgain)
      onPage?.({ pages, rows: walked.rows, bytes: run.responseBytes, ...(estimate && { estimate }) })
    if ('end' in next) {
      const source = sourceOf(path, first, columns)
      return { source, pages, truncated: isCutShort(next.end), seen: () => seen, validators }
    }
    asked = next.call
    call = atPage(run, call, asked)
    const sizeBytes = (await stat(path)).size
    await checkpoint?.save({
      at: run.at.toISOString(),
      lastValue: run.lastValue,
      sizeBytes,
      responseBytes: run.responseBytes,
      steps: run.steps,
      walk: { estimate, pager: walked, next: asked, first, columns, seen },
    })
  }
}

type Reading = Before & { rule: Pagination }

/** Rows of a page behind those that are there, and what it says beside them. */
async function readPage(run: LoadRun, sent: Sent, { rule, first, columns, pages }: Reading) {
  const rows = await appendPage(run, sent, { first, columns, pages })
  const { rowCount, isOneObject } = rows
  const isFirst = first === null
  // The last page of those that are counted says how many rows there are by then.
  const isLast = rowCount === 0 || (countsPages(rule) && rowCount < (first?.rowCount ?? 0))
  const looked = await lookInto(run, sent, { rule, isFirst, isOdd: isLast || isOneObject })
  const isEnd = rowCount === 0 || isOneObject !== (first ?? rows).isOneObject
  refuseComplaint(sent, looked, { isEnd, page: pages })
  return { rows, page: receivedPage(run, sent, { rule, looked, rowCount }) }
}

function lastLoad({ options: { expectedRows } }: LoadRun): Loaded['estimate'] {
  return expectedRows === undefined ? undefined : { rows: expectedRows, from: 'last_load' }
}

function sourceOf(path: string, first: PageRows, columns: string[] | null): ConvertCall['source'] {
  if (first.format === 'ndjson') return { kind: 'ndjson', path, isOneObject: first.isOneObject }
  const hasGrown = columns !== null && columns.length > (first.columns?.length ?? 0)
  return { kind: 'csv', path, ...(hasGrown ? { columns } : {}) }
}

/**
 * The call of another page. A key in the query goes with every page of the same origin, also where the API leaves it out
 * of its links. What was left behind on the way to another origin stays behind.
 */
function atPage(
  { configuration }: LoadRun,
  call: OutboundRequest,
  { url: address, values = [] }: PageCall,
): OutboundRequest {
  const url = new URL(address)
  const isSame = url.origin === new URL(call.url).origin
  const next = retargeted(call, isSame ? new URL(withQuery(url, call.secretQuery)) : url)
  if (next === null) throw toFailure(secretBodyStays(new URL(call.url)))
  if (values.length === 0) return next
  const body = encodeBody(configuration.method, withBodyValues(configuration.body, values))
  return body === null ? next : { ...next, body: body.bytes }
}

type Before = { first: PageRows | null; columns: string[] | null; pages: number }

async function appendPage(run: LoadRun, sent: Sent, { first, columns, pages }: Before): Promise<PageRows> {
  if (first !== null && sent.decodedBytes === 0) return { ...first, rowCount: 0, digest: '', columns }
  try {
    const call = { body: bodyOf(run, sent), rowsPath: run.options.rowsPath, columns: columns ?? undefined }
    const rows = await run.options.appendPage(call)
    if (first === null || rows.format === first.format) return rows
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== 'extractor_no_match') throw error
    const looked = await lookInto(run, sent, { isFirst: true })
    refuseComplaint(sent, looked, { isEnd: true, page: pages })
    // Some APIs leave the list out of the page behind the last one.
    if (first !== null) return { ...first, rowCount: 0, digest: '', columns }
    throw error
  }
  throw new Failure('upstream_error', {
    reason: 'not_tabular',
    message: 'The external API answers with JSON on one page and with CSV on another; these are not joined.',
  })
}

type Looking = { rule?: Pagination; isFirst: boolean; isOdd?: boolean }

/** Pages are looked into for the next one, the first and odd ones also for what they say of the rows. */
export async function lookInto(
  run: LoadRun,
  sent: Sent,
  { rule, isFirst, isOdd = false }: Looking,
): Promise<PageValues> {
  const wanted = rule === undefined ? { paths: [], rowPaths: [] } : pathsOf(rule)
  const isNeeded = wanted.paths.length + wanted.rowPaths.length > 0
  if (isNeeded && sent.decodedBytes > parsedPageBytes) {
    throw toFailure(
      outboundError('too_large', 'A page is too large to look for the next one in it. Ask for smaller pages.'),
    )
  }
  const mostBytes = isNeeded || isGraphql(run.configuration) ? parsedPageBytes : isFirst || isOdd ? lookedAtBytes : 0
  if (sent.decodedBytes === 0 || sent.decodedBytes > mostBytes) return { outline: null, values: {}, rowValues: {} }
  return run.options.pageValues({ body: bodyOf(run, sent), ...wanted, paths: [...wanted.paths, ...errorPaths] })
}

/** A page behind the first that is no rows but says what went wrong is not the end of them. */
function refuseComplaint(
  sent: Sent,
  { outline, values }: PageValues,
  { isEnd, page }: { isEnd: boolean; page: number },
): void {
  if (outline === null || !(isEnd || hasNoData(outline))) return
  const complaint = page > 1 ? complaintIn(outline, values) : errorsIn(outline, values)
  if (complaint !== null) throw errorsInstead(new URL(sent.url).host, complaint, page)
}

type LookedPage = { rule?: Pagination; looked: PageValues; rowCount: number }

export function receivedPage({ configuration }: LoadRun, { headers }: Sent, { rule, looked, rowCount }: LookedPage) {
  const { steps, each } = parseExtractor(configuration.responsePathExtractor ?? '')
  // A total is ambiguous where rows are members of members.
  const total =
    each === undefined ? totalRows({ headers, outline: looked.outline ?? [], rowCount, rowsAt: steps }) : null
  return { rule, values: looked, total, rowCount }
}
