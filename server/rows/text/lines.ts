import { type FileHandle } from 'node:fs/promises'
import { Failure } from '../../failure.ts'

const ordinaryBytes = 65_536
const maxLine = 67_108_864

/** Reads a file line by line from its own position, so that several readers can share one file. */
export function createLineReader(file: FileHandle, options: { from: number; bufferBytes?: number }) {
  let buffer = Buffer.allocUnsafe(options.bufferBytes ?? ordinaryBytes)
  let position = options.from
  let start = 0
  let end = 0
  let searched = 0

  /** The next line, without its end, where it is already here. Valid until the next call. */
  function next(): Buffer | null {
    const at = buffer.indexOf(0x0a, searched)
    if (at < 0 || at >= end) {
      searched = end
      return null
    }
    const line = buffer.subarray(start, at)
    start = at + 1
    searched = start
    return line
  }

  /** The next line, read from the file. `null` after the last. */
  async function read(): Promise<Buffer | null> {
    for (;;) {
      if (start > 0) buffer.copyWithin(0, start, end)
      end -= start
      searched = end
      start = 0
      if (end >= maxLine) throw lineTooLong()
      if (end === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
      const { bytesRead } = await file.read(buffer, end, buffer.length - end, position)
      if (bytesRead === 0) return null
      position += bytesRead
      end += bytesRead
      const line = next()
      if (line !== null) return line
    }
  }

  return { next, read }
}

function lineTooLong(): Failure {
  return new Failure('upstream_error', {
    reason: 'not_tabular',
    message:
      'A single row of the answer is larger than 64 MB. Point responsePathExtractor at the list of rows inside it.',
  })
}
