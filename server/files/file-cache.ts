import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Failure } from '../failure.ts'
import { bucketFailure } from './bucket-failure.ts'
import { digest, type FileFolder, type FileLease, type StoredFile } from './stored-files.ts'

type Entry = {
  file: StoredFile
  sizeBytes: number
  leases: number
  /** Grows with every use of any: the smallest was used longest ago. */
  usedAt: number
  /** One that was found here at the start, or is doubted, is read before it is believed. */
  isVerified: boolean
}

type Options = {
  folder: FileFolder
  maxBytes: number
  /** Brings the bytes of a file; undefined where there are none. */
  fetch: (file: StoredFile) => Promise<{ body: Readable; sizeBytes: number } | undefined>
  /** A file is gone from where it is kept, or is not what its name says. */
  damaged: (file: StoredFile) => void
  fetched?: (sizeBytes: number, elapsedMs: number) => void
}

/** How long a file waits for others to be let go of before there is no room for it. */
const roomWaitMs = 10_000

/** Copies of files on this machine: at most so many bytes, those used longest ago go first, and none that is leased. */
// Over 70 lines: every step moves files in and out of the same room.
export async function openFileCache({ folder, maxBytes, fetch, damaged, fetched }: Options) {
  const entries = new Map<string, Entry>()
  /** Downloads under way: a second caller waits for the first one's. */
  const coming = new Map<string, Promise<void>>()
  const waiting = new Set<() => void>()
  let heldBytes = 0
  let uses = 0

  const found = await folder.list()
  for (const { file, sizeBytes } of found.toSorted((left, right) => left.changedMs - right.changedMs)) {
    add(file, { sizeBytes, isVerified: false })
  }

  function add(file: StoredFile, { sizeBytes, isVerified }: Pick<Entry, 'sizeBytes' | 'isVerified'>): void {
    uses += 1
    const known = entries.get(nameOf(file))
    if (known !== undefined) {
      // Leases hold this very entry.
      Object.assign(known, { isVerified, usedAt: uses })
      return
    }
    heldBytes += sizeBytes
    entries.set(nameOf(file), { file, sizeBytes, isVerified, leases: 0, usedAt: uses })
  }

  function forget(file: StoredFile): void {
    const entry = entries.get(nameOf(file))
    if (entry === undefined) return
    entries.delete(nameOf(file))
    heldBytes -= entry.sizeBytes
  }

  function take(entry: Entry): () => void {
    uses += 1
    entry.usedAt = uses
    entry.leases += 1
    let isOut = true
    return () => {
      if (!isOut) return
      isOut = false
      entry.leases -= 1
      if (entry.leases > 0 || waiting.size === 0) return
      for (const wake of waiting) wake()
    }
  }

  /** Lets go of what was used longest ago until so many bytes fit; false where what is leased is in the way. */
  async function makeRoom(sizeBytes: number): Promise<boolean> {
    const idle = [...entries.values()].filter(({ leases }) => leases === 0)
    for (const { file } of idle.toSorted((left, right) => left.usedAt - right.usedAt)) {
      if (heldBytes + sizeBytes <= maxBytes) break
      // Someone took it while another was removed.
      if ((entries.get(nameOf(file))?.leases ?? 1) > 0) continue
      forget(file)
      await folder.remove(file)
    }
    return heldBytes + sizeBytes <= maxBytes
  }

  async function waitForRoom(sizeBytes: number): Promise<void> {
    const untilMs = performance.now() + roomWaitMs
    while (!(await makeRoom(sizeBytes))) {
      const leftMs = untilMs - performance.now()
      if (sizeBytes > maxBytes || leftMs <= 0) throw noRoom(sizeBytes, maxBytes)
      await nextRelease(leftMs)
    }
  }

  function nextRelease(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, limitMs)
      waiting.add(wake)
    })
  }

  /** Checked on the way in: what is not what its name says is never seen here. */
  async function bring(file: StoredFile): Promise<void> {
    const startedMs = performance.now()
    const source = await fetch(file)
    if (source === undefined) {
      damaged(file)
      throw gone(file)
    }
    const path = folder.temporaryPath('object')
    try {
      await waitForRoom(source.sizeBytes)
      // The place is taken while it comes.
      heldBytes += source.sizeBytes
      try {
        const { hash, sizeBytes } = await receive(source.body, path)
        if (hash !== file.hash || sizeBytes !== source.sizeBytes) {
          damaged(file)
          throw gone(file)
        }
        await folder.settle(path, file)
      } finally {
        heldBytes -= source.sizeBytes
      }
      add(file, { sizeBytes: source.sizeBytes, isVerified: true })
      fetched?.(source.sizeBytes, Math.round(performance.now() - startedMs))
    } finally {
      source.body.destroy()
      await rm(path, { force: true })
    }
  }

  /** A file that was found here is read once before it is trusted. */
  async function verify(entry: Entry): Promise<void> {
    const { hash } = await digest(folder.pathOf(entry.file)).catch(() => ({ hash: '' }))
    if (hash === entry.file.hash) {
      entry.isVerified = true
      return
    }
    forget(entry.file)
    await folder.remove(entry.file)
  }

  function once(file: StoredFile, work: () => Promise<void>): Promise<void> {
    const name = nameOf(file)
    const running = coming.get(name) ?? work().finally(() => coming.delete(name))
    coming.set(name, running)
    return running
  }

  return {
    async lease(file: StoredFile, signal?: AbortSignal): Promise<FileLease> {
      for (;;) {
        const entry = entries.get(nameOf(file))
        if (entry?.isVerified === true) return { path: folder.pathOf(file), release: take(entry) }
        await orAborted(
          once(file, () => (entry === undefined ? bring(file) : verify(entry))),
          signal,
        )
      }
    },

    leaseHere(files: readonly StoredFile[]): { release(): void } | undefined {
      const here: Entry[] = []
      for (const file of files) {
        const entry = entries.get(nameOf(file))
        if (entry?.isVerified !== true) return undefined
        here.push(entry)
      }
      const releases = here.map(take)
      return { release: () => releases.forEach((release) => release()) }
    },

    /** A finished file of this machine, where there is room for it. */
    async adopt(path: string, file: StoredFile, sizeBytes: number): Promise<void> {
      if (!(await makeRoom(sizeBytes))) return
      await folder.settle(path, file)
      add(file, { sizeBytes, isVerified: true })
    },

    has: (file: StoredFile): boolean => entries.has(nameOf(file)),

    doubt(file: StoredFile): void {
      const entry = entries.get(nameOf(file))
      if (entry !== undefined) entry.isVerified = false
    },

    /** Forgets those that someone has removed from the folder; whether there were any. */
    async forgetMissing(files: readonly StoredFile[]): Promise<boolean> {
      let isAny = false
      for (const file of files) {
        if (!entries.has(nameOf(file)) || (await isThere(folder.pathOf(file)))) continue
        forget(file)
        isAny = true
      }
      return isAny
    },

    heldBytes: () => heldBytes,
  }
}

export function nameOf({ hash, format }: StoredFile): string {
  return `${hash}.${format}`
}

async function receive(body: Readable, path: string): Promise<{ hash: string; sizeBytes: number }> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  const look = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      sizeBytes += chunk.length
      done(null, chunk)
    },
  })
  let isWriting = false
  const target = createWriteStream(path, { mode: 0o600 }).on('error', () => (isWriting = true))
  await pipeline(body, look, target).catch((error: unknown) => {
    throw isWriting ? error : bucketFailure(error, 'read from')
  })
  return { hash: hash.digest('hex'), sizeBytes }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** A caller that leaves does not end what others wait for. */
function orAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

function gone(file: StoredFile): Failure {
  const cause = new Error(`The object ${nameOf(file)} is corrupt or gone from the bucket.`)
  return new Failure('internal_error', { cause })
}

function noRoom(sizeBytes: number, maxBytes: number): Failure {
  const message =
    sizeBytes > maxBytes
      ? `A table of ${sizeBytes} bytes does not fit into the ${maxBytes} bytes that this service keeps of its data. Whoever runs it has to raise SLUICE_OBJECT_CACHE_BYTES.`
      : 'What is read at this moment leaves no room for more data on this machine. Try again.'
  return new Failure('overloaded', { message, retryAfterSeconds: 2 })
}
