import { hash } from 'node:crypto'
import type { Place } from '../../ids.ts'
import { compileSlots, type CompiledSlots } from '../slots/slots.ts'
import type { Version } from '../drafts/version-records.ts'

export type QueryPlace = Place & { name: string }

/** The version behind a name in an environment of a project. */
export type Deployment = QueryPlace & {
  version: LiveVersion
  /** The release that is tried out there and has another version of it. */
  trial: ReleaseTrial | null
}

/** A release that answers some callers of an environment, or none while it is run behind. */
export type ReleaseTrial = {
  releaseId: string
  projectId: string
  environment: string
  kind: 'canary' | 'shadow'
  /** The share of the keys, in ten thousandths, that it serves. */
  share: number
  /** Where what it answers is compared with what it is to replace; null where it is not. */
  replayId: string | null
  /** By the name of the query. */
  versions: ReadonlyMap<string, LiveVersion>
}

/** A version that can run. Its slots are compiled at the first call and kept. */
export type LiveVersion = Version & { compiled: () => CompiledSlots }

export function liveVersion(version: Version): LiveVersion {
  let compiled: CompiledSlots | undefined
  return { ...version, compiled: () => (compiled ??= compileSlots(version.slots)) }
}

/** The version that answers a key: the same for all its calls, as long as the release is tried out. */
export function versionFor(deployment: Deployment, keyId: string): LiveVersion {
  const { trial } = deployment
  if (trial === null) return deployment.version
  return answersKey(trial, keyId) ? (trial.versions.get(deployment.name) ?? deployment.version) : deployment.version
}

/**
 * Whether a trial answers a key. By a hash of the release and the key, so that every process and every call decides
 * alike, a larger share holds every key of a smaller one, and it is not always the same keys that go first.
 */
export function answersKey({ releaseId, share }: Pick<ReleaseTrial, 'releaseId' | 'share'>, keyId: string): boolean {
  if (share <= 0) return false
  return Number.parseInt(hash('sha256', `${releaseId}\n${keyId}`, 'hex').slice(0, 12), 16) < (share / 10_000) * 2 ** 48
}

export function keyOf({ projectId, environment, name }: QueryPlace): string {
  return `${projectId}\n${environment}\n${name}`
}

export type DeploymentIndex = ReturnType<typeof createDeploymentIndex>

/** Deployments by place and by name. Each change is one step: a call sees what was there before it or what is after. */
export function createDeploymentIndex() {
  const live = new Map<string, Deployment>()
  /** By project, environment and name: every call asks, and a text made of the three costs more than three looks. */
  const places = new Map<string, Map<string, Map<string, Deployment>>>()
  const byName = new Map<string, Set<Deployment>>()
  /** By project and environment: few, most of the time none. */
  const trials = new Map<string, ReleaseTrial>()

  /** All at once: no call meets one query of a release that is tried out and not the next. */
  function setTrial(place: Place, trial: ReleaseTrial | null): void {
    if (trial === null) trials.delete(environmentKey(place))
    else trials.set(environmentKey(place), trial)
    for (const deployment of places.get(place.projectId)?.get(place.environment)?.values() ?? []) {
      deployment.trial = trial?.versions.has(deployment.name) === true ? trial : null
    }
  }

  function trialOf(place: Place): ReleaseTrial | null {
    return trials.size === 0 ? null : (trials.get(environmentKey(place)) ?? null)
  }

  function forget(key: string): void {
    const before = live.get(key)
    if (before === undefined) return
    live.delete(key)
    leave(before)
    drop(byName, before.name, before)
  }

  function leave({ projectId, environment, name }: QueryPlace): void {
    const environments = places.get(projectId)
    const names = environments?.get(environment)
    names?.delete(name)
    if (names?.size === 0) environments?.delete(environment)
    if (environments?.size === 0) places.delete(projectId)
  }

  function put({ version, ...place }: QueryPlace & { version: LiveVersion }): void {
    const trial = trialOf(place)
    const next: Deployment = { ...place, version, trial: trial?.versions.has(place.name) === true ? trial : null }
    const key = keyOf(next)
    forget(key)
    live.set(key, next)
    const environments = inside(places, next.projectId)
    inside(environments, next.environment).set(next.name, next)
    add(byName, next.name, next)
  }

  return {
    /** All of a release at once: nothing runs in between. Of an environment that is named, the trial is what is given. */
    apply({ put: next, forget: gone, trials: found }: Change): void {
      for (const key of gone) forget(key)
      for (const each of next) put(each)
      for (const [place, trial] of found) setTrial(place, trial)
    },
    trialOf,
    trials: (): Iterable<ReleaseTrial> => trials.values(),
    keys: () => live.keys(),
    find: (place: QueryPlace) => places.get(place.projectId)?.get(place.environment)?.get(place.name),
    named: (name: string): Iterable<Deployment> => byName.get(name) ?? [],
    inEnvironment: (projectId: string, environment: string): Deployment[] => [
      ...(places.get(projectId)?.get(environment)?.values() ?? []),
    ],
    inProject: (projectId: string): Deployment[] =>
      [...(places.get(projectId)?.values() ?? [])].flatMap((names) => [...names.values()]),
    projectsIn: (environment: string): string[] =>
      [...places].filter(([, environments]) => environments.has(environment)).map(([projectId]) => projectId),
  }
}

type Change = {
  put: Array<QueryPlace & { version: LiveVersion }>
  forget: string[]
  trials: Array<[Place, ReleaseTrial | null]>
}

function environmentKey({ projectId, environment }: Place): string {
  return `${projectId}\n${environment}`
}

function inside<Key, Value>(maps: Map<Key, Map<string, Value>>, key: Key): Map<string, Value> {
  const found = maps.get(key) ?? new Map<string, Value>()
  maps.set(key, found)
  return found
}

function add(groups: Map<string, Set<Deployment>>, key: string, deployment: Deployment): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, new Set([deployment]))
  else group.add(deployment)
}

function drop(groups: Map<string, Set<Deployment>>, key: string, deployment: Deployment): void {
  const group = groups.get(key)
  group?.delete(deployment)
  if (group?.size === 0) groups.delete(key)
}
