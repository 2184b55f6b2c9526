import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { ScalarSlotType } from '../../../../api/slots.ts'
import type { Column } from '../socket/protocol.ts'

/**
 * How all answers of a lookup lie in one file:
 *
 *     header    where everything is
 *     records   one for each key: its rows as a JSON array, as they are sent
 *     buckets   a hash table from keys to records, of fixed size, so that finding a key is one small read
 *     about     what the file holds, as JSON
 *
 * Header, buckets, records and `about` each carry a checksum that is compared at every read: a file that was cut, or in
 * which a bit fell, is never believed, neither in what it says nor in what it does not.
 */
export const lookupFormat = 1

/** A larger answer is left to the engine, of which an execution is the smaller part by then. */
export const maxAnswerBytes = 131_072

/** The types of slots that can be looked up by, and the types of columns whose equality with them is that of the texts. */
export const keyColumns: Partial<Record<string, ReadonlySet<string>>> = {
  string: new Set(['VARCHAR']),
  integer: new Set(['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'UTINYINT', 'USMALLINT', 'UINTEGER']),
  boolean: new Set(['BOOLEAN']),
  date: new Set(['DATE']),
  timestamp: new Set(['TIMESTAMP']),
} satisfies Partial<Record<ScalarSlotType, ReadonlySet<string>>>

export type LookupAbout = {
  /** Slots whose values are the key, in this order. */
  keys: string[]
  /** The slot that says how many of the rows are wanted; null where the file holds what is to be answered. */
  limit: string | null
  columns: Column[]
  keyCount: number
}

const magic = Buffer.from('SLUICELK')
export const headerBytes = 64

export type LookupHeader = { sizeBytes: number; bucketsAt: number; bucketCount: number; aboutAt: number }

export function encodeHeader({ sizeBytes, bucketsAt, bucketCount, aboutAt }: LookupHeader): Buffer {
  const header = Buffer.alloc(headerBytes)
  magic.copy(header)
  header.writeUInt32LE(lookupFormat, 8)
  header.writeUInt32LE(bucketCount, 12)
  header.writeBigUInt64LE(BigInt(sizeBytes), 16)
  header.writeBigUInt64LE(BigInt(bucketsAt), 24)
  header.writeBigUInt64LE(BigInt(aboutAt), 32)
  header.writeUInt32LE(crc32(header.subarray(0, headerBytes - 4)), headerBytes - 4)
  return header
}

/** Undefined where it is none of this format, or damaged. */
export function decodeHeader(header: Buffer): LookupHeader | undefined {
  const isWhole = header.length === headerBytes && magic.equals(header.subarray(0, magic.length))
  if (!isWhole || header.readUInt32LE(8) !== lookupFormat) return undefined
  if (crc32(header.subarray(0, headerBytes - 4)) !== header.readUInt32LE(headerBytes - 4)) return undefined
  return {
    bucketCount: header.readUInt32LE(12),
    sizeBytes: Number(header.readBigUInt64LE(16)),
    bucketsAt: Number(header.readBigUInt64LE(24)),
    aboutAt: Number(header.readBigUInt64LE(32)),
  }
}

/** The values of a key in their one textual form, as one text. */
export function joinedKey(values: readonly string[]): string {
  const [only = ''] = values
  return values.length === 1 ? only : JSON.stringify(values)
}

/** Where the search for a key begins, and what tells it from most others there. */
export function placeOf(key: string, bucketCount: number): { bucket: number; tag: number } {
  const digest = hash('sha256', key, 'buffer')
  return { bucket: digest.readUInt32LE(0) % bucketCount, tag: digest.readUInt32LE(4) }
}

/** A bucket: checksum, number of entries, whether some of its keys had to go to the next one; then the entries. */
export const bucketBytes = 128
export const entriesPerBucket = 7
export const bucketEntriesAt = 8
/** An entry: tag, offset of the record (48 bits), its length. */
export const entryBytes = 16
/** No search goes on for longer: a file whose keys crowd so much is not made. */
export const maxSteps = 64

/** A record: checksum, number of rows, whether those are all, length of the key; the key; the rows. */
export const recordHeadBytes = 16

export function checksum(bytes: Buffer): number {
  return crc32(bytes.subarray(4))
}
