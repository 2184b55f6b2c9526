import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Files } from '../data/index.ts'
import { createShares } from '../fair-share.ts'
import { Failure } from '../failure.ts'
import { openFile } from './outbound/receive.ts'

/** A file as it came, on disk until it is a table. */
export type ReceivedFile = AsyncDisposable & { path: string; sizeBytes: number; digest: string }
type Incoming = { projectId: string; body: Readable; declaredBytes: number | undefined }

/**
 * Receives files from callers: as many at once, and each as large, as an installation says. Who sends many leaves room for
 * others.
 */
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
  const underWay = createShares()
  return {
    async receive(incoming) {
      const sender = { projectId: incoming.projectId, keyId: '' }
      if (!underWay.mayHoldMore(sender, most)) {
        throw new Failure('overloaded', {
          message: 'So many files of this project are being received already. Try again in a moment.',
          retryAfterSeconds: 5,
        })
      }
      if ((incoming.declaredBytes ?? 0) > maxBytes) throw tooLarge(maxBytes)
      underWay.add(sender, 1)
      const path = files.temporaryPath('upload')
      const forget = () => rm(path, { force: true })
      try {
        const received = await write(incoming, path, maxBytes)
        return { path, ...received, [Symbol.asyncDispose]: forget }
      } catch (error) {
        await forget()
        throw error
      } finally {
        underWay.add(sender, -1)
      }
    },
  }
}

/** Counts what comes, whatever length was announced. What is too much is left where it is, so that its sender can be told. */
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

/** What Node says where the sender has hung up. */
function isCut(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
}

function tooLarge(maxBytes: number): Failure {
  return new Failure('payload_too_large', {
    message: `A file may have ${maxBytes} bytes. Send it packed (.gz, .zst) or in pieces, with append.`,
  })
}
