import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBucket, type Bucket } from '../../server/files/bucket.ts'
import { openFileCache } from '../../server/files/file-cache.ts'
import { openFileFolder, type StoredFile } from '../../server/files/stored-files.ts'
import { openObjectServer, type ObjectServer } from '../harness/object-server.ts'

let server: ObjectServer
let bucket: Bucket
let dir: string
const options = () => ({
  url: String(server.environment['SLUICE_OBJECTS_URL']),
  endpoint: server.endpoint,
  pathStyle: true,
  timeoutMs: 2_000,
})
beforeAll(async () => {
  server = await openObjectServer()
  bucket = createBucket(options())
  dir = await mkdtemp(join(tmpdir(), 'sluice-bucket-'))
})
afterAll(async () => {
  bucket.close()
  await server.close()
  await rm(dir, { recursive: true, force: true })
})

async function made(bytes: Buffer): Promise<{ path: string; file: StoredFile; sizeBytes: number }> {
  const hash = createHash('sha256').update(bytes).digest('hex')
  const path = join(dir, hash)
  await writeFile(path, bytes)
  return { path, file: { hash, format: 'parquet' }, sizeBytes: bytes.length }
}

async function put(of: Bucket, { path, file, sizeBytes }: Awaited<ReturnType<typeof made>>): Promise<void> {
  await of.put(path, file, { sizeBytes, isDamaged: false })
}

const keyOf = ({ hash, format }: StoredFile): string => `objects/${hash.slice(0, 2)}/${hash}.${format}`

test.each([
  ['nothing', 0],
  ['one part', 100_000],
  ['several parts', 20 * 1_048_576 + 3],
])('an object of %s comes back as it went', async (_, size) => {
  const bytes = randomBytes(size)
  const one = await made(bytes)
  await put(bucket, one)
  const got = await bucket.get(one.file)
  expect(got?.sizeBytes).toBe(size)
  expect(got && (await buffer(got.body)).equals(bytes)).toBe(true)
  expect(await bucket.sizeOf(one.file)).toBe(size)
  await bucket.remove(one.file)
  expect(await bucket.get(one.file)).toBeUndefined()
  expect(await bucket.sizeOf(one.file)).toBeUndefined()
})

test.each([1_000, 12 * 1_048_576])('of %i bytes that many write at once there is one object, whole', async (size) => {
  const one = await made(randomBytes(size))
  const others = [bucket, createBucket(options()), createBucket(options())]
  await Promise.all(Array.from({ length: 9 }, (_, at) => put(others[at % 3] ?? bucket, one)))
  const got = await bucket.get(one.file)
  const hash = createHash('sha256').update(got ? await buffer(got.body) : '')
  expect(hash.digest('hex')).toBe(one.file.hash)
})

test('what is there is not overwritten, unless it is known to be damaged', async () => {
  const one = await made(randomBytes(1_000))
  await put(bucket, one)
  await truncate(server.pathOf(keyOf(one.file)), 10)
  await put(bucket, one)
  expect(await bucket.sizeOf(one.file)).toBe(10)
  await bucket.put(one.path, one.file, { sizeBytes: one.sizeBytes, isDamaged: true })
  expect(await bucket.sizeOf(one.file)).toBe(1_000)
})

test('a write that the server does not live through leaves nothing, and works when it is back', async () => {
  const one = await made(randomBytes(40 * 1_048_576))
  const writing = put(bucket, one)
  await server.kill()
  await expect(writing).rejects.toMatchObject({
    code: 'overloaded',
    message: 'The object storage cannot be written now, so nothing was stored. Try again.',
  })
  await server.start()
  expect(await server.keys()).not.toContain(keyOf(one.file))
  await put(bucket, one)
  expect(await bucket.sizeOf(one.file)).toBe(one.sizeBytes)
  // What the killed upload left is ended once nobody can be at it any more.
  await bucket.endStaleUploads(new Date(Date.now() + 60_000))
  expect(await bucket.endStaleUploads(new Date(Date.now() + 60_000))).toBe(0)
})

/** What is sent, to an address that answers as a test says: the real server keeps no secret of it, and fails by no plan. */
test('a write asks for encryption, never overwrites, and is tried again where the server is busy', async () => {
  const heard: IncomingHttpHeaders[] = []
  const busy = createServer((request, response) => {
    heard.push(request.headers)
    request.resume().on('end', () => response.writeHead(heard.length === 1 ? 503 : 200).end())
  })
  busy.listen(0, '127.0.0.1')
  await once(busy, 'listening')
  const endpoint = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`
  const sealed = createBucket({ ...options(), endpoint, encryption: 'aws:kms', kmsKey: 'key-of-ours' })
  await put(sealed, await made(randomBytes(100)))
  expect(heard).toHaveLength(2)
  expect(heard[1]).toMatchObject({
    'if-none-match': '*',
    'x-amz-server-side-encryption': 'aws:kms',
    'x-amz-server-side-encryption-aws-kms-key-id': 'key-of-ours',
  })
  sealed.close()
  busy.close()
})

test('a bucket that is not there is told at once, in words', async () => {
  const other = createBucket({ ...options(), url: 's3://nobody-made-this/x' })
  await expect(other.check()).rejects.toThrow('s3://nobody-made-this/x) cannot be used')
  other.close()
})

async function openCache(maxBytes: number) {
  const folder = await openFileFolder({ dir: await mkdtemp(join(dir, 'cache-')), now: Date.now })
  let fetched = 0
  const damaged: string[] = []
  const cache = await openFileCache({
    folder,
    maxBytes,
    fetch: (file) => {
      fetched += 1
      return bucket.get(file)
    },
    damaged: ({ hash }) => void damaged.push(hash),
  })
  return { cache, folder, damaged, fetched: () => fetched }
}

async function stored(size: number): Promise<StoredFile> {
  const one = await made(randomBytes(size))
  await put(bucket, one)
  return one.file
}

test('the cache brings each object once, keeps what was used last, and never lets go of what is leased', async () => {
  const [first, second, third] = [await stored(400), await stored(400), await stored(400)]
  const { cache, fetched } = await openCache(1_000)
  const leases = await Promise.all(Array.from({ length: 8 }, () => cache.lease(first)))
  expect(fetched()).toBe(1)
  ;(await cache.lease(second)).release()
  expect(cache.heldBytes()).toBe(800)
  ;(await cache.lease(third)).release()
  // The second had to go: the first was used longer ago, and is leased.
  expect([first, second, third].map((file) => cache.has(file))).toEqual([true, false, true])
  const held = await cache.lease(third)
  const waiting = cache.lease(second)
  for (const lease of leases) lease.release()
  ;(await waiting).release()
  expect([first, second, third].map((file) => cache.has(file))).toEqual([false, true, true])
  expect(cache.heldBytes()).toBeLessThanOrEqual(1_000)
  held.release()
  await expect(cache.lease(await stored(1_001))).rejects.toMatchObject({
    message: expect.stringContaining('SLUICE_OBJECT_CACHE_BYTES') as string,
  })
})

test('an object that is not what its name says never gets into the cache', async () => {
  const file = await stored(500)
  await writeFile(server.pathOf(keyOf(file)), randomBytes(500))
  const { cache, damaged, folder } = await openCache(10_000)
  await expect(cache.lease(file)).rejects.toMatchObject({ code: 'internal_error' })
  expect(damaged).toEqual([file.hash])
  expect(await folder.list()).toEqual([])
  expect(cache.heldBytes()).toBe(0)
})

test('what an earlier process left in the cache is believed only once it was read', async () => {
  const [good, bad] = [await stored(300), await stored(300)]
  const { folder, cache } = await openCache(10_000)
  for (const file of [good, bad]) (await cache.lease(file)).release()
  await writeFile(folder.pathOf(bad), 'cut short')
  let fetched = 0
  const fetch = (file: StoredFile) => {
    fetched += 1
    return bucket.get(file)
  }
  const next = await openFileCache({ folder, maxBytes: 10_000, fetch, damaged: () => undefined })
  expect(next.leaseHere([good])).toBeUndefined()
  for (const file of [good, bad]) (await next.lease(file)).release()
  expect(fetched).toBe(1)
  expect(next.leaseHere([good, bad])).toBeDefined()
})
