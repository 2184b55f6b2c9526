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

/** Deployments by place and by name. Each change is one step: a call sees the deployment before it or the one after. */
export function createDeploymentIndex() {
  const live = new Map<string, Deployment>()
  const byName = new Map<string, Set<Deployment>>()

  function forget(key: string): void {
    const before = live.get(key)
    if (before === undefined) return
    live.delete(key)
    const same = byName.get(before.name)
    same?.delete(before)
    if (same?.size === 0) byName.delete(before.name)
  }

  function put(next: Deployment): void {
    const key = keyOf(next)
    forget(key)
    live.set(key, next)
    const same = byName.get(next.name)
    if (same === undefined) byName.set(next.name, new Set([next]))
    else same.add(next)
  }

  return {
    put,
    forget,
    keys: () => live.keys(),
    find: (place: Place) => live.get(keyOf(place)),
    named: (name: string): Iterable<Deployment> => byName.get(name) ?? [],
    inEnvironment: (projectId: string, environment: string) =>
      [...live.values()].filter((each) => each.projectId === projectId && each.environment === environment),
  }
}
