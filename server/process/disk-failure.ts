import { Failure } from '../failure.ts'

/** The system's codes, and PostgreSQL's, for a disk that takes nothing more. */
const diskCodes = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', '53100'])
/** The same from the engine, which gives the words alone. */
const diskWords = /No space left on device|Read-only file system|Disk quota exceeded|failed to offload data block/i

/** The message for a caller when the disk is full or cannot be written; else undefined. */
export function asDiskFailure(error: unknown): Failure | undefined {
  const found = causesOf(error).some(
    (each) => ('code' in each && diskCodes.has(String(each.code))) || diskWords.test(each.message),
  )
  if (!found) return undefined
  const message =
    'The service has no room to write to: its disk is full or read-only. What is stored is served; whoever runs it has to make room.'
  return new Failure('overloaded', { message, retryAfterSeconds: 30, cause: error })
}

const maxCauses = 5

function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let each = error; each instanceof Error && causes.length < maxCauses; each = each.cause) causes.push(each)
  return causes
}
