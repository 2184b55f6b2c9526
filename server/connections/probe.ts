import { type HttpConfiguration, type TestConnectionAnswer } from '../../api/connections.ts'
import type { Peeked } from '../data/index.ts'
import { Failure } from '../failure.ts'
import { exceedsDepth } from '../json-depth.ts'
import {
  charsetOf,
  isBinary,
  isJsonType,
  parseContentType,
  parseExact,
  parseExtractor,
  pick,
  type JsonPath,
} from '../rows/index.ts'
import { answerType } from './request/answer-type.ts'
import { buildRequest } from './request/build-request.ts'
import { parseCut } from '../rows/cut-json.ts'
import { detect } from './detect.ts'
import type { CursorValue } from '../store/index.ts'
import { fillVariables, type NamedValues } from './request/variables.ts'
import { sendWithToken } from './oauth/send-with-token.ts'
import type { TokenSource } from './oauth/token-source.ts'
import type { GrantPlace } from './oauth/token.ts'
import { toFailure, type OutboundError } from './outbound/error.ts'
import { memorySink } from './outbound/receive.ts'
import { type Outbound, type Sent } from './outbound/send.ts'

export type ProbeLimits = {
  /** Everything together: token, tries, redirects, reading. */
  timeoutMs: number
  previewBytes: number
  redirects: number
  retries: number
  maxDepth: number
}
export type ProbeOptions = {
  outbound: Outbound
  tokens: TokenSource
  /** Where what somebody granted to the request is kept. */
  place?: GrantPlace | undefined
  limits: ProbeLimits
  /** The moment that variables of the request mean. */
  at?: Date | undefined
  /** What names in the request stand for. */
  values?: NamedValues | undefined
  /** Where a load would begin: `{{last_value}}`. */
  lastValue?: CursorValue | null | undefined
  /** What stands in an answer that is packed, or no text. */
  peek?: ((bytes: Buffer, contentType: string, extractor: string | undefined) => Promise<Peeked>) | undefined
  /** Whether to say what the answer looks like. */
  detects?: boolean | undefined
  signal?: AbortSignal | undefined
}

/**
 * Calls the external API and tells what came back. Whatever the API does is an answer; only a configuration that is
 * wrong in itself, or leads to an address that is not allowed, is a failure.
 */
export async function probe(template: HttpConfiguration, options: ProbeOptions): Promise<TestConnectionAnswer> {
  const { outbound, tokens, limits, signal, at = new Date() } = options
  const configuration = fillVariables(template, { at, values: options.values, lastValue: options.lastValue })
  const path = parseExtractor(configuration.responsePathExtractor ?? '')
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
    sink,
    signal,
  }))
  if (!sent.ok) return unreachable(sent.error, sent.elapsedMs)
  const found = await contentOf(sent, sink.bytes(), { configuration, options })
  if ('error' in found) return { ...describe(sent, found.data, { path: nowhere, maxDepth: limits.maxDepth }), ...found }
  const { data } = found
  const reading = { path: found.isExtracted ? nowhere : path, maxDepth: limits.maxDepth }
  const shown = describe({ ...sent, truncated: sent.truncated || found.isCut }, data, reading)
  const answer = found.isCut && !sent.truncated ? { ...shown, truncated: true } : shown
  const isData = typeof data === 'object' && data !== null && !('binary' in data)
  if (options.detects !== true || isRefusal(sent) || !isData) return answer
  const hasGraphql = configuration.body?.['type'] === 'graphql'
  return { ...answer, detected: detect(data, { headers: sent.headers, hasGraphql }) }
}

type Reading = { path: JsonPath; maxDepth: number }

const nowhere = parseExtractor('')
/** gzip, zstd, Parquet and the zip that Excel's files are. */
const packed = /^(?:1f8b08|28b52ffd|50415231|504b0304)/

type Content =
  | { data: unknown; isExtracted: boolean; isCut: boolean }
  | { success: false; data: unknown; error: { code: 'not_tabular'; message: string } }

/** What the answer holds, unpacked and read as rows where it is no text. */
async function contentOf(
  sent: Sent,
  bytes: Buffer,
  { configuration, options }: { configuration: HttpConfiguration; options: ProbeOptions },
): Promise<Content> {
  const { maxDepth } = options.limits
  const contentType = answerType(sent.headers['content-type'], configuration)
  const { responsePathExtractor: extractor = '' } = configuration
  const isPacked = packed.test(bytes.subarray(0, 4).toString('hex'))
  const isXmlRows =
    extractor !== '' && /^\s*<\?xml|^[^<]*<(?!!doctype|html)[a-z]/i.test(bytes.toString('latin1', 0, 200))
  const plain = {
    data: preview(bytes, { contentType, maxDepth, isCut: sent.truncated }),
    isExtracted: false,
    isCut: false,
  }
  const isPeeked = (isPacked || isXmlRows) && !sent.truncated && !isRefusal(sent)
  if (options.peek === undefined || !isPeeked) return plain
  try {
    const peeked = await options.peek(bytes, contentType, extractor === '' ? undefined : extractor)
    const inside = Buffer.from(peeked.text, 'latin1')
    const isExtracted = extractor !== '' && peeked.extractor === undefined
    const isRows = peeked.isLines && (extractor === '' || isExtracted)
    const rows = isRows ? linesOf(inside, peeked.truncated) : null
    const data = rows ?? preview(inside, { contentType: peeked.contentType ?? '', maxDepth, isCut: peeked.truncated })
    return { data, isExtracted, isCut: peeked.truncated }
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'overloaded') throw error
    return { success: false, data: plain.data, error: { code: 'not_tabular', message: error.message } }
  }
}

/** Null where a line is no JSON after all. */
function linesOf(bytes: Buffer, isCut: boolean): unknown[] | null {
  const lines = bytes.toString('utf8').split('\n')
  // The last one of those that were cut is cut too.
  if (isCut) lines.pop()
  try {
    return lines.filter((line) => line.trim() !== '').map(parseExact)
  } catch {
    return null
  }
}

function isRefusal({ status }: Sent): boolean {
  return status < 200 || status > 299
}

function unreachable(error: OutboundError, elapsedMs: number): TestConnectionAnswer {
  if (error.code === 'url_not_allowed') throw toFailure(error)
  return { success: false, status: 0, response_time: elapsedMs, content_type: '', size: 0, data: null, error }
}

function describe(sent: Sent, data: unknown, { path, maxDepth }: Reading): TestConnectionAnswer {
  const contentType = sent.headers['content-type'] ?? ''
  const isGood = !isRefusal(sent)
  const answer: TestConnectionAnswer = {
    success: isGood,
    status: sent.status,
    response_time: sent.elapsedMs,
    content_type: contentType,
    size: sent.decodedBytes,
    data,
    ...(sent.truncated ? { truncated: true } : {}),
  }
  if (isGood && isTooDeep(data, maxDepth)) {
    const message = `The answer nests lists and objects deeper than ${maxDepth} levels, which no table holds. It is shown as text.`
    return { ...answer, success: false, error: { code: 'too_deep', message } }
  }
  if (!isGood || path.text === '') return answer
  try {
    return { ...answer, data: pickLines(data, path, sent.truncated) ?? pick(data, path) }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { ...answer, success: false, error: { code: 'extractor_no_match', message: error.message } }
  }
}

/** What is deeper than execute takes stays text: parsed, it could not be written out again. */
function isTooDeep(data: unknown, maxDepth: number): boolean {
  return typeof data === 'string' && /^\s*[[{]/.test(data) && exceedsDepth(data, maxDepth)
}

/** What the extractor takes from each line of NDJSON, as its rows are made; `null` where it is none. */
function pickLines(data: unknown, path: JsonPath, isCut: boolean): unknown[] | null {
  if (typeof data !== 'string') return null
  const lines = data.split('\n').filter((line) => line.trim() !== '')
  // The last line of a preview that was cut is cut too.
  const whole = isCut ? lines.slice(0, -1) : lines
  if (whole.length < 2) return null
  let values: unknown[]
  try {
    values = whole.map(parseExact)
  } catch {
    return null
  }
  return values.flatMap((value) => pick(value, path))
}

type Previewed = { contentType: string; maxDepth: number; isCut: boolean }

/**
 * Parsed JSON, text, or a placeholder that says how much of what was there. Nothing for an empty body. Of JSON that was
 * cut the rows that are whole: execute takes it all, so a test must show where its rows are.
 */
function preview(body: Buffer, { contentType, maxDepth, isCut }: Previewed): unknown {
  if (body.length === 0) return null
  const charset = charsetOf(contentType, body)
  const isWide = charset?.startsWith('utf-16') ?? false
  const { type } = parseContentType(contentType)
  const isMedia = /^(image|audio|video|font)\//.test(type) && type !== 'image/svg+xml'
  if (isMedia || (!isWide && isBinary(body.subarray(0, 8192)))) {
    return { binary: true, content_type: contentType, size: body.length }
  }
  const text = new TextDecoder(charset ?? 'utf-8').decode(body)
  if (!isJsonType(type) && !/^\s*[[{]/.test(text)) return text
  if (isTooDeep(text, maxDepth)) return text
  try {
    return parseExact(text)
  } catch {
    return (isCut ? parseCut(text) : undefined) ?? text
  }
}
