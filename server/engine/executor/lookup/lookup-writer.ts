import { open, rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import {
  bucketBytes,
  bucketEntriesAt,
  checksum,
  encodeHeader,
  entriesPerBucket,
  entryBytes,
  headerBytes,
  maxSteps,
  placeOf,
  recordHeadBytes,
  type LookupAbout,
} from './lookup-layout.ts'

/** Fuller ones spill over into the next too often, emptier ones fill the disk. */
const keysPerBucket = 5
const writeBytes = 1_048_576

/** The certain beginning of an answer, and whether that is all of it. */
export type LookupAnswer = { lines: string[]; isWhole: boolean }

export type LookupWriter = Awaited<ReturnType<typeof openLookupWriter>>

/**
 * Writes the answers of a lookup, each key once. The file is whole after `finish`, and gone after `discard`. Where it
 * would be larger than it may be, `add` says false and `finish` null.
 */
export async function openLookupWriter(path: string, maxBytes: number) {
  const file = await open(path, 'wx', 0o600)
  const index = createIndex()
  let pending: Buffer[] = [Buffer.alloc(headerBytes)]
  let pendingBytes = headerBytes
  let at = headerBytes

  async function flush(): Promise<void> {
    if (pendingBytes === 0) return
    const { bytesWritten } = await file.writev(pending)
    if (bytesWritten !== pendingBytes) throw new Error(`${bytesWritten} of ${pendingBytes} bytes were written`)
    pending = []
    pendingBytes = 0
  }

  async function append(bytes: Buffer): Promise<void> {
    pending.push(bytes)
    pendingBytes += bytes.length
    if (pendingBytes >= writeBytes) await flush()
  }

  return {
    async add(key: string, { lines, isWhole }: LookupAnswer): Promise<boolean> {
      const record = encodeRecord(key, lines, isWhole)
      index.add(key, at, record.length)
      at += record.length
      if (at + index.leastBytes() > maxBytes) return false
      await append(record)
      return true
    },
    async finish(about: Omit<LookupAbout, 'keyCount'>): Promise<{ sizeBytes: number; keyCount: number } | null> {
      const keyCount = index.size()
      const buckets = index.buckets()
      if (buckets === null) return null
      const text = Buffer.from(JSON.stringify({ ...about, keyCount } satisfies LookupAbout))
      const sum = Buffer.alloc(4)
      sum.writeUInt32LE(crc32(text))
      const [bucketsAt, aboutAt] = [at, at + buckets.length]
      const sizeBytes = aboutAt + sum.length + text.length
      if (sizeBytes > maxBytes) return null
      for (const bytes of [buckets, sum, text]) await append(bytes)
      await flush()
      const header = encodeHeader({ sizeBytes, bucketsAt, bucketCount: buckets.length / bucketBytes, aboutAt })
      await file.write(header, 0, header.length, 0)
      await file.close()
      return { sizeBytes, keyCount }
    },
    async discard(): Promise<void> {
      await file.close().catch(() => undefined)
      await rm(path, { force: true })
    },
  }
}

function encodeRecord(key: string, lines: string[], isWhole: boolean): Buffer {
  const keyBytes = Buffer.byteLength(key)
  const rows = `[${lines.join(',\n')}]`
  const record = Buffer.allocUnsafe(recordHeadBytes + keyBytes + Buffer.byteLength(rows))
  record.writeUInt32LE(lines.length, 4)
  record.writeUInt32LE(isWhole ? 1 : 0, 8)
  record.writeUInt32LE(keyBytes, 12)
  record.write(key, recordHeadBytes)
  record.write(rows, recordHeadBytes + keyBytes)
  record.writeUInt32LE(checksum(record), 0)
  return record
}

/** Where each record is, in four numbers a key, until the table of all of them is laid out. */
function createIndex() {
  let count = 0
  let numbers = new Float64Array(4_096)
  const each = 4
  return {
    size: () => count,
    leastBytes: () => Math.ceil(count / keysPerBucket) * bucketBytes,
    add(key: string, offset: number, length: number): void {
      if ((count + 1) * each > numbers.length) {
        const grown = new Float64Array(numbers.length * 2)
        grown.set(numbers)
        numbers = grown
      }
      const { bucket, tag } = placeOf(key, 2 ** 32)
      numbers.set([bucket, tag, offset, length], count * each)
      count += 1
    },
    /** Null where keys crowd so much that finding one would take too many steps. */
    buckets(): Buffer | null {
      const bucketCount = Math.max(1, Math.ceil(count / keysPerBucket))
      const buckets = Buffer.alloc(bucketCount * bucketBytes)
      for (let index = 0; index < count; index += 1) {
        const [place = 0, tag = 0, offset = 0, length = 0] = numbers.subarray(index * each, (index + 1) * each)
        if (!putEntry(buckets, place % bucketCount, { tag, offset, length })) return null
      }
      for (let start = 0; start < buckets.length; start += bucketBytes) {
        const bucket = buckets.subarray(start, start + bucketBytes)
        bucket.writeUInt32LE(checksum(bucket), 0)
      }
      return buckets
    },
  }
}

function putEntry(
  buckets: Buffer,
  first: number,
  { tag, offset, length }: { tag: number; offset: number; length: number },
): boolean {
  const bucketCount = buckets.length / bucketBytes
  for (let step = 0; step < Math.min(maxSteps, bucketCount); step += 1) {
    const start = ((first + step) % bucketCount) * bucketBytes
    const entries = buckets.readUInt8(start + 4)
    if (entries < entriesPerBucket) {
      const at = start + bucketEntriesAt + entries * entryBytes
      buckets.writeUInt32LE(tag, at)
      buckets.writeUIntLE(offset, at + 4, 6)
      buckets.writeUInt32LE(length, at + 10)
      buckets.writeUInt8(entries + 1, start + 4)
      return true
    }
    buckets.writeUInt8(1, start + 5)
  }
  return false
}
