import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openLookupFile, type LookupFile } from '../engine/executor/lookup/lookup-file.ts'

/** A file of the shelf. What is closed was dropped, or turned out to be damaged. */
export type ShelvedLookup = { name: string; file: LookupFile; usedMs: number; isCalled: boolean }

/** Why a file is wanted: somebody has called, or somebody may. */
export type Want = 'called' | 'expected'

/** `isCalled`: whether a call was ever answered from it, which is taken for granted of what an earlier process left. */
type Entry = { sizeBytes: number; usedMs: number; isCalled: boolean; shelved: ShelvedLookup | null }

/**
 * Files used so lately are not dropped to make room: two that do not fit together would be written in turns. A file
 * that was written for calls that never came makes room for a call at once.
 */
const inUseMs = 600_000
const unfinished = '.unfinished'

/** The files of lookups in one folder, up to a size. What is there is kept from one start to the next. */
export function openLookupShelf({ dir, maxBytes, now }: { dir: string; maxBytes: number; now: () => number }) {
  const entries = createEntries()
  for (const { name, ...file } of filesIn(dir)) entries.add(name, { ...file, isCalled: true, shelved: null })

  function drop(name: string): void {
    entries.remove(name)?.shelved?.file.close()
    rmSync(join(dir, name), { force: true })
  }

  const free = (): number => Math.max(0, maxBytes - entries.totalBytes())
  const droppable = (want: Want) => entries.droppable(now() - inUseMs, want)
  const room = (want: Want): number => droppable(want).reduce((sum, { sizeBytes }) => sum + sizeBytes, free())

  /** Files used longest ago go first, and none where all of them would not be enough. */
  function makeRoom(sizeBytes: number, want: Want): boolean {
    if (sizeBytes <= free()) return true
    if (sizeBytes > room(want)) return false
    for (const { name } of droppable(want).toSorted((left, right) => left.usedMs - right.usedMs)) {
      if (sizeBytes <= free()) break
      drop(name)
    }
    return true
  }

  /** Opens a file that is there; one that turns out not to be whole goes. */
  function take(name: string): ShelvedLookup | undefined {
    const entry = entries.get(name)
    if (entry === undefined) return undefined
    if (entry.shelved?.file.isOpen() === true) return entry.shelved
    const file = openLookupFile(join(dir, name))
    if (file === undefined) {
      drop(name)
      return undefined
    }
    entry.shelved = { name, file, usedMs: now(), isCalled: entry.isCalled }
    return entry.shelved
  }

  return {
    take,
    drop,
    /** How large a file can be that is wanted now. */
    room,
    projects: entries.projects,
    namesOf: entries.namesOf,
    /** A path for something unfinished. */
    temporaryPath: (): string => {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      return join(dir, `${randomUUID()}${unfinished}`)
    },
    /** Takes a finished file; undefined where there is no room for it. */
    put(name: string, path: string, { sizeBytes, want }: { sizeBytes: number; want: Want }): ShelvedLookup | undefined {
      drop(name)
      if (!makeRoom(sizeBytes, want)) {
        rmSync(path, { force: true })
        return undefined
      }
      renameSync(path, join(dir, name))
      entries.add(name, { sizeBytes, usedMs: now(), isCalled: want === 'called', shelved: null })
      return take(name)
    },
    close(): void {
      for (const { shelved } of entries.all()) shelved?.file.close()
    },
  }
}

/** Files that an earlier process has left; those that it did not finish go. */
function filesIn(dir: string): { name: string; sizeBytes: number; usedMs: number }[] {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  return readdirSync(dir).flatMap((name) => {
    const path = join(dir, name)
    if (name.endsWith(unfinished)) {
      rmSync(path, { force: true })
      return []
    }
    const { size, mtimeMs } = statSync(path)
    return [{ name, sizeBytes: size, usedMs: mtimeMs }]
  })
}

/** Files on the shelf, by name and by the project that a name begins with: there may be ten thousand. */
function createEntries() {
  const byName = new Map<string, Entry>()
  const namesByProject = new Map<string, Set<string>>()
  let totalBytes = 0
  return {
    add(name: string, entry: Entry): void {
      byName.set(name, entry)
      totalBytes += entry.sizeBytes
      const names = namesByProject.get(projectOf(name))
      if (names === undefined) namesByProject.set(projectOf(name), new Set([name]))
      else names.add(name)
    },
    remove(name: string): Entry | undefined {
      const entry = byName.get(name)
      if (entry === undefined) return undefined
      byName.delete(name)
      totalBytes -= entry.sizeBytes
      const names = namesByProject.get(projectOf(name))
      names?.delete(name)
      if (names?.size === 0) namesByProject.delete(projectOf(name))
      return entry
    },
    get: (name: string) => byName.get(name),
    all: () => byName.values(),
    totalBytes: () => totalBytes,
    projects: (): string[] => [...namesByProject.keys()],
    namesOf: (projectId: string): string[] => [...(namesByProject.get(projectId) ?? [])],
    /** Files that may go for one that is wanted. */
    droppable: (sinceMs: number, want: Want) =>
      [...byName]
        .map(([name, entry]) => ({ ...(entry.shelved ?? entry), name, sizeBytes: entry.sizeBytes }))
        .filter(({ usedMs, isCalled }) => usedMs < sinceMs || (want === 'called' && !isCalled)),
  }
}

function projectOf(name: string): string {
  return name.split('.', 1)[0] ?? ''
}
