import { open } from 'node:fs/promises'
import type { Cancellable } from '../../engine/executor/instance/instances.ts'
import type { ExecutorSettings, PeekCall, Peeked } from '../../engine/executor/socket/protocol.ts'
import { readableBody } from '../../engine/executor/convert/readable-body.ts'

/** The beginning of what stands in a body that is no text as it came. */
export async function peek(
  settings: ExecutorSettings,
  call: Cancellable,
  { body, workPath, maxChars }: PeekCall,
): Promise<Peeked> {
  await using readable = await readableBody(settings, call, body, workPath)
  await using file = await open(readable.path, 'r')
  const bytes = Buffer.alloc(maxChars)
  const { bytesRead } = await file.read(bytes, 0, maxChars, 0)
  const { size } = await file.stat()
  const { contentType, extractor } = readable
  // Every character is looked at as a byte: what it means is decided where all texts are read.
  const text = bytes.toString('latin1', 0, bytesRead)
  return { text, contentType, extractor, truncated: size > bytesRead, isLines: contentType === linesType }
}

const linesType = 'application/x-ndjson'
