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
  const entries = new Map<string, Entry>()
  /** By the project that a name begins with. */
  const namesByProject = new Map<string, Set<string>>()
  let totalBytes = 0
  for (const name of readdirSync(dir)) {
    const path = join(dir, name)
    // Nobody writes it any more: its process has ended.
    if (name.endsWith(unfinished)) rmSync(path, { force: true })
    else {
      const { size, mtimeMs } = statSync(path)
      add(name, { sizeBytes: size, usedMs: mtimeMs, shelved: null })
    }
  }

  function add(name: string, entry: Entry): void {
    entries.set(name, entry)
    totalBytes += entry.sizeBytes
    const names = namesByProject.get(projectOf(name))
    if (names === undefined) namesByProject.set(projectOf(name), new Set([name]))
    else names.add(name)
  }

  function drop(name: string): void {
    const entry = entries.get(name)
    entry?.shelved?.file.close()
    totalBytes -= entry?.sizeBytes ?? 0
    entries.delete(name)
    const names = namesByProject.get(projectOf(name))
    names?.delete(name)
    if (names?.size === 0) namesByProject.delete(projectOf(name))
    rmSync(join(dir, name), { force: true })
  }

  function isRoomFor(sizeBytes: number): boolean {
    if (totalBytes + sizeBytes <= maxBytes) return true
    const idle = [...entries].filter(([, { shelved, usedMs }]) => (shelved?.usedMs ?? usedMs) < now() - inUseMs)
    idle.sort(([, left], [, right]) => (left.shelved?.usedMs ?? left.usedMs) - (right.shelved?.usedMs ?? right.usedMs))
    for (const [name] of idle) {
      if (totalBytes + sizeBytes <= maxBytes) break
      drop(name)
    }
    return totalBytes + sizeBytes <= maxBytes
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
    projects: (): string[] => [...namesByProject.keys()],
    namesOf: (projectId: string): string[] => [...(namesByProject.get(projectId) ?? [])],
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
      add(name, { sizeBytes, usedMs: now(), shelved: null })
      return take(name)
    },
    close(): void {
      for (const { shelved } of entries.values()) shelved?.file.close()
    },
  }
}

function projectOf(name: string): string {
  return name.split('.', 1)[0] ?? ''
}
