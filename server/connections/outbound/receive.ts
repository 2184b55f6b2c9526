import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'
import { collectYoung, asDiskFailure } from '../../process/index.ts'
import { untilAborted } from '../../flow/index.ts'
import { outboundError, thrown } from './error.ts'

/** At four times as much the engine looks through its whole heap instead: measured, 100 MB then take twice as long. */
const collectEveryBytes = 1_048_576
const gatherBytes = 262_144

/** Head of an answer, which comes before its body. */
export type AnswerHead = { status: number; headers: Record<string, string> }

/** Where a body goes. A sink is opened once for each answer that is kept, and starts empty. */
export type Sink = {
  open: (head: AnswerHead) => Promise<{ write: (piece: Buffer) => Promise<void>; close: () => Promise<void> }>
}

/** `cut`: what is beyond the limit is left out and said so. `fail`: a body beyond the limit is an error. */
export type BodyLimits = { maxWireBytes: number; maxDecodedBytes: number; beyond: 'cut' | 'fail' }
export type Received = { wireBytes: number; decodedBytes: number; truncated: boolean }

export function memorySink(): Sink & { bytes: () => Buffer } {
  let pieces: Buffer[] = []
  return {
    bytes: () => Buffer.concat(pieces),
    async open() {
      pieces = []
      return {
        async write(piece) {
          pieces.push(piece)
        },
        async close() {},
      }
    },
  }
}

type Target = Awaited<ReturnType<Sink['open']>>

export function fileSink(path: string, onWritten?: (bytes: number, head: AnswerHead) => void): Sink {
  return { open: (head) => openFile(path, (bytes) => onWritten?.(bytes, head)) }
}

/**
 * Pieces are gathered in two buffers that take turns, one being filled while the other is written. New buffers instead
 * would be garbage outside the heap, which makes the engine look through all of its heap again and again.
 */
export async function openFile(path: string, onWritten?: (bytes: number) => void): Promise<Target> {
  const file = await open(path, 'w', 0o600).catch(refuseDisk)
  let filling: Buffer = Buffer.allocUnsafeSlow(gatherBytes)
  let other: Buffer = Buffer.allocUnsafeSlow(gatherBytes)
  let filled = 0
  let uncollected = 0
  let writtenBytes = 0
  let written: Promise<unknown> = Promise.resolve()
  const flush = async (): Promise<void> => {
    await written
    onWritten?.(writtenBytes)
    written = file.writeFile(filling.subarray(0, filled)).catch(refuseDisk)
    // A failure is heard by the next write or close; until then nobody listens.
    written.catch(() => {})
    ;[filling, other] = [other, filling]
    writtenBytes += filled
    filled = 0
  }
  return {
    async write(piece) {
      for (let at = 0; at < piece.length;) {
        const copied = piece.copy(filling, filled, at)
        at += copied
        filled += copied
        if (filled === filling.length) await flush()
      }
      uncollected += piece.length
      if (uncollected < collectEveryBytes) return
      uncollected = 0
      collectYoung()
    },
    async close() {
      try {
        await flush()
        await written
      } finally {
        await file.close()
      }
    },
  }
}

/** Our disk is not the external API's fault. */
function refuseDisk(error: unknown): never {
  throw asDiskFailure(error) ?? error
}

/** The encodings this client asks for and undoes, one at a time. */
export const acceptedEncodings = 'gzip, deflate, br, zstd'

/** One known encoding, none, or an error: stacked encodings are how small bodies become endless ones. */
export function encodingOf(header: string | undefined): string {
  const codings = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length > 1) {
    throw thrown(
      outboundError(
        'transfer_error',
        `The answer is encoded ${codings.length} times over (${codings.join(', ').slice(0, 100)}); one encoding is read.`,
      ),
    )
  }
  const [coding = 'identity'] = codings
  if (['identity', 'gzip', 'x-gzip', 'deflate', 'br', 'zstd'].includes(coding)) return coding
  throw thrown(
    outboundError(
      'transfer_error',
      `The answer has the content encoding ${JSON.stringify(coding.slice(0, 40))}, which is not known here.`,
    ),
  )
}

function decoderFor(coding: string, first: Buffer) {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'br':
      return createBrotliDecompress()
    case 'zstd':
      return createZstdDecompress()
    case 'deflate':
      // Some servers send the bare stream, others with the zlib header; its first byte tells (RFC 1950).
      return ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw()
    default:
      return null
  }
}

const cut = Symbol('cut')

/** Streams a body into a sink, undoing its encoding and counting before and after. */
export async function receive(
  body: AsyncIterable<Buffer>,
  coding: string,
  { head: answer, sink, limits, signal }: { head: AnswerHead; sink: Sink; limits: BodyLimits; signal: AbortSignal },
): Promise<Received> {
  const counts: Received = { wireBytes: 0, decodedBytes: 0, truncated: false }
  const target = await sink.open(answer)
  const refuse = (what: string, most: number) => {
    counts.truncated = true
    if (limits.beyond === 'cut') return cutError()
    const size = `${Math.round(most / 1_048_576)} MB`
    return thrown(
      outboundError(
        'too_large',
        `The answer is larger than ${size} ${what}. Ask for less at a time, for example with a limit or a filter.`,
      ),
    )
  }
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const piece of body) {
      const room = limits.maxWireBytes - counts.wireBytes
      counts.wireBytes += piece.length
      if (piece.length > room) {
        // A body that is shown in part is shown up to the limit.
        if (limits.beyond === 'cut' && room > 0) yield piece.subarray(0, room)
        throw refuse('on the wire', limits.maxWireBytes)
      }
      yield piece
    }
  }
  async function store(source: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of source) {
      const room = limits.maxDecodedBytes - counts.decodedBytes
      const kept = piece.length > room && limits.beyond === 'cut' ? piece.subarray(0, room) : piece
      if (piece.length > room && limits.beyond === 'fail') throw refuse('', limits.maxDecodedBytes)
      counts.decodedBytes += kept.length
      if (kept.length > 0) await target.write(kept)
      if (kept.length < piece.length) throw refuse('', limits.maxDecodedBytes)
    }
  }
  try {
    const wire = counted()
    const first = await wire.next()
    const head = first.done === true ? Buffer.alloc(0) : first.value
    const decoder = head.length === 0 ? null : decoderFor(coding, head)
    const source = prepend(head, wire)
    if (decoder === null) await untilAborted(store(source), signal)
    else await pipeline(Readable.from(source), decoder, store, { signal })
  } catch (error) {
    if (!isCut(error)) throw error
  } finally {
    await target.close()
  }
  return counts
}

async function* prepend(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  yield* rest
}

function cutError(): Error {
  return Object.assign(new Error('cut'), { [cut]: true })
}

function isCut(error: unknown): boolean {
  return error instanceof Error && cut in error
}
