import { open } from 'node:fs/promises'
import { throwIfCancelled, type Cancellable } from '../instance/instances.ts'

const readBytes = 4_194_304
const maxLineBytes = 268_435_456

/** Calls `take` for each line that is not blank and answers how many there were. A promise from `take` is awaited. */
export async function eachLine(
  path: string,
  call: Cancellable,
  take: (line: Buffer) => void | Promise<void>,
): Promise<number> {
  const file = await open(path, 'r')
  let buffer: Buffer = Buffer.allocUnsafe(readBytes)
  let filled = 0
  let count = 0
  try {
    for (;;) {
      throwIfCancelled(call)
      if (filled === buffer.length) buffer = grown(buffer)
      const { bytesRead } = await file.read(buffer, filled, buffer.length - filled)
      if (bytesRead === 0) break
      const end = filled + bytesRead
      let start = 0
      for (
        let newline = buffer.indexOf(10, filled);
        newline !== -1 && newline < end;
        newline = buffer.indexOf(10, start)
      ) {
        const line = buffer.subarray(start, newline)
        start = newline + 1
        if (isBlank(line)) continue
        count += 1
        const waiting = take(line)
        // Awaiting nothing still costs a turn, a million times.
        if (waiting !== undefined) await waiting
      }
      buffer.copy(buffer, 0, start, end)
      filled = end - start
    }
    const last = buffer.subarray(0, filled)
    if (isBlank(last)) return count
    await take(last)
    return count + 1
  } finally {
    await file.close()
  }
}

/** Writes each line anew. */
export async function editLines(
  paths: { from: string; to: string },
  call: Cancellable,
  edit: (line: Buffer) => Buffer | string,
): Promise<void> {
  const file = await open(paths.to, 'w')
  const stream = file.createWriteStream({ highWaterMark: 1_048_576 })
  try {
    let failed: Error | null = null
    stream.on('error', (error) => {
      failed = error
    })
    await eachLine(paths.from, call, (line) => {
      if (failed !== null) throw failed
      stream.write(edit(line))
      return stream.write('\n') ? undefined : drained(stream)
    })
  } finally {
    await new Promise<void>((resolve) => {
      stream.end(resolve)
    })
  }
}

function drained(stream: { once(event: 'drain' | 'close', listener: () => void): unknown }): Promise<void> {
  return new Promise((resolve) => {
    stream.once('drain', resolve)
    stream.once('close', resolve)
  })
}

function grown(buffer: Buffer): Buffer {
  if (buffer.length >= maxLineBytes) throw new Error(`Invalid Input Error: a line is longer than ${maxLineBytes} bytes`)
  const larger = Buffer.allocUnsafe(buffer.length * 2)
  buffer.copy(larger)
  return larger
}

function isBlank(line: Buffer): boolean {
  const [first] = line
  return first === undefined || ((first === 0x20 || first === 0x0d || first === 0x09) && line.toString().trim() === '')
}
