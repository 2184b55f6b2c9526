import { LRUCache } from 'lru-cache'
import type { Observe } from '../observe.ts'
import type { Database } from '../store/index.ts'
import { compileSlots, type CompiledSlots } from './slots.ts'
import { readVersions, versionOf, type Version } from './version-records.ts'

/** What answers a name in an environment of a project. */
export type Deployment = { projectId: string; environment: string; name: string; version: LiveVersion }

/** A version that can run. Its slots are compiled at the first call and kept. */
export type LiveVersion = Version & { compiled: () => CompiledSlots }

type Place = { projectId: string; environment: string; name: string }

/**
 * Every deployment in memory, so that a call asks the database nothing. The database tells each change to every
 * process; a gap in hearing, and the clock, bring all of it to be compared again.
 */
export type Deployments = {
  find(place: Place): Deployment | undefined
  has(projectId: string, environment: string, name: string): boolean
  /** The projects in which a query of this name is deployed to the environment. */
  projectsWith(name: string, environment: string): string[]
  /** Another version of it that was live in the same environment at some time. */
  pinned(deployment: Deployment, number: number): Promise<LiveVersion | undefined>
  list(projectId: string, environment: string): Deployment[]
  /** Reads one place again now: a process sees its own change before it says so. */
  refresh(place: Place): Promise<void>
  /** Hears of every change after it is in effect; `null` when anything may have changed. */
  onChange(heard: (place: Place | null) => void): () => void
  close(): void
}

const changed = 'deployments_changed'
const resyncMs = 300_000
const retryMs = 1_000
/** Versions that callers pinned and that are not live. */
const mostPins = 1_000

export async function openDeployments({ store, observe }: { store: Database; observe: Observe }): Promise<Deployments> {
  const live = new Map<string, Deployment>()
  const byName = new Map<string, Set<Deployment>>()
  const byPlace = new Map<string, Map<string, Deployment>>()
  const pins = new LRUCache<string, LiveVersion>({ max: mostPins })
  const listeners = new Set<(place: Place | null) => void>()
  let wanted: Batch = newBatch()
  let draining = false
  let retry: NodeJS.Timeout | undefined
  let closed = false

  function put(key: string, next: Deployment | undefined): void {
    const before = live.get(key)
    if (before !== undefined) {
      const same = byName.get(before.name)
      same?.delete(before)
      if (same?.size === 0) byName.delete(before.name)
      const place = byPlace.get(placeKey(before))
      place?.delete(before.name)
      if (place?.size === 0) byPlace.delete(placeKey(before))
    }
    if (next === undefined) {
      live.delete(key)
      return
    }
    live.set(key, next)
    const same = byName.get(next.name)
    if (same === undefined) byName.set(next.name, new Set([next]))
    else same.add(next)
    const place = byPlace.get(placeKey(next))
    if (place === undefined) byPlace.set(placeKey(next), new Map([[next.name, next]]))
    else place.set(next.name, next)
  }

  /** One read at a time: what is read later is never overwritten by what was read before. */
  async function drain(): Promise<void> {
    if (draining) return
    draining = true
    while (wanted.all || wanted.places.size > 0) {
      const batch = wanted
      wanted = newBatch()
      try {
        await (batch.all ? readAll() : readPlaces([...batch.places.values()]))
        batch.settle()
      } catch (error) {
        // Whoever asked meanwhile waits no longer than this either; all of it is read again soon.
        for (const failed of [batch, wanted])
          failed.settle(new Error('the deployments could not be read', { cause: error }))
        wanted = newBatch()
        if (!closed) observe({ kind: 'fault', where: 'deployments', error })
        retry ??= setTimeout(() => {
          retry = undefined
          void ask(null).catch(() => undefined)
        }, retryMs)
      }
    }
    draining = false
  }

  function ask(place: Place | null): Promise<void> {
    if (closed) return Promise.resolve()
    if (place === null) wanted.all = true
    else wanted.places.set(keyOf(place), place)
    const { done } = wanted
    void drain()
    return done
  }

  async function readPlaces(places: Place[]): Promise<void> {
    for (const place of places) {
      const row = await placeRows(store)
        .where('project_id', '=', place.projectId)
        .where('environment', '=', place.environment)
        .where('name', '=', place.name)
        .executeTakeFirst()
      const [next] = row === undefined ? [] : await complete([row])
      put(keyOf(place), next)
      for (const heard of listeners) heard(place)
    }
  }

  async function readAll(): Promise<void> {
    const rows = await placeRows(store).execute()
    const gone = new Set(live.keys())
    for (const row of rows) gone.delete(keyOf(row))
    const stale = rows.filter((row) => live.get(keyOf(row))?.version.id !== row.versionId)
    const next = await complete(stale)
    for (const deployment of next) put(keyOf(deployment), deployment)
    for (const key of gone) put(key, undefined)
    for (const heard of listeners) heard(null)
  }

  /** Versions never change, so one that is known is taken from memory, and shared by its environments. */
  async function complete(rows: Array<Place & { versionId: string }>): Promise<Deployment[]> {
    const versions = new Map<string, LiveVersion>()
    for (const row of rows) {
      for (const known of byName.get(row.name) ?? []) versions.set(known.version.id, known.version)
    }
    const missing = [...new Set(rows.map((row) => row.versionId))].filter((id) => !versions.has(id))
    for (const version of await readVersions(store, missing)) versions.set(version.id, liveVersion(version))
    return rows.flatMap(({ versionId, ...place }) => {
      const version = versions.get(versionId)
      return version === undefined ? [] : [{ ...place, version }]
    })
  }

  const stop = await store.listen(
    changed,
    (payload) => void ask(placeOf(payload)).catch(() => undefined),
    () => void ask(null).catch(() => undefined),
  )
  await ask(null)
  const timer = setInterval(() => void ask(null).catch(() => undefined), resyncMs).unref()

  return {
    find: (place) => live.get(keyOf(place)),
    has: (projectId, environment, name) => live.has(keyOf({ projectId, environment, name })),
    projectsWith: (name, environment) =>
      [...(byName.get(name) ?? [])].filter((each) => each.environment === environment).map((each) => each.projectId),
    pinned: (deployment, number) => findPinned(store, pins, { deployment, number }),
    list: (projectId, environment) => [...(byPlace.get(placeKey({ projectId, environment }))?.values() ?? [])],
    refresh: (place) => ask(place),
    onChange(heard) {
      listeners.add(heard)
      return () => void listeners.delete(heard)
    },
    close() {
      closed = true
      stop()
      clearInterval(timer)
      clearTimeout(retry)
      wanted.settle(new Error('closed'))
    },
  }
}

export function liveVersion(version: Version): LiveVersion {
  let compiled: CompiledSlots | undefined
  return { ...version, compiled: () => (compiled ??= compileSlots(version.slots)) }
}

/** A version that was live once may be kept for good: it never changes, and what it was is in the past. */
async function findPinned(
  store: Database,
  pins: LRUCache<string, LiveVersion>,
  { deployment, number }: { deployment: Deployment; number: number },
): Promise<LiveVersion | undefined> {
  const { version, environment } = deployment
  if (version.number === number) return version
  const key = `${version.queryId}\n${environment}\n${number}`
  const known = pins.get(key)
  if (known !== undefined) return known
  const row = await store.db
    .selectFrom('deployment_acts')
    .innerJoin('query_versions', (join) =>
      join
        .onRef('query_versions.query_id', '=', 'deployment_acts.query_id')
        .onRef('query_versions.version', '=', 'deployment_acts.version'),
    )
    .selectAll('query_versions')
    .where('deployment_acts.query_id', '=', version.queryId)
    .where('deployment_acts.environment', '=', environment)
    .where('deployment_acts.version', '=', number)
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const found = liveVersion(versionOf(row))
  pins.set(key, found)
  return found
}

type Batch = { all: boolean; places: Map<string, Place>; done: Promise<void>; settle: (error?: Error) => void }

function newBatch(): Batch {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  promise.catch(() => undefined)
  const settle = (error?: Error): void => {
    if (error === undefined) resolve()
    else reject(error)
  }
  return { all: false, places: new Map(), done: promise, settle }
}

function placeRows(store: Database) {
  return store.db
    .selectFrom('deployments')
    .select(['project_id as projectId', 'environment', 'name', 'version_id as versionId'])
}

function keyOf({ projectId, environment, name }: Place): string {
  return `${projectId}\n${environment}\n${name}`
}

function placeKey({ projectId, environment }: Pick<Place, 'projectId' | 'environment'>): string {
  return `${projectId}\n${environment}`
}

function placeOf(payload: string): Place {
  const [projectId, environment, name] = JSON.parse(payload) as [string, string, string]
  return { projectId, environment, name }
}
