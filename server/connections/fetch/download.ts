import { fixedLimits } from '../../../api/limits.ts'
import { type HttpConfiguration, type Pagination } from '../../../api/connections.ts'
import type {
  AnswerBody,
  ConvertCall,
  Converted,
  PageRows,
  PageValues,
  PageValuesCall,
  RowsPageCall,
} from '../../engine/index.ts'
import type { Config } from '../../config.ts'
import { Failure } from '../../failure.ts'
import { statusWords } from '../../status-words.ts'
import type { CursorValue, JobDetails, LoadWarning, Validators } from '../../store/index.ts'
import type { ConvertAhead } from './ahead.ts'
import { answerType } from '../request/answer-type.ts'
import type { OutboundRequest } from '../request/build-request.ts'
import { sendWithToken } from '../oauth/send-with-token.ts'
import type { TokenSource } from '../oauth/token-source.ts'
import type { GrantPlace } from '../oauth/token.ts'
import { toFailure } from '../outbound/error.ts'
import type { PageCall, PagerState } from '../request/pages.ts'
import type { StepsState } from '../request/steps.ts'
import type { Moment, NamedValues } from '../request/variables.ts'
import { fileSink, type AnswerHead, type Sink } from '../outbound/receive.ts'
import { maxRedirects } from '../outbound/redirect.ts'
import type { Pace } from '../outbound/pace.ts'
import type { Outbound, Sent } from '../outbound/send.ts'
import type { SharedApi } from '../apis/shared-apis.ts'
import type { Seen } from './whole.ts'

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
  /** Place of what somebody granted to the request. */
  place?: GrantPlace | undefined
  limits: FetchLimits
  /** Turns that calls to the same API take. */
  pace?: Pace | undefined
  /** For the answer as it came, and for rows that are gathered from pages. Neither is there after a failure. */
  bodyPath: string
  rowsPath: string
  pagination?: Pagination | undefined
  /** Writes the rows of one page behind those of the pages before. */
  appendPage: (page: RowsPageCall) => Promise<PageRows>
  /** Looks into a page for what its rule goes by. */
  pageValues: (page: PageValuesCall) => Promise<PageValues>
  /** For a single answer: how to begin with it before it is whole. */
  ahead?: ConvertAhead | undefined
  /** A load that goes on where an earlier attempt stopped: its rows are in `rowsPath` and stay there after a failure. */
  checkpoint?: { resumed: LoadState | null; save(state: LoadState): Promise<void> } | undefined
  onPage?: ((loaded: Loaded) => void) | undefined
  /** `{{last_value}}`: the start of an incremental load. */
  lastValue?: CursorValue | null | undefined
  /** By which the API can say that nothing has changed. */
  validators?: Validators | null | undefined
  /** Rows that the last load of the kind brought. */
  expectedRows?: number | undefined
  /** The moment that variables of the request mean. */
  at?: Date | undefined
  /** Values of the variables and secrets that the request names. */
  values?: NamedValues | undefined
  row?: Moment['row']
  signal?: AbortSignal | undefined
}

/** Pages, rows and bytes that a load has fetched so far. */
export type Loaded = JobDetails

/** Progress of a load, in a form that can be stored. */
export type LoadState = {
  /** The moment that its variables mean, on every page, and the value that it goes on from. */
  at: string
  lastValue: CursorValue | null
  /** Size of the file of rows. */
  sizeBytes: number
  responseBytes: number
  /** How far the requests before the one for rows have come. */
  steps?: StepsState | undefined
  /** How far its pages have come; absent before the first. */
  walk?: WalkState | undefined
}
export type WalkState = {
  estimate: Loaded['estimate']
  pager: PagerState
  next: PageCall
  first: PageRows
  columns: string[] | null
  seen: Seen
}

export type FetchedRows = {
  /** One answer as it came, or the rows of all pages: what `convert` takes. */
  source: ConvertCall['source']
  /** Table that was made of it while it arrived. */
  converted?: Converted | null
  pages: number
  /** There are more pages than were read. */
  truncated: boolean
  /** Evidence of the pages, given how many rows a single one has. */
  seen: (rowCount: number) => Seen
  /** Warnings of single requests, where there are many. */
  warnings?: LoadWarning[]
  /** Validators for the next load, where one request was all. */
  validators: Validators | null
  /** Decoded bytes of all answers. */
  responseBytes: number
  elapsedMs: number
}

export type LoadRun = {
  configuration: HttpConfiguration
  options: FetchOptions
  left: () => number
  at: Date
  lastValue: CursorValue | null
  responseBytes: number
  steps?: StepsState | undefined
}
export type DownloadedRows = Omit<FetchedRows, 'responseBytes' | 'elapsedMs'>

/** One answer into the body file, or the failure it means. */
export async function download(
  run: LoadRun,
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
    pace: run.options.pace,
    sink,
    signal,
  }))
  if (!sent.ok) {
    // A later page's address was the API's word, not the caller's.
    const isMisled = pagesBefore > 0 && sent.error.code === 'url_not_allowed'
    // The API answered all along; it is the load that takes longer than it may.
    if (pagesBefore > 0 && sent.error.code === 'timeout' && run.left() <= 1) throw tooLong(run, pagesBefore)
    throw toFailure(isMisled ? { ...sent.error, code: 'blocked' } : sent.error)
  }
  run.responseBytes += sent.decodedBytes
  return sent
}

function tooLong({ options: { limits, checkpoint } }: LoadRun, pages: number): Failure {
  const seconds = Math.round(limits.timeoutMs / 1000)
  const hint =
    checkpoint === undefined
      ? 'Refresh the datasource instead: in the background a load may take hours and goes on where it stopped.'
      : 'The next attempt goes on from there.'
  return new Failure('upstream_timeout', {
    message: `${pages} pages were fetched in ${seconds} s, which is all a load like this may take, and there are more. ${hint}`,
  })
}

export function isRefusal({ status }: Sent): boolean {
  return status < 200 || status > 299
}

export function statusFailure(sent: Sent): Failure {
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

export function bodyOf(run: LoadRun, { headers }: AnswerHead): AnswerBody {
  const { limits, bodyPath: path } = run.options
  const { responsePathExtractor: extractor, included } = run.configuration
  const contentType = answerType(headers['content-type'], run.configuration)
  return { path, contentType, extractor, included, maxDepth: limits.maxDepth, maxBytes: limits.responseBytes }
}

export function fetchLimits({ limits }: Config, isBackground: boolean, api: SharedApi | null): FetchLimits {
  return {
    tryTimeoutMs: limits.executeTryTimeoutMs,
    timeoutMs: isBackground ? limits.loadTimeoutMs : limits.executeTimeoutMs,
    responseBytes: isBackground ? limits.loadResponseBytes : limits.executeResponseBytes,
    redirects: maxRedirects,
    retries: (api?.tries ?? limits.outboundTries) - 1,
    maxDepth: fixedLimits.jsonDepth.value,
  }
}
