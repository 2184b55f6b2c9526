import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { Failure } from '../failure.ts'
import type { Observe } from '../observe.ts'
import {
  nameOfRows,
  type Catalog,
  type CatalogTable,
  type Engine,
  type LookupWritten,
  type SlotType,
  type SlotValue,
  createLocalReads,
} from '../engine/index.ts'
import { lookupFormat } from '../engine/executor/lookup/lookup-layout.ts'
import { type Files, leasing } from '../files/index.ts'
import { answerFrom, lookupSlotsOf, type LookedUp, type LookupSlots } from './lookup-answer.ts'
import { openLookupShelf, type ShelvedLookup, type Want } from './lookup-shelf.ts'

/** A statement that may turn out to be a lookup. One object for one statement: what is known of it hangs on it. */
export type LookupStatement = {
  sql: string
  table: string
  slots: ReadonlyArray<{ name: string; type: SlotType }>
  /** Slots that calls must give: a file for these is written before anybody calls. */
  required: ReadonlySet<string>
}

/** A statement over the tables of a project as they are now. */
export type LiveLookup = { projectId: string; catalog: Catalog; statement: LookupStatement }

/**
 * Answers that lie written in files: all those of a statement by one or several columns of its table, for a version of
 * it that never changes. The engine writes them once, in the background; a call is a search in a file then. What is not
 * there, or not known to be the same, is left to the engine.
 */
export type Lookups = {
  /** The answer to a call; undefined where the engine is to be asked. What is not written yet is, from then on. */
  find(lookup: LiveLookup, slots: readonly SlotValue[]): LookedUp | undefined
  /** Statements that are live in a project now: files for others go, and missing ones are written, or left to calls. */
  renew(projectId: string, catalog: Catalog, live: readonly LookupStatement[], missing: MissingLookups): void
  /** The projects that have files. */
  projects(): string[]
  close(): Promise<void>
}

export type MissingLookups = 'write' | 'leave'

export type LookupOptions = {
  dir: string
  maxBytes: number
  engine: Engine
  files: Files
  observe: Observe
  now: () => number
}

/** A file that would be for some slots being given; `at`: where their values are. */
type LookupEntry = LiveLookup & {
  name: string
  given: string
  shelved: ShelvedLookup | null
  at: LookupSlots | null
  want: Want
  isAsked: boolean
  /** Calls that found nothing here. */
  missed: number
  /** Until when it is not tried again. */
  restsUntilMs: number
}

const maxWaiting = 1_000
/** Ways to leave slots out that have a file. */
const maxGiven = 4
/** A name tells which slots are given, and has a length. */
const maxSlots = 32
const writeTimeoutMs = 600_000
/** After a failure that may pass: a full disk, an executor that was lost, no room. */
const restMs = 600_000

/** Nothing is written, and nothing found. */
const noLookups: Lookups = {
  find: () => undefined,
  renew: () => undefined,
  projects: () => [],
  close: () => Promise.resolve(),
}

// Over 70 lines: what is known of statements and files is shared by all of it.
export function openLookups(options: LookupOptions): Lookups {
  const { maxBytes, observe, now } = options
  if (maxBytes === 0) return noLookups
  const shelf = openLookupShelf(options)
  const write = createWriter(options)
  const places = new WeakMap<Catalog, WeakMap<LookupStatement, Map<string, LookupEntry>>>()
  /** Which slots may be given for a file to be of use; whether it was asked since it was written. */
  const fit = new WeakMap<LookupStatement, Map<string, 'used' | 'unused'>>()
  const unfit = new WeakMap<LookupStatement, Set<string>>()
  /** Files that are live in each project, by the beginning of their names. */
  const live = new Map<string, ReadonlySet<string>>()
  const waiting = new Set<LookupEntry>()
  const stop = new AbortController()
  let working: Promise<void> | null = null

  function placeFor({ projectId, catalog, statement }: LiveLookup, given: string): LookupEntry | undefined {
    const known = inside(
      inside(places, catalog, () => new WeakMap()),
      statement,
      () => new Map<string, LookupEntry>(),
    )
    const found = known.get(given)
    if (found !== undefined) return found
    const table = catalog.tables.find(({ name }) => name === statement.table)
    const isUnfit = unfit.get(statement)?.has(given) === true
    if (table === undefined || known.size >= maxGiven || isUnfit || !given.includes('1')) return undefined
    const name = `${prefixOf(projectId, statement, table)}.${given}.lookup`
    const place = {
      projectId,
      catalog,
      statement,
      given,
      name,
      shelved: null,
      at: null,
      want: 'expected' as const,
      isAsked: false,
      missed: 0,
      restsUntilMs: 0,
    }
    known.set(given, place)
    return place
  }

  function ask(place: LookupEntry, want: Want): void {
    if (want === 'called') place.missed += 1
    // There may be room for a call where there was none for what might be called.
    if (want === 'called' && place.want === 'expected') {
      place.want = want
      if (Number.isFinite(place.restsUntilMs)) place.restsUntilMs = 0
    }
    if (place.isAsked || now() < place.restsUntilMs || waiting.size >= maxWaiting || stop.signal.aborted) return
    place.isAsked = true
    waiting.add(place)
    working ??= work().finally(() => (working = null))
  }

  async function work(): Promise<void> {
    // The caller who asked has its answer first.
    await new Promise((resolve) => setImmediate(resolve))
    for (let place = mostMissed(waiting); place !== undefined; place = mostMissed(waiting)) {
      if (stop.signal.aborted) return
      waiting.delete(place)
      try {
        await provide(place)
      } catch (error) {
        place.restsUntilMs = now() + restMs
        if (!stop.signal.aborted) observe({ kind: 'lookup-failed', projectId: place.projectId, error })
      } finally {
        place.isAsked = false
      }
    }
  }

  async function provide(place: LookupEntry): Promise<void> {
    const { projectId, statement, given, name, want } = place
    if (open(place, shelf.take(name))) return
    // Somebody may have called while it was written for nobody yet: that call is to be tried for.
    const rest = (): void => void (place.restsUntilMs = place.want === want ? now() + restMs : 0)
    const room = shelf.room(want)
    if (room === 0) return rest()
    const path = shelf.temporaryPath()
    // Half of the shelf at most: the file of a version that is going is there until its successor is.
    const half = Math.floor(maxBytes / 2)
    const written = await write(place, { path, maxBytes: Math.min(half, room) }, stop.signal)
    if (written.outcome === 'unfit') {
      inside(unfit, statement, () => new Set<string>()).add(given)
      place.restsUntilMs = Number.POSITIVE_INFINITY
      return
    }
    // Taken back, or loaded anew, while it was written.
    if (written.outcome === 'written' && live.get(projectId)?.has(beginningOf(name)) === false) {
      place.restsUntilMs = now() + restMs
      await rm(path, { force: true })
      return
    }
    if (written.outcome === 'large') {
      if (room < half) return rest()
      place.restsUntilMs = Number.POSITIVE_INFINITY
      return
    }
    if (!open(place, shelf.put(name, path, { sizeBytes: written.sizeBytes, want }))) return rest()
    const { keyCount, sizeBytes, elapsedMs } = written
    observe({ kind: 'lookup-written', projectId, keys: keyCount, sizeBytes, elapsedMs })
  }

  function open(place: LookupEntry, shelved: ShelvedLookup | undefined): boolean {
    const at = shelved === undefined ? undefined : lookupSlotsOf(shelved.file, place.statement.slots)
    if (shelved === undefined || at === undefined) return false
    place.shelved = shelved
    place.at = at
    place.missed = 0
    inside(fit, place.statement, () => new Map<string, 'used' | 'unused'>()).set(place.given, 'unused')
    return true
  }

  return {
    find(lookup, slots) {
      const place = placeFor(lookup, givenIn(slots))
      if (place === undefined) return undefined
      const { shelved, at } = place
      if (shelved === null || at === null) {
        ask(place, 'called')
        return undefined
      }
      const answer = answerFrom(shelved.file, at, slots)
      if (answer === 'ask') return undefined
      if (answer === undefined) {
        // Damaged: it is written again. Dropped: whoever did that knew why, and it is asked for like any other.
        shelf.drop(place.name)
        place.shelved = null
        ask(place, 'called')
        return undefined
      }
      shelved.usedMs = now()
      shelved.isCalled = true
      fit.get(lookup.statement)?.set(place.given, 'used')
      return answer
    },
    renew(projectId, catalog, statements, missing) {
      const wanted = new Map<string, LookupStatement>()
      for (const statement of statements) {
        const table = catalog.tables.find(({ name }) => name === statement.table)
        if (table !== undefined) wanted.set(prefixOf(projectId, statement, table), statement)
      }
      live.set(projectId, new Set(wanted.keys()))
      for (const name of shelf.namesOf(projectId)) if (!wanted.has(beginningOf(name))) shelf.drop(name)
      const left = shelf.namesOf(projectId)
      for (const [prefix, statement] of wanted) {
        const there = left.filter((name) => name.startsWith(`${prefix}.`))
        const due = missing === 'write' ? givenFor(statement, there, fit.get(statement)) : there.map(givenOf)
        for (const given of due) {
          const place = placeFor({ projectId, catalog, statement }, given)
          if (place === undefined || place.shelved?.file.isOpen() === true) continue
          if (Number.isFinite(place.restsUntilMs)) place.restsUntilMs = 0
          ask(place, fit.get(statement)?.get(given) === 'used' ? 'called' : 'expected')
        }
      }
    },
    projects: shelf.projects,
    async close() {
      stop.abort()
      await working
      shelf.close()
    },
  }
}

/** Among those that wait, the one that most calls would have used; the first of several. */
function mostMissed(waiting: Iterable<LookupEntry>): LookupEntry | undefined {
  let most: LookupEntry | undefined
  for (const place of waiting) if (most === undefined || place.missed > most.missed) most = place
  return most
}

function createWriter({ engine, files }: LookupOptions) {
  const localReads = createLocalReads(files)
  return (
    { projectId, catalog, statement, given }: LookupEntry,
    to: { path: string; maxBytes: number },
    signal: AbortSignal,
  ): Promise<LookupWritten> => {
    const { sql, slots } = statement
    const { catalog: local, files: needed } = localReads(catalog, sql)
    const names = slots.filter((_, index) => given[index] === '1').map(({ name }) => name)
    const call = { sql, slots: [...slots], given: names, ...to }
    const limits = { timeoutMs: writeTimeoutMs, signal }
    return leasing(files, needed, () => engine.writeLookup(projectId, local, call, limits), { signal }).catch(asUnfit)
  }
}

/** A statement that the engine does not take, or that fails for some of the rows, has no answer for every key. */
function asUnfit(error: unknown): LookupWritten {
  const isStatements = error instanceof Failure && (error.code === 'invalid_query' || error.code === 'invalid_request')
  if (isStatements) return { outcome: 'unfit', reason: 'a statement that fails' }
  throw error
}

/** Which slots have a value, one letter each. */
function givenIn(slots: readonly SlotValue[]): string {
  if (slots.length > maxSlots) return ''
  let given = ''
  for (const { value } of slots) given += value === null || value === undefined ? '0' : '1'
  return given
}

/** The files to write before anybody calls: those that were of use, those that are there, or the one for what is required. */
function givenFor(
  { slots, required }: LookupStatement,
  there: string[],
  fit: ReadonlyMap<string, 'used' | 'unused'> | undefined,
): Set<string> {
  const used = [...(fit ?? [])].filter(([, use]) => use === 'used').map(([given]) => given)
  const usual = fit === undefined ? [slots.map(({ name }) => (required.has(name) ? '1' : '0')).join('')] : []
  return new Set([...used, ...there.map(givenOf), ...usual])
}

function givenOf(name: string): string {
  return name.split('.')[2] ?? ''
}

function beginningOf(name: string): string {
  return name.split('.').slice(0, 2).join('.')
}

/** Names the answers of a statement over certain rows: the same name is the same answers. */
function prefixOf(projectId: string, { sql, slots }: LookupStatement, table: CatalogTable): string {
  let known = prefixes.get(table)
  if (known === undefined) prefixes.set(table, (known = new Map()))
  const statement = JSON.stringify([projectId, sql, slots])
  let prefix = known.get(statement)
  if (prefix === undefined) {
    const { name, columns, hiddenColumns } = table
    const rows = JSON.stringify([lookupFormat, name, nameOfRows(table), columns, hiddenColumns])
    const hash = createHash('sha256').update(statement).update('\n').update(rows).digest('hex')
    known.set(statement, (prefix = `${projectId}.${hash.slice(0, 40)}`))
  }
  return prefix
}
const prefixes = new WeakMap<CatalogTable, Map<string, string>>()

function inside<Key extends WeakKey, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = make()))
  return value
}
