import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, rm, stat, truncate } from 'node:fs/promises'
import { STATUS_CODES } from 'node:http'
import { type HttpConfiguration, type Pagination } from '../../api/connections.ts'
import { Failure } from '../failure.ts'
import { buildRequest, withQuery, type OutboundRequest } from './build-request.ts'
import { charsetOf } from './rows/content.ts'
import { parseExact, parsePath } from './rows/json-path.ts'
import { createKeyShapes, type KeyShapes } from './rows/key-shapes.ts'
import { normalise, type Normalised } from './rows/normalise.ts'
import { normaliseInWorker } from './rows/normalise-in-worker.ts'
import { type TokenSource } from './oauth.ts'
import { outboundError, toFailure } from './outbound/error.ts'
import { createPager, firstPage, isCutShort, readsBody } from './pages.ts'
import { fileSink } from './outbound/receive.ts'
import { retargeted } from './outbound/redirect.ts'
import { type Outbound, type Sent } from './outbound/send.ts'

export type FetchLimits = {
  tryTimeoutMs: number
  /** Everything together: token, tries, redirects, all pages. */
  timeoutMs: number
  /** All pages together, decoded. */
  responseBytes: number
  redirects: number
  retries: number
  depthAtMost: number
}
export type FetchOptions = {
  outbound: Outbound
  tokens: TokenSource
  limits: FetchLimits
  /** The file that gets the rows. Beside it stand working files, which are gone afterwards. */
  rowsPath: string
  pagination?: Pagination | undefined
  signal?: AbortSignal | undefined
}

export type FetchedRows = Normalised & {
  pages: number
  /** There are more pages than were read. */
  truncated: boolean
  /** Decoded bytes of all answers. */
  responseBytes: number
  elapsedMs: number
}

/** Below this, starting a thread costs more than it spares the others. */
const threadFromBytes = 1_048_576
/** A page whose link or cursor is inside it is parsed whole, so it must not be huge. */
const parsedPageBytes = 16_777_216

/** Calls an external API and writes its rows to a file: the part of execute before anything is stored. */
export async function fetchRows(configuration: HttpConfiguration, options: FetchOptions): Promise<FetchedRows> {
  parsePath(configuration.responsePathExtractor ?? '')
  buildRequest(configuration)
  const started = performance.now()
  const left = () => Math.max(1, Math.round(options.limits.timeoutMs - (performance.now() - started)))
  const token = await options.tokens.token(configuration, { timeoutMs: left(), signal: options.signal })
  if (!token.ok) throw toFailure(token.error)
  const run: Run = { configuration, options, left, bodyPath: `${options.rowsPath}.body`, responseBytes: 0 }
  const request = buildRequest(configuration, token.token)
  try {
    const found =
      options.pagination === undefined ? await onePage(run, request) : await allPages(run, request, options.pagination)
    return { ...found, responseBytes: run.responseBytes, elapsedMs: Math.round(performance.now() - started) }
  } catch (error) {
    await rm(options.rowsPath, { force: true })
    throw error
  } finally {
    await rm(run.bodyPath, { force: true })
  }
}

type Run = {
  configuration: HttpConfiguration
  options: FetchOptions
  left: () => number
  bodyPath: string
  responseBytes: number
}
type Found = Omit<FetchedRows, 'responseBytes' | 'elapsedMs'>

/** One answer into the body file, or the failure it means. */
async function download(run: Run, request: OutboundRequest, isFirst = true): Promise<Sent> {
  const { limits, outbound, signal } = run.options
  const room = limits.responseBytes - run.responseBytes
  const sent = await outbound.send(request, {
    timeoutMs: run.left(),
    tryTimeoutMs: limits.tryTimeoutMs,
    maxWireBytes: room,
    maxDecodedBytes: room,
    beyond: 'fail',
    redirects: limits.redirects,
    retries: limits.retries,
    sink: fileSink(run.bodyPath),
    signal,
  })
  if (!sent.ok) {
    // Where a later page is was the API's word, not the caller's.
    const isMisled = !isFirst && sent.error.code === 'url_not_allowed'
    throw toFailure(isMisled ? { ...sent.error, code: 'blocked' } : sent.error)
  }
  if (sent.status < 200 || sent.status > 299) throw refusedBy(sent)
  run.responseBytes += sent.decodedBytes
  return sent
}

function refusedBy(sent: Sent): Failure {
  const words = STATUS_CODES[sent.status] ?? ''
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

function rowOptions(run: Run, sent: Sent) {
  const { limits, signal } = run.options
  const { responsePathExtractor: path } = run.configuration
  return { path, contentType: sent.headers['content-type'], depthAtMost: limits.depthAtMost, signal }
}

async function onePage(run: Run, request: OutboundRequest): Promise<Found> {
  const sent = await download(run, request)
  const toRows = sent.decodedBytes < threadFromBytes ? normalise : normaliseInWorker
  const rows = await toRows(run.bodyPath, run.options.rowsPath, rowOptions(run, sent))
  return { ...rows, pages: 1, truncated: false }
}

async function allPages(run: Run, request: OutboundRequest, rule: Pagination): Promise<Found> {
  const { rowsPath } = run.options
  await rm(rowsPath, { force: true })
  const shapes = createKeyShapes()
  let url = firstPage(rule, request.url)
  const pager = createPager(rule, url)
  let rowCount = 0
  for (let pages = 1; ; pages += 1) {
    const sent = await download(run, retargeted(request, withKey(request, new URL(url))), pages === 1)
    const from = pages === 1 ? 0 : (await stat(rowsPath)).size
    const rows = await appendPage(run, sent, { shapes, isFirst: pages === 1 })
    const body = readsBody(rule) ? await parsedBody(run, sent) : null
    const digest = await digestOf(rowsPath, from)
    const next = pager.next({ url, headers: sent.headers, body, rowCount: rows.rowCount, digest })
    const isAgain = 'end' in next && next.end === 'again'
    if (isAgain) await truncate(rowsPath, from)
    else rowCount += rows.rowCount
    if ('end' in next) return { ...rows, ...shapes.facts(), rowCount, pages, truncated: isCutShort(rule, next.end) }
    url = next.url
  }
}

/** A key in the query goes with every page of the same origin, also where the API leaves it out of its links. */
function withKey(request: OutboundRequest, url: URL): URL {
  const isSame = url.origin === new URL(request.url).origin
  return isSame ? new URL(withQuery(url, request.secretQuery)) : url
}

type Append = { shapes: KeyShapes; isFirst: boolean }

async function appendPage(run: Run, sent: Sent, { shapes, isFirst }: Append): Promise<Normalised> {
  const none = { rowCount: 0, format: 'ndjson', shape: 'rows', csv: null } as const
  try {
    const rows = await normalise(run.bodyPath, run.options.rowsPath, { ...rowOptions(run, sent), append: shapes })
    if (rows.format === 'ndjson') return rows
  } catch (error) {
    // Some APIs leave the list out of the page behind the last one.
    const isNoMatch = error instanceof Failure && error.reason === 'extractor_no_match'
    if (!isFirst && isNoMatch) return { ...none, ...shapes.facts() }
    throw error
  }
  throw new Failure('upstream_error', {
    reason: 'not_tabular',
    message: 'The external API answers with CSV, and pages of CSV are not joined. Fetch it without pagination.',
  })
}

async function parsedBody(run: Run, sent: Sent): Promise<unknown> {
  if (sent.decodedBytes > parsedPageBytes) {
    throw toFailure(
      outboundError('too_large', 'A page is too large to look for the next one in it. Ask for smaller pages.'),
    )
  }
  const body = await readFile(run.bodyPath)
  const charset = charsetOf(sent.headers['content-type'], body) ?? 'utf-8'
  try {
    return parseExact(new TextDecoder(charset).decode(body))
  } catch {
    return null
  }
}

async function digestOf(path: string, from: number): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(path, { start: from }) as AsyncIterable<Buffer>) hash.update(piece)
  return hash.digest('base64')
}
