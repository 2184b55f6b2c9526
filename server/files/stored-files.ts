import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, mkdirSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { syncPath } from '../process/index.ts'

export type FileFormat = 'json' | 'parquet' | 'duckdb'
/** The hash of its content is its name; the format says how to read it. */
export type StoredFile = { hash: string; format: FileFormat }
export type StoredCopy = { hash: string; sizeBytes: number }

/** A file that stays where it is until it is let go of. */
export type FileLease = { path: string; release: () => void }

/** The last byte is one of it. */
export type FilePart = { from: number; to: number }

/**
 * Immutable files, named by the SHA-256 of their content. A folder that holds all of them, or a bucket with a folder
 * here that holds what was used last.
 */
export type Files = {
  /** A path on this machine for something unfinished. What a crash leaves there is swept. */
  temporaryPath: (extension: string) => string
  /** Makes a finished file durable under the name of its content, before any row names it. Takes it away from `path`. */
  keep(path: string, format: FileFormat): Promise<StoredCopy>
  /** Whether every file lies here, so that none need be chosen for a read. */
  holdsAll: boolean
  /** Brings a file here, where it stays until the lease is let go of. */
  lease(file: StoredFile, signal?: AbortSignal): Promise<FileLease>
  /** All of some files without a wait; undefined where one is not here yet. */
  leaseHere(files: readonly StoredFile[]): Pick<FileLease, 'release'> | undefined
  /** Where a lease finds it. */
  pathOf: (file: StoredFile) => string
  /** Its bytes, or those from and to a place; the file stays until they are read or the stream is destroyed. */
  read(file: StoredFile, part?: FilePart): Promise<Readable>
  /** Undefined where it is gone. */
  sizeOf(file: StoredFile): Promise<number | undefined>
  /** Whether its content is still what its name says. Read once, and again when the file has changed or is doubted. */
  isIntact(file: StoredFile): Promise<boolean>
  /** Something went wrong while it was read: what was known about it is no longer believed. */
  doubt(file: StoredFile): void
  /** After a read that failed: whether one of these was gone from here and can be brought again. */
  missed(files: readonly StoredFile[]): Promise<boolean>
  /** Whether what holds all files answered when it was last asked; undefined where that is the folder itself. */
  isReached?: () => boolean
  /** Removes what was never finished on this machine. Returns how many files went. */
  sweepUnfinished: () => Promise<number>
  /** Removes what has none of these hashes and may not yet be named, either. Returns how many files went. */
  sweep(named: ReadonlySet<string>): Promise<number>
}

/** A younger file may belong to a transaction that has not committed yet. */
export const orphanAgeMs = 60 * 60 * 1000
/** A load that is told to wait for hours goes on with what it has. */
const unfinishedAgeMs = 24 * 60 * 60 * 1000

const unfinished = 'unfinished'

/** Shared by all folders of files: the layout, and how a file gets into it. */
export async function openFileFolder({ dir, now }: { dir: string; now: () => number }) {
  await mkdir(join(dir, unfinished), { recursive: true, mode: 0o700 })
  const pathOf = ({ hash, format }: StoredFile): string => join(dir, hash.slice(0, 2), `${hash}.${format}`)
  return {
    pathOf,
    temporaryPath: (extension: string): string => {
      // Made each time: whoever wipes the folder under a running service makes it slower, not broken.
      mkdirSync(join(dir, unfinished), { recursive: true, mode: 0o700 })
      return join(dir, unfinished, `${randomUUID()}.${extension}`)
    },
    /** Under its name, whole or not at all, and still there after a power cut. */
    async settle(path: string, file: StoredFile): Promise<void> {
      const home = pathOf(file)
      await mkdir(dirname(home), { recursive: true, mode: 0o700 })
      await syncPath(path)
      await rename(path, home)
      await syncPath(dirname(home))
      await syncPath(dir)
    },
    remove: (file: StoredFile) => rm(pathOf(file), { force: true }),
    /** Every file that has a name, with what the folder tells of it. */
    async list(): Promise<Array<{ file: StoredFile; sizeBytes: number; changedMs: number }>> {
      const found = []
      for (const entry of await entriesOf(dir)) {
        const named = /^([0-9a-f]{64})\.(json|parquet|duckdb)$/.exec(entry.name)
        const look = named === null ? undefined : await stat(join(entry.parentPath, entry.name)).catch(() => undefined)
        if (named === null || look === undefined) continue
        const file = { hash: named[1] ?? '', format: named[2] as FileFormat }
        found.push({ file, sizeBytes: look.size, changedMs: look.mtimeMs })
      }
      return found
    },
    sweepUnfinished: async (): Promise<number> => {
      let swept = 0
      for (const entry of await entriesOf(join(dir, unfinished))) {
        const path = join(entry.parentPath, entry.name)
        const found = await stat(path).catch(() => undefined)
        if (found === undefined || now() - found.mtimeMs < unfinishedAgeMs) continue
        await rm(path, { force: true })
        swept += 1
      }
      return swept
    },
  }
}

export type FileFolder = Awaited<ReturnType<typeof openFileFolder>>

async function entriesOf(dir: string) {
  try {
    return (await readdir(dir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

export async function digest(path: string): Promise<StoredCopy> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash)
  return { hash: hash.digest('hex'), sizeBytes: (await stat(path)).size }
}

/** As streams of files are told where to begin and end. */
export function streamBounds(part: FilePart | undefined): { start?: number; end?: number } {
  return part === undefined ? {} : { start: part.from, end: part.to }
}
