import { open, type FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import type { Observe } from '../observe.ts'
import { bucketFailure, statusOf, wordsOf } from './bucket-failure.ts'
import type { StoredFile } from './stored-files.ts'

export type BucketOptions = {
  /** `s3://bucket/prefix`. */
  url: string
  endpoint?: string | undefined
  region?: string | undefined
  pathStyle: boolean
  encryption?: 'AES256' | 'aws:kms' | undefined
  kmsKey?: string | undefined
  /** Longest wait for an answer, or for the next bytes of one. */
  timeoutMs: number
  observe?: Observe
}

/** Immutable objects by the hash of their content: each is written once, whole or not at all. */
export type Bucket = {
  url: string
  /** From a file of this machine. One that is there already stays, unless it is known to be damaged. */
  put(path: string, file: StoredFile, options: { sizeBytes: number; isDamaged: boolean }): Promise<void>
  /** Undefined where there is none. */
  get(file: StoredFile): Promise<{ body: Readable; sizeBytes: number } | undefined>
  /** An object that others put beside ours, by its address; undefined where there is none. */
  getAt(address: string): Promise<{ body: Readable; sizeBytes: number } | undefined>
  sizeOf(file: StoredFile): Promise<number | undefined>
  remove(file: StoredFile): Promise<void>
  /** Where an object lies, for others that read the same bucket. */
  addressOf(file: StoredFile): string
  /** Everything whose address begins so; what others put beside our objects. */
  removeUnder(address: string): Promise<void>
  /** Names of the folders in a folder; what others put beside our objects. */
  foldersIn(address: string): Promise<string[]>
  /** Parts of uploads that were never finished, of processes that were killed. */
  endStaleUploads(before: Date): Promise<number>
  /** Whether it answered when it was last asked. */
  isReached(): boolean
  /** Throws, in words for whoever runs the service, when the bucket cannot be used. */
  check(): Promise<void>
  close(): void
}

const partBytes = 8_388_608
/** S3 takes no more of one object. */
const maxParts = 10_000
const partsAtOnce = 3
const maxAttempts = 4
/** Two that write the same object at the same moment: one of them is told to look again. */
const conflictPauseMs = 200
const maxConflicts = 5

// Over 70 lines: one method for each thing a bucket does, over the same client.
export function createBucket(options: BucketOptions): Bucket {
  const { hostname: name, pathname } = new URL(options.url)
  const prefix = pathname.replaceAll(/^\/+|\/+$/g, '')
  const keyOf = ({ hash, format }: StoredFile): string =>
    [...(prefix === '' ? [] : [prefix]), hash.slice(0, 2), `${hash}.${format}`].join('/')
  const client = new S3Client(clientConfig(options))
  let isReached = true
  const reported: typeof orAway = async (work, deed) => {
    try {
      const result = await orAway(work, deed)
      if (!isReached) options.observe?.({ kind: 'objects-recovered' })
      isReached = true
      return result
    } catch (error) {
      if (isReached) options.observe?.({ kind: 'objects-lost', error })
      isReached = false
      throw error
    }
  }
  const encryption = {
    ...(options.encryption !== undefined && { ServerSideEncryption: options.encryption }),
    ...(options.kmsKey !== undefined && { SSEKMSKeyId: options.kmsKey }),
  }
  /** Nobody may overwrite what others read; where it turned out to be damaged, it is written anew. */
  const once = (isDamaged: boolean) => (isDamaged ? {} : { IfNoneMatch: '*' })

  async function putWhole(handle: FileHandle, key: string, { sizeBytes, isDamaged }: Put): Promise<void> {
    const Body = await readPart(handle, 0, sizeBytes)
    await client.send(new PutObjectCommand({ Bucket: name, Key: key, Body, ...encryption, ...once(isDamaged) }))
  }

  async function putParts(handle: FileHandle, key: string, { sizeBytes, isDamaged }: Put): Promise<void> {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: name, Key: key, ...encryption }))
    const upload = { Bucket: name, Key: key, UploadId }
    try {
      const Parts = await uploadParts(handle, sizeBytes, async (PartNumber, Body) => {
        const { ETag } = await client.send(new UploadPartCommand({ ...upload, PartNumber, Body }))
        return { PartNumber, ETag }
      })
      await client.send(
        new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts }, ...once(isDamaged) }),
      )
    } catch (error) {
      // An upload that stays behind where this fails too is ended by the sweep.
      await client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined)
      throw error
    }
  }

  /** The key of an address below our own: one mistake here would be everybody's data. */
  const keyUnder = (address: string): string => {
    const { hostname, pathname } = new URL(address)
    const key = decodeURIComponent(pathname.slice(1))
    if (hostname !== name || !key.startsWith(prefix === '' ? '' : `${prefix}/`) || key.length <= prefix.length + 1) {
      throw new Error(`${address} is not below ${options.url}`)
    }
    return key
  }
  const folderUnder = (address: string): string => {
    const key = keyUnder(address)
    if (!key.endsWith('/')) throw new Error(`${address} is no folder`)
    return key
  }

  const read = (Key: string) =>
    reported(async () => {
      const { Body, ContentLength } = await client.send(new GetObjectCommand({ Bucket: name, Key }))
      return { body: Body as Readable, sizeBytes: ContentLength ?? 0 }
    }, 'read from')

  return {
    url: options.url,
    async put(path, file, { sizeBytes, isDamaged }) {
      const handle = await open(path, 'r')
      try {
        const put = sizeBytes > partBytes ? putParts : putWhole
        await reported(() => unlessThere(() => put(handle, keyOf(file), { sizeBytes, isDamaged })), 'write to')
      } finally {
        await handle.close()
      }
    },
    get: (file) => read(keyOf(file)),
    getAt: async (address) => read(keyUnder(address)),
    sizeOf: (file) =>
      reported(async () => {
        const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket: name, Key: keyOf(file) }))
        return ContentLength ?? 0
      }, 'read from'),
    async remove(file) {
      await reported(() => client.send(new DeleteObjectCommand({ Bucket: name, Key: keyOf(file) })), 'write to')
    },
    addressOf: (file) => `s3://${name}/${keyOf(file)}`,
    async removeUnder(address) {
      const Prefix = folderUnder(address)
      for (;;) {
        const found = await reported(() => client.send(new ListObjectsV2Command({ Bucket: name, Prefix })), 'read from')
        const keys = (found?.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]))
        if (keys.length === 0) return
        for (const Key of keys) {
          await reported(() => client.send(new DeleteObjectCommand({ Bucket: name, Key })), 'write to')
        }
      }
    },
    async foldersIn(address) {
      const Prefix = folderUnder(address)
      const names: string[] = []
      let after: string | undefined
      do {
        const list = new ListObjectsV2Command({ Bucket: name, Prefix, Delimiter: '/', ContinuationToken: after })
        const found = await reported(() => client.send(list), 'read from')
        names.push(...(found?.CommonPrefixes ?? []).map((each) => (each.Prefix ?? '').slice(Prefix.length, -1)))
        after = found?.NextContinuationToken
      } while (after !== undefined)
      return names
    },
    async endStaleUploads(before) {
      const found = await reported(
        () => client.send(new ListMultipartUploadsCommand({ Bucket: name, Prefix: prefix })),
        'read from',
      )
      const stale = (found?.Uploads ?? []).filter(({ Initiated }) => Initiated !== undefined && Initiated < before)
      for (const { Key, UploadId } of stale) {
        await reported(() => client.send(new AbortMultipartUploadCommand({ Bucket: name, Key, UploadId })), 'write to')
      }
      return stale.length
    },
    isReached: () => isReached,
    async check() {
      try {
        await client.send(new HeadBucketCommand({ Bucket: name }))
      } catch (error) {
        throw new Error(`The bucket of SLUICE_OBJECTS_URL (${options.url}) cannot be used: ${wordsOf(error)}.`, {
          cause: error,
        })
      }
    },
    close: () => client.destroy(),
  }
}

type Put = { sizeBytes: number; isDamaged: boolean }

function clientConfig({ endpoint, region, pathStyle, timeoutMs }: BucketOptions): S3ClientConfig {
  return {
    ...(endpoint !== undefined && { endpoint }),
    // Servers of one's own have regions by name only; without an endpoint the SDK looks for one where it always does.
    ...(region !== undefined ? { region } : endpoint !== undefined && { region: 'us-east-1' }),
    forcePathStyle: pathStyle,
    maxAttempts,
    // Each object is checked against its own name; other servers than Amazon's know few checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: Math.min(timeoutMs, 3_000),
      requestTimeout: timeoutMs,
      throwOnRequestTimeout: true,
    },
  }
}

async function readPart(handle: FileHandle, start: number, sizeBytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(sizeBytes)
  let filled = 0
  while (filled < sizeBytes) {
    const { bytesRead } = await handle.read(buffer, filled, sizeBytes - filled, start + filled)
    if (bytesRead === 0) throw new Error('A file became shorter while it was written to the bucket.')
    filled += bytesRead
  }
  return buffer
}

/** A few at a time; each is held whole, so that it can be sent again. */
async function uploadParts<Part>(
  handle: FileHandle,
  sizeBytes: number,
  upload: (number: number, body: Buffer) => Promise<Part>,
): Promise<Part[]> {
  const size = Math.max(partBytes, Math.ceil(sizeBytes / maxParts))
  const count = Math.ceil(sizeBytes / size)
  const parts: Part[] = []
  let next = 0
  const take = async (): Promise<void> => {
    while (next < count) {
      const index = next
      next += 1
      const start = index * size
      parts[index] = await upload(index + 1, await readPart(handle, start, Math.min(size, sizeBytes - start)))
    }
  }
  await Promise.all(Array.from({ length: Math.min(partsAtOnce, count) }, take))
  return parts
}

/** An object of that name has that content: whoever was first wrote it for both. */
async function unlessThere(put: () => Promise<void>): Promise<void> {
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await put()
    } catch (error) {
      const status = statusOf(error)
      if (status === 412) return
      if (status !== 409 || conflicts === maxConflicts) throw error
      await wait(conflictPauseMs)
    }
  }
}

/** Undefined for what is not there; what else goes wrong is told to the caller as a reason to come again. */
async function orAway<Result>(
  work: () => Promise<Result>,
  deed: 'read from' | 'write to',
): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    if (statusOf(error) === 404 && error instanceof Error && error.name !== 'NoSuchBucket') return undefined
    throw bucketFailure(error, deed)
  }
}
