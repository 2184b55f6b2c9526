import { open, type FileHandle } from 'node:fs/promises'
import { Failure } from '../../failure.ts'
import { createRowWriter, pump } from './row-file.ts'

const chunkBytes = 262_144

/** Copies a text file of another charset to `path` as UTF-8. */
export async function transcode(input: FileHandle, path: string, charset: string): Promise<FileHandle> {
  const output = await open(path, 'w+', 0o600)
  const decoder = new TextDecoder(charset, { fatal: true })
  const buffer = Buffer.allocUnsafe(chunkBytes)
  try {
    for (let position = 0; ;) {
      const { bytesRead } = await input.read(buffer, 0, chunkBytes, position)
      await output.appendFile(decoder.decode(buffer.subarray(0, bytesRead), { stream: bytesRead > 0 }))
      if (bytesRead === 0) return output
      position += bytesRead
    }
  } catch (error) {
    await output.close()
    if (!(error instanceof TypeError)) throw error
    throw new Failure('upstream_error', {
      reason: 'not_tabular',
      message: `The answer of the external API is not valid ${charset} text, although it says so.`,
    })
  }
}

/** The bytes before the string in its row. */
const rowLead = '{"value":"'

/**
 * Writes a JSON string to `path` with its escapes undone. The string is the only value of a row: `{"value":"…"}`, as
 * the scanner writes a text that stands alone, which begins at `rowStart` in the file.
 */
export async function unescapeText(rows: FileHandle, rowStart: number, path: string): Promise<FileHandle> {
  const output = await open(path, 'w+', 0o600)
  const writer = createRowWriter(output, 0)
  let done = false
  const push = (buffer: Buffer, end: number, last: boolean): number => {
    if (done) return end
    // The closing quote is the only one without a backslash before it.
    const close = closingQuote(buffer, end)
    const stop = close < 0 ? safeEnd(buffer, end) : close
    if (stop > 0) writer.text(JSON.parse(`"${buffer.toString('utf8', 0, stop)}"`) as string)
    done = close >= 0 || last
    return done ? end : stop
  }
  try {
    await pump(rows, push, { from: rowStart + rowLead.length, chunkBytes, afterEach: writer.drain })
  } catch (error) {
    await output.close()
    throw error
  }
  return output
}

function closingQuote(buffer: Buffer, end: number): number {
  for (let at = buffer.subarray(0, end).indexOf(0x22); at >= 0; at = buffer.subarray(0, end).indexOf(0x22, at + 1)) {
    if (backslashesBefore(buffer, at) % 2 === 0) return at
  }
  return -1
}

/** Where a chunk can be cut: before an escape, or half of a surrogate pair, that may continue in the next chunk. */
function safeEnd(buffer: Buffer, end: number): number {
  for (let at = Math.max(0, end - 12); at < end; at += 1) {
    if (buffer[at] === 0x5c && backslashesBefore(buffer, at) % 2 === 0) return at
  }
  return end
}

function backslashesBefore(buffer: Buffer, at: number): number {
  let count = 0
  while (at - count > 0 && buffer[at - count - 1] === 0x5c) count += 1
  return count
}
