import { type HttpConfiguration, type TestConnectionAnswer } from '../../api/connections.ts'
import { Failure } from '../failure.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { PageValues } from '../engine/index.ts'
import {
  outlineOf,
  parseExact,
  parseExtractor,
  previewOf,
  valuesAt,
  type Preview,
  type PreviewAsked,
} from '../rows/index.ts'
import { followSteps } from './fetch/follow-steps.ts'
import { checkSteps } from './request/steps.ts'
import { answerType } from './request/answer-type.ts'
import { buildRequest } from './request/build-request.ts'
import { errorsIn, errorTexts, hasNoData } from './fetch/whole.ts'
import { detect } from './detect.ts'
import { problemOf } from './request/problem.ts'
import type { CursorValue } from '../store/index.ts'
import { fillVariables, type Moment, type NamedValues } from './request/variables.ts'
import { sendWithToken } from './oauth/send-with-token.ts'
import type { TokenSource } from './oauth/token-source.ts'
import type { GrantPlace } from './oauth/token.ts'
import { toFailure, type OutboundError } from './outbound/error.ts'
import { memorySink } from './outbound/receive.ts'
import type { Pace } from './outbound/pace.ts'
import { type NotSent, type Outbound, type Sent } from './outbound/send.ts'

export type ProbeLimits = {
  /** Everything together: token, tries, redirects, reading. */
  timeoutMs: number
  previewBytes: number
  redirects: number
  retries: number
  maxDepth: number
}
/** `unpacks`: it is to be read as rows, packed or no text as it is. */
export type PeekAsked = PreviewAsked & { unpacks: boolean }
export type ProbeOptions = {
  outbound: Outbound
  tokens: TokenSource
  /** Place of what somebody granted to the request. */
  place?: GrantPlace | undefined
  /** Turns that calls to the same API take. */
  pace?: Pace | undefined
  limits: ProbeLimits
  /** The moment that variables of the request mean. */
  at?: Date | undefined
  /** Values of the variables and secrets that the request names. */
  values?: NamedValues | undefined
  /** `{{last_value}}`: where a load would begin. */
  lastValue?: CursorValue | null | undefined
  /** The days of a window. */
  row?: Moment['row']
  /** Reads an answer that is large, packed or no text in an executor. */
  peek: (bytes: Buffer, asked: PeekAsked) => Promise<Preview>
  /** Asks for `detected`. */
  detects?: boolean | undefined
  signal?: AbortSignal | undefined
}

/**
 * Calls the external API and tells what came back. Whatever the API does is an answer; only a configuration that is
 * wrong in itself, or leads to an address that is not allowed, is a failure.
 */
export async function probe(template: HttpConfiguration, options: ProbeOptions): Promise<TestConnectionAnswer> {
  const { limits, at = new Date(), values, lastValue, row } = options
  const moment = { at, values, lastValue, row }
  const first = fillVariables(template, moment)
  parseExtractor(first.responsePathExtractor ?? '')
  buildRequest(first)
  checkSteps(template, moment)
  const started = performance.now()
  const left = () => Math.max(1, Math.round(limits.timeoutMs - (performance.now() - started)))
  const { called, configuration, problem: stopped } = await callThrough({ template, first, moment }, { options, left })
  const { sent, bytes } = called
  if (!sent.ok) return unreachable(sent.error, sent.elapsedMs)
  const { data, isCut, outline, error } = await previewBody(sent, bytes, { configuration, options })
  // GraphQL answers 200 to a request that failed as a whole.
  const errors = outline !== null && hasNoData(outline) ? errorsIn(outline, errorTexts(data)) : null
  const contentType = sent.headers['content-type'] ?? ''
  const head = bytes.toString('latin1', 0, 200)
  const problem = stopped ?? problemOf({ url: sent.url, status: sent.status, contentType, head, errors })
  const answer: TestConnectionAnswer = {
    success: !isRefusal(sent) && error === undefined && errors === null && stopped === undefined,
    status: sent.status,
    response_time: sent.elapsedMs,
    content_type: contentType,
    size: sent.decodedBytes,
    data,
    ...(isCut && { truncated: true }),
    ...(error && { error }),
    ...(problem && { problem }),
  }
  if (options.detects !== true || isRefusal(sent)) return answer
  const detected = await detect({
    template,
    configuration,
    looked: { sent, bytes, outline },
    call: (asked) => callOnce(asked, { options, left }),
    look: async (each, its, asked) => (await previewBody(each, its, { configuration: asked, options })).outline,
    leftMs: left,
  })
  return detected === undefined ? answer : { ...answer, detected }
}

type Called = { sent: Sent | NotSent; bytes: Buffer }
type Calling = { options: ProbeOptions; left: () => number }

async function callOnce(configuration: HttpConfiguration, { options, left }: Calling): Promise<Called> {
  const { outbound, tokens, limits, signal, place } = options
  const token = await tokens.token(configuration, { timeoutMs: limits.timeoutMs, signal, place })
  if (!token.ok) return { sent: { ok: false, error: token.error, tries: 0, elapsedMs: 0 }, bytes: Buffer.alloc(0) }
  const sink = memorySink()
  const timing = { timeoutMs: left(), signal, place }
  const call = { configuration, request: buildRequest(configuration, token.token), timing }
  const sent = await sendWithToken({ outbound, tokens }, call, () => ({
    timeoutMs: left(),
    // A preview is cut by its decoded size; what it may take on the wire for that is never more than this.
    maxWireBytes: limits.previewBytes * 2,
    maxDecodedBytes: limits.previewBytes,
    beyond: 'cut',
    redirects: limits.redirects,
    retries: limits.retries,
    pace: options.pace,
    sink,
    signal,
  }))
  return { sent, bytes: sent.ok ? sink.bytes() : Buffer.alloc(0) }
}

type Through = {
  called: Called
  configuration: HttpConfiguration
  problem?: NonNullable<TestConnectionAnswer['problem']>
}
type Template = { template: HttpConfiguration; first: HttpConfiguration; moment: Omit<Moment, 'answers'> }

/** The request for rows behind its steps, or the one at which these end. */
async function callThrough({ template, first, moment }: Template, calling: Calling): Promise<Through> {
  const { signal } = calling.options
  let last: Through | undefined
  const followed = await followSteps(
    { template, moment },
    {
      leftMs: calling.left,
      nowMs: Date.now,
      wait: (ms) => delay(ms, undefined, { signal }).catch(() => signal?.throwIfAborted()),
      async call(configuration, paths) {
        const called = await callOnce(configuration, calling)
        // An answer that says how far an export is has no rows.
        const { responsePathExtractor: _, ...asked } = configuration
        last = { called, configuration: asked }
        return called.sent.ok ? { sent: called.sent, ...read(called.bytes, paths) } : null
      },
    },
  )
  if (followed.kind === 'ready') {
    const configuration = template.steps === undefined ? first : followed.configuration
    return { called: await callOnce(configuration, calling), configuration }
  }
  if (last === undefined) throw new Error('Steps ended before the first request.')
  if (followed.kind === 'late')
    return { ...last, problem: { code: 'not_ready', message: `${followed.message} ${longer}` } }
  return followed.kind === 'failed'
    ? { ...last, problem: { code: 'upstream_errors', message: followed.message } }
    : last
}

const longer = 'A refresh waits for it in the background.'

/** Answers that a step goes by are small. */
function read(bytes: Buffer, paths: string[]): Pick<PageValues, 'outline' | 'values'> {
  const nothing = { outline: null, values: {} }
  if (bytes.length > smallBytes) return nothing
  try {
    const parsed = parseExact(bytes.toString())
    return { outline: outlineOf(parsed), values: valuesAt(parsed, paths) }
  } catch {
    return nothing
  }
}

/** Looked at in this process: everybody waits for it. */
const smallBytes = 65_536
/** Shown of an answer, as JSON: enough to see what it is. */
const shownBytes = 262_144
/** gzip, zstd, Parquet and the zip that Excel's files are. */
const packed = /^(?:1f8b08|28b52ffd|50415231|504b0304)/

type Shown = Omit<Preview, 'error'> & { error?: NonNullable<TestConnectionAnswer['error']> }

/** Preview of the answer, unpacked and read as rows where it is no text. */
async function previewBody(
  sent: Sent,
  bytes: Buffer,
  { configuration, options }: { configuration: HttpConfiguration; options: ProbeOptions },
): Promise<Shown> {
  const { responsePathExtractor: extractor = '' } = configuration
  const asked: PreviewAsked = {
    contentType: answerType(sent.headers['content-type'], configuration),
    extractor,
    maxDepth: options.limits.maxDepth,
    isCut: sent.truncated,
    hasRows: !isRefusal(sent),
    maxBytes: shownBytes,
  }
  const isPacked = packed.test(bytes.subarray(0, 4).toString('hex'))
  const isXmlRows =
    extractor !== '' && /^\s*<\?xml|^[^<]*<(?!!doctype|html)[a-z]/i.test(bytes.toString('latin1', 0, 200))
  const unpacks = (isPacked || isXmlRows) && !sent.truncated && asked.hasRows
  if (bytes.length <= smallBytes && !unpacks) return previewOf(bytes, asked)
  try {
    return await options.peek(bytes, { ...asked, unpacks })
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'overloaded') throw error
    const isCut = bytes.length > smallBytes
    const { data } = previewOf(bytes.subarray(0, smallBytes), { ...asked, isCut, hasRows: false })
    const message = error.message
    return { data: withSize(data, bytes.length), isCut, outline: null, error: { code: 'not_tabular', message } }
  }
}

/** A placeholder for bytes tells how many there are in all. */
function withSize(data: unknown, size: number): unknown {
  const isPlaceholder = typeof data === 'object' && data !== null && 'binary' in data
  return isPlaceholder ? { ...data, size } : data
}

function isRefusal({ status }: Sent): boolean {
  return status < 200 || status > 299
}

function unreachable(error: OutboundError, elapsedMs: number): TestConnectionAnswer {
  if (error.code === 'url_not_allowed') throw toFailure(error)
  return { success: false, status: 0, response_time: elapsedMs, content_type: '', size: 0, data: null, error }
}
