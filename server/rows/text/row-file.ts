import { type FileHandle } from 'node:fs/promises'
import { isUtf8 } from 'node:buffer'
import { Failure } from '../../failure.ts'

const stagingBytes = 262_144
const shortBytes = 48
const directBytes = 4_096
const fullBytes = 1_048_576

/** Rows repeat names, keys and what an answer includes. */
const [repeatedTimes, repeatedBytes] = [64, 67_108_864]

/** The most that rows of an answer may have, which say again what it says once. */
export async function mostRowBytes(answer: FileHandle): Promise<number> {
  return repeatedBytes + repeatedTimes * (await answer.stat()).size
}

export function refuseRepeating(bytes: number, most: number): void {
  if (bytes <= most) return
  throw new Failure('upstream_error', {
    reason: 'too_large',
    message: `The rows of the answer would have more than ${Math.floor(most / 1_048_576)} MB: names, keys or included resources of it stand in each. Choose a path to fewer rows, or ask the API for smaller pages.`,
  })
}

/** Writes the pieces of rows in order; large pieces go to the file without a copy, so `drain` before reusing them. */
// Over 70 lines: its methods share one buffer that is written in place.
export function createRowWriter(file: FileHandle, from: number, mostBytes = Infinity) {
  let position = from
  let pieces: Buffer[] = []
  let staging = Buffer.allocUnsafe(stagingBytes)
  let staged = 0
  let used = 0
  let pending = 0
  let restarted = false

  function seal(): void {
    if (used > staged) pieces.push(staging.subarray(staged, used))
    staged = used
  }

  function room(size: number): void {
    if (mostBytes !== Infinity) refuseRepeating(position - from + pending + size, mostBytes)
    if (used + size <= staging.length) return
    seal()
    staging = Buffer.allocUnsafe(Math.max(stagingBytes, size))
    staged = 0
    used = 0
  }

  /** For a piece whose buffer is used again before the next `drain`. */
  function copy(piece: Buffer, start = 0, end = piece.length): void {
    room(end - start)
    pending += end - start
    if (end - start > shortBytes) {
      used += piece.copy(staging, used, start, end)
      return
    }
    // A call into the runtime costs more than these few bytes.
    for (let at = start; at < end; at += 1, used += 1) staging[used] = piece[at] as number
  }

  /** Hands a piece on as it is: it must stay untouched until the next `drain`. */
  function bytes(buffer: Buffer, start: number, end: number): void {
    if (end - start < directBytes) return copy(buffer, start, end)
    seal()
    pieces.push(buffer.subarray(start, end))
    pending += end - start
  }

  function text(words: string): void {
    room(words.length * 3)
    const size = staging.write(words, used)
    used += size
    pending += size
  }

  function restart(): void {
    pieces = []
    staged = used
    pending = 0
    position = from
    restarted = true
  }

  async function drain(): Promise<void> {
    seal()
    const out = pieces
    if (out.length > 0) await writeAll(file, out, position)
    position += pending
    pieces = []
    pending = 0
    staged = 0
    used = 0
  }

  /** After the last `drain`: what an earlier start left behind is cut off. */
  async function finish(): Promise<void> {
    if (restarted) await file.truncate(position)
  }

  return {
    bytes,
    text,
    copy,
    restart,
    drain,
    finish,
    isFull: () => pending >= fullBytes,
    /** Where the next byte will stand. */
    position: () => position + pending,
  }
}

const maxVectors = 512

async function writeAll(file: FileHandle, pieces: Buffer[], from: number): Promise<void> {
  let position = from
  for (let at = 0; at < pieces.length; at += maxVectors) {
    const part = pieces.slice(at, at + maxVectors)
    const size = part.reduce((sum, piece) => sum + piece.length, 0)
    let { bytesWritten } = await file.writev(part, position)
    // A short write happens when the disk is nearly full; the rest is then written as one piece or fails by itself.
    while (bytesWritten < size) {
      const more = await file.write(Buffer.concat(part), bytesWritten, size - bytesWritten, position + bytesWritten)
      bytesWritten += more.bytesWritten
    }
    position += size
  }
}

export type Push = (buffer: Buffer, end: number, last: boolean) => number

type Pump = {
  from: number
  chunkBytes: number
  afterEach: () => Promise<void>
  goOn?: (() => void) | undefined
  more?: ((position: number) => Promise<boolean>) | undefined
}

/**
 * Feeds a file of UTF-8 to `push` piece by piece and answers how many bytes at its end were not used up. What `push`
 * leaves comes again at the front of the next piece; a character is never cut.
 */
export async function pump(file: FileHandle, push: Push, { from, chunkBytes, afterEach, goOn, more }: Pump) {
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let position = from
  let filled = 0
  let checked = 0
  for (;;) {
    goOn?.()
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, position)
    if (bytesRead === 0 && (await more?.(position)) === true) continue
    const last = bytesRead === 0
    if (last && filled === buffer.length) throw tokenTooLong(position)
    position += bytesRead
    filled += bytesRead
    const whole = last ? filled : filled - cutCharacter(buffer, filled)
    if (!isUtf8(buffer.subarray(checked, whole))) throw notUtf8(position - filled)
    const used = push(buffer, whole, last)
    await afterEach()
    if (last) return filled - used
    if (used === 0 && filled === buffer.length) throw tokenTooLong(position)
    buffer.copyWithin(0, used, filled)
    checked = whole - used
    filled -= used
  }
}

/** How many bytes at the end belong to a character that goes on in the next piece. */
function cutCharacter(buffer: Buffer, end: number): number {
  for (let back = 1; back <= 3 && back <= end; back += 1) {
    const byte = buffer[end - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0
  }
  return 0
}

function notUtf8(byte: number): Failure {
  return new Failure('upstream_error', {
    reason: 'not_tabular',
    message: `The answer of the external API is not valid UTF-8 text (within the piece at byte ${byte}), and its Content-Type names no other charset. If you know it, send it as a header, such as Accept-Charset: windows-1252.`,
  })
}

function tokenTooLong(byte: number): Failure {
  return new Failure('upstream_error', {
    reason: 'not_tabular',
    message: `The JSON of the external API holds a key or number too long to be one (near byte ${byte}).`,
  })
}
