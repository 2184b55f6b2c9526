import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Files } from '../files/index.ts'
import { openGate } from '../flow/index.ts'
import { Failure } from '../failure.ts'
import { openFile } from './outbound/receive.ts'

/** A received file, on disk until it is a table. */
export type ReceivedFile = AsyncDisposable & { path: string; sizeBytes: number; digest: string }
type Incoming = { projectId: string; body: Readable; declaredBytes: number | undefined }

/** Receives files from callers, within limits on their size and number. Projects get fair shares of the room. */
export type Uploads = { receive(incoming: Incoming): Promise<ReceivedFile> }

export function openUploads({
  files,
  maxBytes,
  most,
}: {
  files: Pick<Files, 'temporaryPath'>
  maxBytes: number
  most: number
}): Uploads {
  const gate = openGate({ room: most, isShared: true })
  return {
    async receive(incoming) {
      const leave = gate.tryEnter([incoming.projectId])
      if (leave === undefined) {
        throw new Failure('overloaded', {
          message: 'So many files of this project are being received already. Try again in a moment.',
          retryAfterSeconds: 5,
        })
      }
      const path = files.temporaryPath('upload')
      const forget = () => rm(path, { force: true })
      try {
        if ((incoming.declaredBytes ?? 0) > maxBytes) throw tooLarge(maxBytes)
        const received = await write(incoming, path, maxBytes)
        return { path, ...received, [Symbol.asyncDispose]: forget }
      } catch (error) {
        await forget()
        throw error
      } finally {
        leave()
      }
    },
  }
}

/** Counts the bytes that come, whatever length was announced. Bytes beyond the limit stay unread: the sender gets an answer. */
async function write({ body }: Incoming, path: string, maxBytes: number) {
  const hash = createHash('sha256')
  const sink = await openFile(path)
  let sizeBytes = 0
  try {
    for await (const piece of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      sizeBytes += piece.length
      if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
      hash.update(piece)
      await sink.write(piece)
    }
  } catch (error) {
    throw isCut(error)
      ? new Failure('cancelled', { message: 'The file broke off before its end.', cause: error })
      : error
  } finally {
    await sink.close()
  }
  return { sizeBytes, digest: hash.digest('base64url') }
}

/** Whether the sender hung up. */
function isCut(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
}

function tooLarge(maxBytes: number): Failure {
  return new Failure('payload_too_large', {
    message: `A file may have ${maxBytes} bytes. Send it packed (.gz, .zst) or in pieces, with append.`,
  })
}
