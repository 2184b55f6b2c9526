import { open, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Up to here a socket is faster. */
const largeBytes = 1_048_576

/**
 * Where an executor leaves the rows of a large answer. A socket hands them over in hundreds of small reads, all of them
 * work for the process that answers everybody; a file is one write here and one read there, both off the event loop.
 */
function rowsPath(tempDir: string, id: number): string {
  return join(tempDir, `${id}.rows`)
}

/** How many bytes were left, or null where a socket does better. */
export async function leaveRows(tempDir: string, id: number, pieces: Buffer[]): Promise<number | null> {
  const sizeBytes = pieces.reduce((sum, { length }) => sum + length, 0)
  if (sizeBytes < largeBytes) return null
  try {
    const file = await open(rowsPath(tempDir, id), 'wx', 0o600)
    try {
      const { bytesWritten } = await file.writev(pieces)
      if (bytesWritten === sizeBytes) return sizeBytes
    } finally {
      await file.close()
    }
  } catch {
    // A disk that is full, for one: the answer is there all the same.
  }
  await unlink(rowsPath(tempDir, id)).catch(() => undefined)
  return null
}

/** Takes what was left; nothing of it stays. */
export async function takeRows(tempDir: string, id: number, sizeBytes: number): Promise<Buffer> {
  const path = rowsPath(tempDir, id)
  const file = await open(path, 'r')
  try {
    await unlink(path)
    const rows = Buffer.allocUnsafeSlow(sizeBytes)
    const { bytesRead } = await file.read(rows, 0, sizeBytes, 0)
    if (bytesRead !== sizeBytes) throw new Error(`${bytesRead} of ${sizeBytes} bytes of an answer were there`)
    return rows
  } finally {
    await file.close()
  }
}
