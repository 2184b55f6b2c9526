import type { Observe } from '../observe.ts'
import { settleInBucket, type Database } from '../store/index.ts'
import type { Bucket, BucketOptions } from './bucket.ts'
import { openCachedFiles } from './cached-files.ts'
import { createFileRecords, type FileRecords } from './file-records.ts'
import { digest, openFileFolder, type Files, type StoredFile } from './stored-files.ts'
import { openFolderFiles } from './folder-files.ts'
import { openBucket } from './open-bucket.ts'

type Options = {
  dir: string
  store: Database
  /** Null where the folder holds everything. */
  bucket: BucketOptions | null
  /** Limit of the folder as the bucket's cache. */
  cacheBytes: number
  /** A port: the files that rows name. `server/data` fills it. */
  namedFiles: () => Promise<StoredFile[]>
  observe: Observe
  now: () => number
}

/** Opens the folder of files, or the bucket with the folder as its cache. */
export async function openFiles(options: Options): Promise<{ files: Files; close(): void }> {
  const { dir, store, cacheBytes: maxBytes, observe, now } = options
  if (options.bucket === null) return { files: await openFolderFiles({ dir, now }), close: () => undefined }
  const bucket = await openBucket({ ...options.bucket, observe })
  const records = createFileRecords(store)
  if (store.filesPlace === 'folder') {
    await bucket.check()
    await moveIntoBucket({ ...options, bucket, records })
  }
  const files = await openCachedFiles({ dir, bucket, maxBytes, records, observe, now })
  return { files, close: () => bucket.close() }
}

/**
 * The files of an installation that was in one folder so far, all of them before one of them is read from the bucket.
 * Killed in the middle it begins again, and finds most of them there.
 */
async function moveIntoBucket({
  dir,
  store,
  bucket,
  records,
  namedFiles,
  observe,
  now,
}: Omit<Options, 'bucket'> & { bucket: Bucket; records: FileRecords }): Promise<void> {
  const { pathOf } = await openFileFolder({ dir, now })
  for (const file of await namedFiles()) {
    const found = await digest(pathOf(file)).catch(() => undefined)
    if (found?.hash !== file.hash) {
      // It was damaged before, and is no better in a bucket.
      const error = new Error(`${pathOf(file)} is damaged or gone, and was not moved into ${bucket.url}.`)
      observe({ kind: 'fault', where: 'data files', error })
      continue
    }
    await records.note(file)
    await bucket.put(pathOf(file), file, { sizeBytes: found.sizeBytes, isDamaged: false })
  }
  await settleInBucket(store, bucket.url)
}
