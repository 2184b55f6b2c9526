import { LRUCache } from 'lru-cache'
import { mapInPieces } from '../../flow/index.ts'
import type { Place } from '../../ids.ts'
import type { Observe } from '../../observe.ts'
import { openMemoryCopy, type Database } from '../../store/index.ts'
import {
  answersKey,
  createDeploymentIndex,
  keyOf,
  liveVersion,
  type Deployment,
  type DeploymentIndex,
  type LiveVersion,
  type QueryPlace,
  type ReleaseTrial,
} from './deployment-index.ts'
import { loadTrial, readTrialOf, readTrials, type TrialRow } from './trial-rows.ts'
import { readVersions, versionOf } from '../drafts/version-records.ts'

/**
 * Every deployment in memory, so that a call asks the database nothing. The database tells each change to every
 * process; a gap in hearing, and the clock, bring all of it to be compared again.
 */
export type Deployments = {
  find(place: QueryPlace): Deployment | undefined
  has(projectId: string, environment: string, name: string): boolean
  /** The projects in which a query of this name is deployed to the environment. */
  projectsWith(name: string, environment: string): string[]
  /** Another version of it that was live in the same environment at some time. */
  pinned(deployment: Deployment, number: number): Promise<LiveVersion | undefined>
  list(projectId: string, environment: string): Deployment[]
  /** Every version that answers calls in a project, also those of a release that is tried out. */
  versionsOf(projectId: string): LiveVersion[]
  /** The projects in which anything is deployed to the environment. */
  projectsIn(environment: string): string[]
  /** The release whose versions answer a key in an environment while it is tried out; null where none does. */
  releaseFor(environment: Place, keyId: string): string | null
  /** The running trials, anywhere. */
  trials(): Iterable<ReleaseTrial>
  /** The deployments of a project, by name, with the tables they read. From the database: nothing is missing. */
  tablesRead(projectId: string): Promise<DeployedReads[]>
  /** Reads an environment again now: a process sees its own change before it says so. */
  refresh(environment: Place): Promise<void>
  /** Hears of every change after it is in effect; `null` when anything may have changed. */
  onChange(listener: (environment: Place | null) => void): () => void
  close(): Promise<void>
}

/** A deployed query with the columns that it reads of each table. */
export type DeployedReads = { queryId: string; name: string; environment: string; tables: Record<string, string[]> }

/** Said by a trigger on the table, with project and environment as a JSON array. */
const changed = 'deployments_changed'
const resyncMs = 300_000
/** Beyond this many changes at once, comparing all of it takes fewer statements. */
const maxEnvironments = 20
/** Versions that callers pinned and that are not live. */
const maxPins = 1_000

export async function openDeployments({ store, observe }: { store: Database; observe: Observe }): Promise<Deployments> {
  const index = createDeploymentIndex()
  const pins = new LRUCache<string, LiveVersion>({ max: maxPins })
  const listeners = new Set<(environment: Place | null) => void>()
  const notify = (environment: Place | null): void => {
    for (const listener of listeners) listener(environment)
  }
  const copy = await openMemoryCopy<Place>(store, {
    channel: changed,
    readAll: async () => {
      await readAll(store, index)
      notify(null)
    },
    parts: {
      named: environmentOf,
      read: async (environments) => {
        for (const environment of environments) {
          await readEnvironment(store, index, environment)
          notify(environment)
        }
      },
      nameOf: ({ projectId, environment }) => `${projectId}\n${environment}`,
      most: maxEnvironments,
    },
    everyMs: resyncMs,
    observe,
    where: 'deployments',
  })
  return {
    find: index.find,
    has: (projectId, environment, name) => index.find({ projectId, environment, name }) !== undefined,
    projectsWith: (name, environment) =>
      [...index.named(name)].filter((each) => each.environment === environment).map((each) => each.projectId),
    pinned: (deployment, number) => findPinned(store, pins, { deployment, number }),
    list: index.inEnvironment,
    versionsOf(projectId) {
      const tried = [...index.trials()].filter((trial) => trial.projectId === projectId)
      const live = index.inProject(projectId).map(({ version }) => version)
      return [...new Set([...live, ...tried.flatMap(({ versions }) => [...versions.values()])])]
    },
    projectsIn: index.projectsIn,
    releaseFor(place, keyId) {
      const trial = index.trialOf(place)
      return trial !== null && answersKey(trial, keyId) ? trial.releaseId : null
    },
    trials: index.trials,
    tablesRead: (projectId) => readTables(store, projectId),
    refresh: ({ projectId, environment }) => copy.refresh({ projectId, environment }),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => copy.close(),
  }
}

/**
 * In one statement: what it reads is from before a release or from after it. The trial is read first: where it is gone,
 * what it became is there, and nobody falls back to what was before it.
 */
async function readEnvironment(
  store: Database,
  index: DeploymentIndex,
  { projectId, environment }: Place,
): Promise<void> {
  const trial = await readTrialOf(store.db, { projectId, environment })
  const rows = await placeRows(store)
    .where('projectId', '=', projectId)
    .where('environment', '=', environment)
    .execute()
  const trials = await loadTrials(store, index, trial === undefined ? [] : [trial])
  const gone: TrialChange[] = trial === undefined ? [[{ projectId, environment }, null]] : []
  const known = index.inEnvironment(projectId, environment).map(keyOf)
  await take(store, index, { rows, known, trials: [...trials, ...gone] })
}

async function readAll(store: Database, index: DeploymentIndex): Promise<void> {
  const found = await readTrials(store.db)
  const rows = await placeRows(store).execute()
  const trials = await loadTrials(store, index, found)
  const gone = [...index.trials()].filter(({ releaseId }) => !found.some((each) => each.releaseId === releaseId))
  const ended = gone.map((trial): TrialChange => [trial, null])
  await take(store, index, { rows, known: index.keys(), trials: [...ended, ...trials] })
}

type TrialChange = [Place, ReleaseTrial | null]

async function loadTrials(store: Database, index: DeploymentIndex, rows: TrialRow[]): Promise<TrialChange[]> {
  const changes: TrialChange[] = []
  const known = (name: string): LiveVersion[] => [...index.named(name)].map(({ version }) => version)
  for (const row of rows) changes.push([row, await loadTrial(store, row, known)])
  return changes
}

type PlaceRow = QueryPlace & { versionId: string }

async function take(
  store: Database,
  index: DeploymentIndex,
  { rows, known, trials }: { rows: PlaceRow[]; known: Iterable<string>; trials: TrialChange[] },
): Promise<void> {
  const gone = new Set(known)
  for (const row of rows) gone.delete(keyOf(row))
  const stale = rows.filter((row) => index.find(row)?.version.id !== row.versionId)
  const put = await complete(store, index, stale)
  index.apply({ put, forget: [...gone], trials })
}

/** Versions in one answer of the database: reading them is work that holds up others. */
const readAtOnce = 200

/** Versions never change, so one that is known is taken from memory, and shared by its environments. */
async function complete(
  store: Database,
  index: DeploymentIndex,
  rows: PlaceRow[],
): Promise<Array<QueryPlace & { version: LiveVersion }>> {
  const versions = new Map<string, LiveVersion>()
  for (const { name } of rows) {
    for (const { version } of index.named(name)) versions.set(version.id, version)
  }
  const missing = [...new Set(rows.map((row) => row.versionId))].filter((id) => !versions.has(id))
  for (let from = 0; from < missing.length; from += readAtOnce) {
    const read = await readVersions(store, missing.slice(from, from + readAtOnce))
    for (const version of await mapInPieces(read, liveVersion)) versions.set(version.id, version)
  }
  return rows.flatMap(({ versionId, ...place }) => {
    const version = versions.get(versionId)
    return version === undefined ? [] : [{ ...place, version }]
  })
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
    .selectFrom('deploymentActs')
    .innerJoin('queryVersions', (join) =>
      join
        .onRef('queryVersions.queryId', '=', 'deploymentActs.queryId')
        .onRef('queryVersions.version', '=', 'deploymentActs.version'),
    )
    .selectAll('queryVersions')
    .where('deploymentActs.queryId', '=', version.queryId)
    .where('deploymentActs.environment', '=', environment)
    .where('deploymentActs.version', '=', number)
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const found = liveVersion(versionOf(row))
  pins.set(key, found)
  return found
}

function readTables(store: Database, projectId: string): Promise<DeployedReads[]> {
  return store.db
    .selectFrom('deployments')
    .innerJoin('queryVersions', 'queryVersions.id', 'deployments.versionId')
    .select(['deployments.queryId', 'deployments.name', 'deployments.environment', 'queryVersions.tables'])
    .where('deployments.projectId', '=', projectId)
    .orderBy('deployments.name')
    .execute()
}

function placeRows(store: Database) {
  return store.db.selectFrom('deployments').select(['projectId', 'environment', 'name', 'versionId'])
}

function environmentOf(payload: string): Place {
  const [projectId, environment] = JSON.parse(payload) as [string, string]
  return { projectId, environment }
}
