import { compileSlots, type CompiledSlots } from './slots.ts'
import type { Version } from './version-records.ts'

export type Place = { projectId: string; environment: string; name: string }

/** What answers a name in an environment of a project. */
export type Deployment = Place & { version: LiveVersion }

/** A version that can run. Its slots are compiled at the first call and kept. */
export type LiveVersion = Version & { compiled: () => CompiledSlots }

export function liveVersion(version: Version): LiveVersion {
  let compiled: CompiledSlots | undefined
  return { ...version, compiled: () => (compiled ??= compileSlots(version.slots)) }
}

export function keyOf({ projectId, environment, name }: Place): string {
  return `${projectId}\n${environment}\n${name}`
}

export type DeploymentIndex = ReturnType<typeof createDeploymentIndex>

/** Deployments by place and by name. Each change is one step: a call sees what was there before it or what is after. */
export function createDeploymentIndex() {
  const live = new Map<string, Deployment>()
  /** By project, environment and name: every call asks, and a text made of the three costs more than three looks. */
  const places = new Map<string, Map<string, Map<string, Deployment>>>()
  const byName = new Map<string, Set<Deployment>>()

  function forget(key: string): void {
    const before = live.get(key)
    if (before === undefined) return
    live.delete(key)
    leave(before)
    drop(byName, before.name, before)
  }

  function leave({ projectId, environment, name }: Place): void {
    const environments = places.get(projectId)
    const names = environments?.get(environment)
    names?.delete(name)
    if (names?.size === 0) environments?.delete(environment)
    if (environments?.size === 0) places.delete(projectId)
  }

  function put(next: Deployment): void {
    const key = keyOf(next)
    forget(key)
    live.set(key, next)
    const environments = inside(places, next.projectId)
    inside(environments, next.environment).set(next.name, next)
    add(byName, next.name, next)
  }

  return {
    /** All of a release at once: nothing runs in between. */
    apply({ put: next, forget: gone }: { put: Deployment[]; forget: string[] }): void {
      for (const key of gone) forget(key)
      for (const each of next) put(each)
    },
    keys: () => live.keys(),
    find: (place: Place) => places.get(place.projectId)?.get(place.environment)?.get(place.name),
    named: (name: string): Iterable<Deployment> => byName.get(name) ?? [],
    inEnvironment: (projectId: string, environment: string): Deployment[] => [
      ...(places.get(projectId)?.get(environment)?.values() ?? []),
    ],
    projectsIn: (environment: string): string[] =>
      [...places].filter(([, environments]) => environments.has(environment)).map(([projectId]) => projectId),
  }
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
