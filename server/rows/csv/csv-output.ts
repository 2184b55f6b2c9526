import type { FileHandle } from 'node:fs/promises'
import { createRowWriter } from '../text/row-file.ts'

const copiedBytes = 524_288

/** `base`: where the rows start in the output. */
type Files = { source: FileHandle; rows: FileHandle; base: number }

/**
 * The rows of CSV on their way to the output. As long as they may stay, those that are what stands in the input are only
 * counted; the first that differs has them copied, and is written behind them.
 */
export function createCsvOutput({ source, rows, base }: Files, mayStay: boolean) {
  let counted = 0
  let writer = mayStay ? null : createRowWriter(rows, base)
  const differ = () => (writer ??= createRowWriter(rows, base + counted))
  return {
    bytes: (buffer: Buffer, start: number, end: number): void => {
      if (writer === null) counted += end - start
      else writer.bytes(buffer, start, end)
    },
    write: (text: string): void => differ().text(text),
    differ: (): void => void differ(),
    mayEndBare: () => writer === null,
    drain: async () => writer?.drain(),
    /** Answers whether every row is as it came. */
    finish: async (headerBytes: number): Promise<boolean> => {
      if (writer === null) return true
      await copyRange(source, rows, { from: headerBytes, to: base, length: counted })
      return false
    },
  }
}

async function copyRange(
  source: FileHandle,
  target: FileHandle,
  { from, to, length }: { from: number; to: number; length: number },
): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.min(length, copiedBytes))
  for (let done = 0; done < length;) {
    const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, length - done), from + done)
    if (bytesRead === 0) throw new Error('the input became shorter while it was read')
    const writer = createRowWriter(target, to + done)
    writer.bytes(buffer, 0, bytesRead)
    await writer.drain()
    done += bytesRead
  }
}
