import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openLookupFile, type LookupFile } from './executor/lookup-file.ts'

/** A file of the shelf. What is closed was dropped, or turned out to be damaged. */
export type ShelvedLookup = { name: string; file: LookupFile; usedMs: number }

type Entry = { sizeBytes: number; usedMs: number; shelved: ShelvedLookup | null }

/** What was used so lately is not dropped to make room: two that do not fit together would be written in turns. */
const inUseMs = 600_000
const unfinished = '.unfinished'

/** The files of lookups in one folder, up to a size. What is there is kept from one start to the next. */
export function openLookupShelf({ dir, maxBytes, now }: { dir: string; maxBytes: number; now: () => number }) {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const entries = createEntries()
  for (const name of readdirSync(dir)) {
    const path = join(dir, name)
    // Nobody writes it any more: its process has ended.
    if (name.endsWith(unfinished)) rmSync(path, { force: true })
    else {
      const { size, mtimeMs } = statSync(path)
      entries.add(name, { sizeBytes: size, usedMs: mtimeMs, shelved: null })
    }
  }

  function drop(name: string): void {
    entries.remove(name)?.shelved?.file.close()
    rmSync(join(dir, name), { force: true })
  }

  function isRoomFor(sizeBytes: number): boolean {
    const fits = (): boolean => entries.totalBytes() + sizeBytes <= maxBytes
    for (const name of fits() ? [] : entries.unusedSince(now() - inUseMs)) {
      if (fits()) break
      drop(name)
    }
    return fits()
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
    entry.shelved = { name, file, usedMs: now() }
    return entry.shelved
  }

  return {
    take,
    drop,
    projects: entries.projects,
    namesOf: entries.namesOf,
    /** A path for something unfinished. */
    temporaryPath: (): string => {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      return join(dir, `${randomUUID()}${unfinished}`)
    },
    /** Takes a finished file; undefined where there is no room for it. */
    put(name: string, path: string, sizeBytes: number): ShelvedLookup | undefined {
      drop(name)
      if (!isRoomFor(sizeBytes)) {
        rmSync(path, { force: true })
        return undefined
      }
      renameSync(path, join(dir, name))
      entries.add(name, { sizeBytes, usedMs: now(), shelved: null })
      return take(name)
    },
    close(): void {
      for (const { shelved } of entries.all()) shelved?.file.close()
    },
  }
}

/** What is on the shelf, by name and by the project that a name begins with: there may be ten thousand. */
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
    /** The one that was used longest ago first. */
    unusedSince: (sinceMs: number): string[] =>
      [...byName]
        .map(([name, { shelved, usedMs }]) => ({ name, usedMs: shelved?.usedMs ?? usedMs }))
        .filter(({ usedMs }) => usedMs < sinceMs)
        .toSorted((left, right) => left.usedMs - right.usedMs)
        .map(({ name }) => name),
  }
}

function projectOf(name: string): string {
  return name.split('.', 1)[0] ?? ''
}
