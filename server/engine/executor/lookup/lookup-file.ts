import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import {
  bucketBytes,
  bucketEntriesAt,
  checksum,
  decodeHeader,
  entriesPerBucket,
  entryBytes,
  headerBytes,
  joinedKey,
  maxAnswerBytes,
  maxSteps,
  placeOf,
  recordHeadBytes,
  type LookupAbout,
  type LookupHeader,
} from './lookup-layout.ts'

/** `rows` is a JSON array as it is sent; `isWhole` is false where only the beginning of the answer is known. */
export type LookupRecord = { rows: Buffer; rowCount: number; isWhole: boolean }

/** All answers of one statement over one version of its table. */
export type LookupFile = {
  about: LookupAbout
  sizeBytes: number
  /** The record of a key; null where no row has it. Undefined where the file cannot say: it is damaged, or closed. */
  find(values: readonly string[]): LookupRecord | null | undefined
  isOpen(): boolean
  close(): void
}

const maxAboutBytes = 16_777_216

/**
 * Opens a file of answers; undefined where it is none, of another format, or cut short. Reads are synchronous: what is
 * read is small and mostly in the page cache, and a way over the thread pool costs ten times as much as such a read.
 */
export function openLookupFile(path: string): LookupFile | undefined {
  let fd: number | undefined
  try {
    fd = openSync(path, 'r')
    const file = readable(fd)
    if (file !== undefined) return file
  } catch {
    // Gone, or a disk that does not give it.
  }
  if (fd !== undefined) closeSync(fd)
  return undefined
}

function readable(fd: number): LookupFile | undefined {
  const header = decodeHeader(readAt(fd, 0, headerBytes))
  if (header === undefined || fstatSync(fd).size !== header.sizeBytes) return undefined
  const about = readAbout(fd, header)
  if (about === undefined) return undefined
  let isOpen = true
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    closeSync(fd)
  }
  const { sizeBytes } = header
  return {
    about,
    sizeBytes,
    isOpen: () => isOpen,
    close,
    find(values) {
      if (!isOpen) return undefined
      try {
        return findRecord(fd, header, joinedKey(values))
      } catch {
        close()
        return undefined
      }
    },
  }
}

function readAbout(fd: number, { aboutAt, sizeBytes, bucketsAt, bucketCount }: LookupHeader): LookupAbout | undefined {
  const length = sizeBytes - aboutAt
  if (length < 4 || length > maxAboutBytes || bucketCount < 1) return undefined
  if (aboutAt - bucketsAt !== bucketCount * bucketBytes) return undefined
  const bytes = readAt(fd, aboutAt, length)
  if (crc32(bytes.subarray(4)) !== bytes.readUInt32LE(0)) return undefined
  return JSON.parse(bytes.toString('utf8', 4)) as LookupAbout
}

/** One bucket at a time goes through here: nothing waits between reading it and having read what it says. */
const bucket = Buffer.alloc(bucketBytes)

function findRecord(fd: number, { bucketsAt, bucketCount }: LookupHeader, key: string): LookupRecord | null {
  const { bucket: first, tag } = placeOf(key, bucketCount)
  for (let step = 0; step < Math.min(maxSteps, bucketCount); step += 1) {
    const start = bucketsAt + ((first + step) % bucketCount) * bucketBytes
    if (readSync(fd, bucket, 0, bucketBytes, start) !== bucketBytes) throw damaged()
    if (checksum(bucket) !== bucket.readUInt32LE(0)) throw damaged()
    const entries = Math.min(bucket.readUInt8(4), entriesPerBucket)
    const isSpilled = bucket.readUInt8(5) === 1
    for (let at = bucketEntriesAt; at < bucketEntriesAt + entries * entryBytes; at += entryBytes) {
      if (bucket.readUInt32LE(at) !== tag) continue
      const found = readRecord(fd, { offset: bucket.readUIntLE(at + 4, 6), length: bucket.readUInt32LE(at + 10), key })
      if (found !== null) return found
    }
    if (!isSpilled) return null
  }
  return null
}

/** Null where it is the record of another key with the same tag. */
function readRecord(
  fd: number,
  { offset, length, key }: { offset: number; length: number; key: string },
): LookupRecord | null {
  const record = readAt(fd, offset, length)
  if (checksum(record) !== record.readUInt32LE(0)) throw damaged()
  const rowsAt = recordHeadBytes + record.readUInt32LE(12)
  if (record.toString('utf8', recordHeadBytes, rowsAt) !== key) return null
  return { rows: record.subarray(rowsAt), rowCount: record.readUInt32LE(4), isWhole: record.readUInt32LE(8) === 1 }
}

/** A key may be long, but no longer than what a row may be. */
const maxReadBytes = maxAnswerBytes * 1_024

function readAt(fd: number, offset: number, length: number): Buffer {
  if (length > maxReadBytes) throw damaged()
  const bytes = Buffer.allocUnsafe(length)
  if (readSync(fd, bytes, 0, length, offset) !== length) throw damaged()
  return bytes
}

function damaged(): Error {
  return new Error('the file of a lookup is damaged')
}
