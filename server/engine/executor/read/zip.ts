import { constants, crc32, deflateRawSync } from 'node:zlib'

type Entry = { name: Buffer; crc: number; packedBytes: number; sizeBytes: number; at: number; isStreamed: boolean }

/** Sizes beyond this need another format of archive. */
const mostBytes = 0xffff_ffff

const [storedMethod, deflatedMethod] = [0, 8]
/** Bit 3: the sizes follow the content. Bit 11: names are UTF-8. */
const [plainFlags, streamedFlags] = [0x0800, 0x0808]
/** 1 January 1980: the same rows make the same bytes. */
const dosDate = 0x0021

/** An archive that is written from front to back: small files first, one large file in parts after them. */
export function createZip() {
  const entries: Entry[] = []
  let at = 0

  function counted(bytes: Buffer): Buffer {
    at += bytes.length
    return bytes
  }

  return {
    stored(name: string, text: string): Buffer {
      const content = Buffer.from(text)
      const sizes = { crc: crc32(content), packedBytes: content.length, sizeBytes: content.length }
      const entry = { name: Buffer.from(name), ...sizes, at, isStreamed: false }
      entries.push(entry)
      return counted(Buffer.concat([localHeader(entry), content]))
    },
    begin(name: string): Buffer {
      const entry = { name: Buffer.from(name), crc: 0, packedBytes: 0, sizeBytes: 0, at, isStreamed: true }
      entries.push(entry)
      return counted(localHeader(entry))
    },
    /** The next part of what was begun, or undefined where the archive would be too large for its format. */
    part(content: Buffer): Buffer | undefined {
      const entry = entries.at(-1)
      if (entry === undefined || at > mostBytes || entry.sizeBytes + content.length > mostBytes) return undefined
      // Each part ends at a whole byte, so that the parts stand one behind the other.
      const packed = deflateRawSync(content, { level: 6, finishFlush: constants.Z_SYNC_FLUSH })
      entry.crc = crc32(content, entry.crc)
      entry.sizeBytes += content.length
      entry.packedBytes += packed.length
      return counted(packed)
    },
    end(): Buffer {
      const entry = entries.at(-1)
      const tail: Buffer[] = []
      if (entry?.isStreamed === true) {
        const last = deflateRawSync(Buffer.alloc(0))
        entry.packedBytes += last.length
        tail.push(counted(last), counted(descriptor(entry)))
      }
      const directoryAt = at
      for (const each of entries) tail.push(counted(directoryEntry(each)))
      tail.push(directoryEnd(entries.length, at - directoryAt, directoryAt))
      return Buffer.concat(tail)
    },
  }
}

function localHeader({ name, crc, packedBytes, sizeBytes, isStreamed }: Entry): Buffer {
  const head = Buffer.alloc(30)
  head.writeUInt32LE(0x0403_4b50, 0)
  head.writeUInt16LE(20, 4)
  head.writeUInt16LE(isStreamed ? streamedFlags : plainFlags, 6)
  head.writeUInt16LE(isStreamed ? deflatedMethod : storedMethod, 8)
  head.writeUInt16LE(dosDate, 12)
  head.writeUInt32LE(crc, 14)
  head.writeUInt32LE(packedBytes, 18)
  head.writeUInt32LE(sizeBytes, 22)
  head.writeUInt16LE(name.length, 26)
  return Buffer.concat([head, name])
}

function descriptor({ crc, packedBytes, sizeBytes }: Entry): Buffer {
  const bytes = Buffer.alloc(16)
  bytes.writeUInt32LE(0x0807_4b50, 0)
  bytes.writeUInt32LE(crc, 4)
  bytes.writeUInt32LE(packedBytes, 8)
  bytes.writeUInt32LE(sizeBytes, 12)
  return bytes
}

function directoryEntry({ name, crc, packedBytes, sizeBytes, at, isStreamed }: Entry): Buffer {
  const head = Buffer.alloc(46)
  head.writeUInt32LE(0x0201_4b50, 0)
  head.writeUInt16LE(20, 4)
  head.writeUInt16LE(20, 6)
  head.writeUInt16LE(isStreamed ? streamedFlags : plainFlags, 8)
  head.writeUInt16LE(isStreamed ? deflatedMethod : storedMethod, 10)
  head.writeUInt16LE(dosDate, 14)
  head.writeUInt32LE(crc, 16)
  head.writeUInt32LE(packedBytes, 20)
  head.writeUInt32LE(sizeBytes, 24)
  head.writeUInt16LE(name.length, 28)
  head.writeUInt32LE(at, 42)
  return Buffer.concat([head, name])
}

function directoryEnd(count: number, sizeBytes: number, at: number): Buffer {
  const bytes = Buffer.alloc(22)
  bytes.writeUInt32LE(0x0605_4b50, 0)
  bytes.writeUInt16LE(count, 8)
  bytes.writeUInt16LE(count, 10)
  bytes.writeUInt32LE(sizeBytes, 12)
  bytes.writeUInt32LE(at, 16)
  return bytes
}
