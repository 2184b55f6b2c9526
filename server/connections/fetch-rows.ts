import { readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { type HttpConfiguration, type Pagination } from '../../api/connections.ts'
import type { AnswerBody, ConvertCall, Converted, RowsPageCall, PageRows } from '../data/index.ts'
import { Failure } from '../failure.ts'
import { statusWords } from '../status-words.ts'
import type { CursorValue, JobDetails, Validators } from '../store/index.ts'
import { charsetOf, parseExact, parseExtractor, pick } from '../rows/index.ts'
import { receiveAhead, type ConvertAhead } from './load/ahead.ts'
import { answerType } from './request/answer-type.ts'
import { buildRequest, withQuery, type OutboundRequest } from './request/build-request.ts'
import { conditional, isUnchanged, validatorsOf } from './load/conditional.ts'
import { encodeBody, withBodyValues } from './request/encode-body.ts'
import { sendWithToken } from './oauth/send-with-token.ts'
import type { TokenSource } from './oauth/token-source.ts'
import type { GrantPlace } from './oauth/token.ts'
import { outboundError, toFailure } from './outbound/error.ts'
import {
  createPager,
  firstPage,
  isCutShort,
  isRepeated,
  nextLink,
  readsBody,
  readsLastRow,
  type PageCall,
  type PagerState,
} from './request/pages.ts'
import { totalRows } from './total-rows.ts'
import { fillVariables, type Moment, type NamedValues } from './request/variables.ts'
import { fileSink, type AnswerHead, type Sink } from './outbound/receive.ts'
import { retargeted } from './outbound/redirect.ts'
import { secretBodyStays, type Outbound, type Sent } from './outbound/send.ts'

export type FetchLimits = {
  tryTimeoutMs: number
  /** Everything together: token, tries, redirects, all pages. */
  timeoutMs: number
  /** All pages together, decoded. */
  responseBytes: number
  redirects: number
  retries: number
  maxDepth: number
}
export type FetchOptions = {
  outbound: Outbound
  tokens: TokenSource
  /** Where what somebody granted to the request is kept. */
  place?: GrantPlace | undefined
  limits: FetchLimits
  /** For the answer as it came, and for rows that are gathered from pages. Neither is there after a failure. */
  bodyPath: string
  rowsPath: string
  pagination?: Pagination | undefined
  /** Writes the rows of one page behind those of the pages before. */
  appendPage: (page: RowsPageCall) => Promise<PageRows>
  /** For a single answer: how to begin with it before it is whole. */
  ahead?: ConvertAhead | undefined
  /** A load that goes on where an earlier attempt stopped: its rows are in `rowsPath` and stay there after a failure. */
  checkpoint?: { resumed: LoadState | null; save(state: LoadState): Promise<void> } | undefined
  onPage?: ((loaded: Loaded) => void) | undefined
  /** Where a load of what is new goes on: `{{last_value}}`. */
  lastValue?: CursorValue | null | undefined
  /** By which the API can say that nothing has changed. */
  validators?: Validators | null | undefined
  /** How many rows the last load of the kind brought. */
  expectedRows?: number | undefined
  /** The moment that variables of the request mean. */
  at?: Date | undefined
  /** What names in the request stand for. */
  values?: NamedValues | undefined
  row?: Moment['row']
  signal?: AbortSignal | undefined
}

/** What a load has fetched so far. */
export type Loaded = JobDetails

/** How far a load has come, in a form that can be kept. */
export type LoadState = {
  /** The moment that its variables mean, on every page, and the value that it goes on from. */
  at: string
  lastValue: CursorValue | null
  estimate: Loaded['estimate']
  /** Of the file of rows. */
  sizeBytes: number
  responseBytes: number
  pager: PagerState
  next: PageCall
  first: PageRows
  columns: string[] | null
}

export type FetchedRows = {
  /** One answer as it came, or the rows of all pages: what `convert` takes. */
  source: ConvertCall['source']
  /** What was made of it while it arrived. */
  converted?: Converted | null
  pages: number
  /** There are more pages than were read. */
  truncated: boolean
  /** What the API told for the next time, where one request was all. */
  validators: Validators | null
  /** Decoded bytes of all answers. */
  responseBytes: number
  elapsedMs: number
}

/** A page whose link or cursor is inside it is parsed whole, so it must not be huge. */
const parsedPageBytes = 16_777_216
/** A first page no larger than this is looked at for how many rows there are. */
const lookedAtBytes = 1_048_576

/**
 * Calls an external API and brings what it answers to disk: the part of execute before anything is stored. Null where
 * the API says that nothing has changed.
 */
export async function fetchRows(template: HttpConfiguration, options: FetchOptions): Promise<FetchedRows | null> {
  const { resumed = null } = options.checkpoint ?? {}
  const at = resumed === null ? (options.at ?? new Date()) : new Date(resumed.at)
  const lastValue = resumed === null ? (options.lastValue ?? null) : resumed.lastValue
  const configuration = fillVariables(template, { at, lastValue, values: options.values, row: options.row })
  parseExtractor(configuration.responsePathExtractor ?? '')
  buildRequest(configuration)
  const started = performance.now()
  const left = () => Math.max(1, Math.round(options.limits.timeoutMs - (performance.now() - started)))
  const { place, signal } = options
  const token = await options.tokens.token(configuration, { timeoutMs: left(), signal, place })
  if (!token.ok) throw toFailure(token.error)
  const run: Run = { configuration, options, left, at, lastValue, responseBytes: resumed?.responseBytes ?? 0 }
  const request = buildRequest(configuration, token.token)
  try {
    const found =
      options.pagination === undefined ? await onePage(run, request) : await allPages(run, request, options.pagination)
    return found === null
      ? null
      : { ...found, responseBytes: run.responseBytes, elapsedMs: Math.round(performance.now() - started) }
  } catch (error) {
    const gone = options.checkpoint === undefined ? [options.rowsPath, options.bodyPath] : [options.bodyPath]
    await Promise.all(gone.map((path) => rm(path, { force: true })))
    throw error
  }
}

type Run = {
  configuration: HttpConfiguration
  options: FetchOptions
  left: () => number
  at: Date
  lastValue: CursorValue | null
  responseBytes: number
}
type Found = Omit<FetchedRows, 'responseBytes' | 'elapsedMs'>

/** One answer into the body file, or the failure it means. */
async function download(
  run: Run,
  request: OutboundRequest,
  { pagesBefore = 0, sink = fileSink(run.options.bodyPath) }: { pagesBefore?: number; sink?: Sink } = {},
): Promise<Sent> {
  const { limits, signal, place } = run.options
  const room = limits.responseBytes - run.responseBytes
  const call = { configuration: run.configuration, request, timing: { timeoutMs: run.left(), signal, place } }
  const sent = await sendWithToken(run.options, call, () => ({
    timeoutMs: run.left(),
    tryTimeoutMs: limits.tryTimeoutMs,
    maxWireBytes: room,
    maxDecodedBytes: room,
    beyond: 'fail',
    redirects: limits.redirects,
    retries: limits.retries,
    sink,
    signal,
  }))
  if (!sent.ok) {
    // Where a later page is was the API's word, not the caller's.
    const isMisled = pagesBefore > 0 && sent.error.code === 'url_not_allowed'
    // The API answered all along; it is the load that takes longer than it may.
    if (pagesBefore > 0 && sent.error.code === 'timeout' && run.left() <= 1) throw tooLong(run, pagesBefore)
    throw toFailure(isMisled ? { ...sent.error, code: 'blocked' } : sent.error)
  }
  run.responseBytes += sent.decodedBytes
  return sent
}

function tooLong({ options: { limits, checkpoint } }: Run, pages: number): Failure {
  const seconds = Math.round(limits.timeoutMs / 1000)
  const hint =
    checkpoint === undefined
      ? 'Refresh the datasource instead: in the background a load may take hours and goes on where it stopped.'
      : 'The next attempt goes on from there.'
  return new Failure('upstream_timeout', {
    message: `${pages} pages were fetched in ${seconds} s, which is all a load like this may take, and there are more. ${hint}`,
  })
}

function isRefusal({ status }: Sent): boolean {
  return status < 200 || status > 299
}

function refusedBy(sent: Sent): Failure {
  const words = statusWords(sent.status)
  const hints: Record<number, string> = {
    401: ' Check authType and auth.',
    403: ' Check authType and auth, and what they permit.',
    404: ' Check the URL.',
    429: ' It asks for fewer calls; try later.',
  }
  return new Failure('upstream_error', {
    reason: 'status',
    message: `${new URL(sent.url).host} answered with status ${sent.status} ${words}.${hints[sent.status] ?? ''}`,
    fields: { upstream_status: sent.status },
  })
}

function bodyOf(run: Run, { headers }: AnswerHead): AnswerBody {
  const { limits, bodyPath: path } = run.options
  const { responsePathExtractor: extractor } = run.configuration
  const contentType = answerType(headers['content-type'], run.configuration)
  return { path, contentType, extractor, maxDepth: limits.maxDepth, maxBytes: limits.responseBytes }
}

async function onePage(run: Run, request: OutboundRequest): Promise<Found | null> {
  const { bodyPath, ahead, signal, validators } = run.options
  await using body = receiveAhead(bodyPath, ahead, { bodyOf: (head) => bodyOf(run, head), signal })
  const sent = await download(run, conditional(request, validators), { sink: body.sink })
  if (isUnchanged(sent, request, validators)) return null
  if (isRefusal(sent)) throw refusedBy(sent)
  const source = { kind: 'answer' as const, ...bodyOf(run, sent) }
  const converted = await body.converted()
  return { source, converted, pages: 1, truncated: false, validators: validatorsOf(request, sent) }
}

async function allPages(run: Run, request: OutboundRequest, rule: Pagination): Promise<Found | null> {
  const { rowsPath: path, checkpoint, onPage } = run.options
  const { resumed = null } = checkpoint ?? {}
  if (resumed === null) await writeFile(path, '')
  let asked = resumed?.next ?? firstPage(rule, request.url)
  const pager = createPager(rule, asked, resumed?.pager)
  let call = atPage(run, request, asked)
  let first: PageRows | null = resumed?.first ?? null
  let columns: string[] | null = resumed?.columns ?? null
  let estimate = resumed?.estimate ?? lastLoad(run)
  // What a first page says of itself holds for all where it is the only one.
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
      if (end === null || first === null) throw refusedBy(sent)
      return { source: sourceOf(path, first, columns), pages: pages - 1, truncated: isCutShort(end), validators: null }
    }
    const from = (await stat(path)).size
    const rows: PageRows = await appendPage(run, sent, { first, columns })
    first ??= rows
    columns = rows.columns
    const isLooked = isFirst && sent.decodedBytes <= lookedAtBytes
    const parsed = readsBody(rule) || isLooked ? await parsedBody(run, sent) : null
    const body = readsBody(rule) ? parsed : null
    const lastRow = readsLastRow(rule) ? lastRowOf(run, body) : null
    const { rowCount, digest } = rows
    const total = isFirst ? totalRows(sent.headers, parsed, rowCount) : null
    if (total !== null) estimate = { rows: total, from: 'total' }
    const next = pager.next({ call: asked, headers: sent.headers, body, lastRow, rowCount, digest })
    const walked = pager.state()
    if ('end' in next && isRepeated(next.end)) await truncate(path, from)
    else if (rowCount > 0)
      onPage?.({ pages, rows: walked.rows, bytes: run.responseBytes, ...(estimate && { estimate }) })
    if ('end' in next)
      return { source: sourceOf(path, first, columns), pages, truncated: isCutShort(next.end), validators }
    asked = next.call
    call = atPage(run, call, asked)
    const sizeBytes = (await stat(path)).size
    await checkpoint?.save({
      at: run.at.toISOString(),
      lastValue: run.lastValue,
      estimate,
      sizeBytes,
      responseBytes: run.responseBytes,
      pager: walked,
      next: asked,
      first,
      columns,
    })
  }
}

function lastLoad({ options: { expectedRows } }: Run): Loaded['estimate'] {
  return expectedRows === undefined ? undefined : { rows: expectedRows, from: 'last_load' }
}

function lastRowOf({ configuration }: Run, body: unknown): unknown {
  const rows = pick(body, parseExtractor(configuration.responsePathExtractor ?? ''))
  return Array.isArray(rows) ? (rows.at(-1) as unknown) : rows
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
  { configuration }: Run,
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

type Before = { first: PageRows | null; columns: string[] | null }

async function appendPage(run: Run, sent: Sent, { first, columns }: Before): Promise<PageRows> {
  if (first !== null && sent.decodedBytes === 0) return { ...first, rowCount: 0, digest: '', columns }
  try {
    const call = { body: bodyOf(run, sent), rowsPath: run.options.rowsPath, columns: columns ?? undefined }
    const rows = await run.options.appendPage(call)
    if (first === null || rows.format === first.format) return rows
  } catch (error) {
    // Some APIs leave the list out of the page behind the last one.
    const isNoMatch = error instanceof Failure && error.reason === 'extractor_no_match'
    if (first !== null && isNoMatch) return { ...first, rowCount: 0, digest: '', columns }
    throw error
  }
  throw new Failure('upstream_error', {
    reason: 'not_tabular',
    message: 'The external API answers with JSON on one page and with CSV on another; these are not joined.',
  })
}

async function parsedBody(run: Run, sent: Sent): Promise<unknown> {
  if (sent.decodedBytes > parsedPageBytes) {
    throw toFailure(
      outboundError('too_large', 'A page is too large to look for the next one in it. Ask for smaller pages.'),
    )
  }
  const body = await readFile(run.options.bodyPath)
  const charset = charsetOf(answerType(sent.headers['content-type'], run.configuration), body) ?? 'utf-8'
  try {
    return parseExact(new TextDecoder(charset).decode(body))
  } catch {
    return null
  }
}
