import { rm } from 'node:fs/promises'
import { finished } from 'node:stream'
import { createReadStream } from 'node:fs'
import { LRUCache } from 'lru-cache'
import type { Observe } from '../observe.ts'
import type { Bucket } from './bucket.ts'
import { nameOf, openFileCache } from './file-cache.ts'
import type { FileRecords } from './file-records.ts'
import { streamBounds, digest, openFileFolder, type Files, type StoredCopy, type StoredFile } from './stored-files.ts'

type Options = {
  dir: string
  bucket: Bucket
  /** Limit of the folder. */
  maxBytes: number
  records: FileRecords
  observe: Observe
  now: () => number
}

/** How long what is not in the bucket as its name says is passed over; after that it is looked for again. */
const damagedMs = 60_000
const maxDamaged = 10_000
/** Longer than any upload takes. */
const staleUploadMs = 24 * 60 * 60 * 1000

/** A bucket that holds every file, and a folder with copies of those that were used last. */
export async function openCachedFiles({ dir, bucket, maxBytes, records, observe, now }: Options): Promise<Files> {
  const folder = await openFileFolder({ dir, now })
  const damaged = new LRUCache<string, true>({ max: maxDamaged, ttl: damagedMs })
  const cache = await openFileCache({
    folder,
    maxBytes,
    fetch: (file) => bucket.get(file),
    damaged: (file) => void damaged.set(nameOf(file), true),
    fetched: (sizeBytes, elapsedMs) => observe({ kind: 'object-fetched', sizeBytes, elapsedMs }),
  })

  async function keep(path: string, file: StoredFile, sizeBytes: number): Promise<void> {
    // First, so that nobody sweeps an object of this content from before.
    await records.note(file)
    await bucket.put(path, file, { sizeBytes, isDamaged: damaged.has(nameOf(file)) })
    damaged.delete(nameOf(file))
    await cache.adopt(path, file, sizeBytes)
  }

  return {
    holdsAll: false,
    pathOf: folder.pathOf,
    temporaryPath: folder.temporaryPath,
    async keep(path, format): Promise<StoredCopy> {
      const { hash, sizeBytes } = await digest(path)
      await keep(path, { hash, format }, sizeBytes)
      await rm(path, { force: true })
      return { hash, sizeBytes }
    },
    lease: (file, signal) => cache.lease(file, signal),
    leaseHere: (files) => cache.leaseHere(files),
    async read(file, part) {
      const { path, release } = await cache.lease(file)
      const stream = createReadStream(path, streamBounds(part))
      finished(stream, release)
      return stream
    },
    sizeOf: (file) => bucket.sizeOf(file),
    // Whether it is in the bucket shows when it is brought: asking for each would make every catalog as slow as its bucket.
    isIntact: (file) => Promise.resolve(!damaged.has(nameOf(file))),
    doubt: (file) => cache.doubt(file),
    missed: (files) => cache.forgetMissing(files),
    isReached: () => bucket.isReached(),
    sweepUnfinished: folder.sweepUnfinished,
    async sweep(named) {
      await bucket.endStaleUploads(new Date(now() - staleUploadMs))
      return records.sweep(
        (hash) => named.has(hash),
        (file) => bucket.remove(file),
      )
    },
  }
}
