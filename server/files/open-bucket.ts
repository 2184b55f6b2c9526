import type { Bucket, BucketOptions } from './bucket.ts'

/** The library of S3 is loaded where there is a bucket: without one a start does not wait for it. */
export async function openBucket(options: BucketOptions): Promise<Bucket> {
  const { createBucket } = await import('./bucket.ts')
  return createBucket(options)
}
