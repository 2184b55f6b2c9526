import { type HttpConfiguration, type TestConnectionAnswer } from '../../api/connections.ts'
import { Failure } from '../failure.ts'
import { parseExtractor, previewOf, type Preview, type PreviewAsked } from '../rows/index.ts'
import { answerType } from './request/answer-type.ts'
import { buildRequest } from './request/build-request.ts'
import { errorsIn, errorTexts, hasNoData } from './fetch/whole.ts'
import { graphqlIn, parametersIn, recognise } from './request/recognise.ts'
import { problemOf } from './request/problem.ts'
import type { CursorValue } from '../store/index.ts'
import { fillVariables, type Moment, type NamedValues } from './request/variables.ts'
import { sendWithToken } from './oauth/send-with-token.ts'
import type { TokenSource } from './oauth/token-source.ts'
import type { GrantPlace } from './oauth/token.ts'
import { toFailure, type OutboundError } from './outbound/error.ts'
import { memorySink } from './outbound/receive.ts'
import type { Pace } from './outbound/pace.ts'
import { type Outbound, type Sent } from './outbound/send.ts'

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
  const { outbound, tokens, limits, signal, at = new Date() } = options
  const { values, lastValue, row } = options
  const configuration = fillVariables(template, { at, values, lastValue, row })
  parseExtractor(configuration.responsePathExtractor ?? '')
  buildRequest(configuration)
  const started = performance.now()
  const left = () => Math.max(1, Math.round(limits.timeoutMs - (performance.now() - started)))
  const timing = { timeoutMs: limits.timeoutMs, signal, place: options.place }
  const token = await tokens.token(configuration, timing)
  if (!token.ok) return unreachable(token.error, 0)
  const sink = memorySink()
  const call = {
    configuration,
    request: buildRequest(configuration, token.token),
    timing: { ...timing, timeoutMs: left() },
  }
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
  if (!sent.ok) return unreachable(sent.error, sent.elapsedMs)
  const bytes = sink.bytes()
  const { data, isCut, outline, error } = await previewBody(sent, bytes, { configuration, options })
  // GraphQL answers 200 to a request that failed as a whole.
  const errors = outline !== null && hasNoData(outline) ? errorsIn(outline, errorTexts(data)) : null
  const contentType = sent.headers['content-type'] ?? ''
  const head = bytes.toString('latin1', 0, 200)
  const problem = problemOf({ url: sent.url, status: sent.status, contentType, head, errors })
  const answer: TestConnectionAnswer = {
    success: !isRefusal(sent) && error === undefined && errors === null,
    status: sent.status,
    response_time: sent.elapsedMs,
    content_type: contentType,
    size: sent.decodedBytes,
    data,
    ...(isCut && { truncated: true }),
    ...(error && { error }),
    ...(problem && { problem }),
  }
  if (options.detects !== true || outline === null) return answer
  const asked = { headers: sent.headers, parameters: parametersIn(configuration), graphql: graphqlIn(configuration) }
  return { ...answer, detected: recognise(outline, { ...asked, isSample: false }) }
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
