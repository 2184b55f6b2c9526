import { open } from 'node:fs/promises'
import { previewOf } from '../../../rows/index.ts'
import type { Cancellable } from '../instance/instances.ts'
import type { ExecutorSettings, PeekCall, Peeked } from '../socket/protocol.ts'
import { readableBody } from './readable-body.ts'

const linesType = 'application/x-ndjson'

/** The preview of a body for a test of a connection; it may be packed or no text. */
export async function peek(
  settings: ExecutorSettings,
  call: Cancellable,
  { body, workPath, unpacks, readBytes, ...asked }: PeekCall,
): Promise<Peeked> {
  const { maxDepth } = body
  if (!unpacks) {
    const { bytes, isCut } = await beginning(body.path, readBytes)
    const { contentType = '', extractor = '' } = body
    return previewOf(bytes, { ...asked, contentType, extractor, maxDepth, isCut: asked.isCut || isCut })
  }
  await using readable = await readableBody(settings, call, body, workPath)
  const { contentType = '', extractor = '' } = readable
  const { bytes, isCut } = await beginning(readable.path, readBytes)
  const isLines = contentType === linesType && extractor === ''
  return previewOf(bytes, { ...asked, contentType, extractor, maxDepth, isLines, isCut: asked.isCut || isCut })
}

async function beginning(path: string, readBytes: number): Promise<{ bytes: Buffer; isCut: boolean }> {
  await using file = await open(path, 'r')
  const { size } = await file.stat()
  const bytes = Buffer.alloc(Math.min(size, readBytes))
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
  return { bytes: bytes.subarray(0, bytesRead), isCut: size > bytesRead }
}
