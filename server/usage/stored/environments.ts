import { environmentsOf } from '../../projects/index.ts'
import type { Database } from '../../store/index.ts'
import type { CallKind } from './call.ts'

/**
 * A call that found no query names project and environment as its caller wrote them. Only names that exist are written
 * down, else anyone with a key could fill the tables with names.
 */
export type Environments = {
  /** Looks up what calls of these kinds name and is not known yet. */
  know(kinds: Iterable<CallKind>): Promise<void>
  /** The kind with an environment that exists or none; undefined where there is no such project. */
  placed(kind: CallKind): CallKind | undefined
}

const maxProjects = 10_000

export function openEnvironments(store: Pick<Database, 'db'>): Environments {
  let known = new Map<string, Set<string>>()
  const isKnown = ({ version, projectId, environment }: CallKind): boolean =>
    version !== null || known.get(projectId)?.has(environment ?? '') === true
  return {
    async know(kinds) {
      const unknown = new Set<string>()
      for (const kind of kinds) if (!isKnown(kind)) unknown.add(kind.projectId)
      if (unknown.size === 0) return
      if (known.size > maxProjects) known = new Map()
      for (const { projectId, name } of await environmentsOf(store, [...unknown])) {
        known.set(projectId, (known.get(projectId) ?? new Set()).add(name))
      }
    },
    placed(kind) {
      if (isKnown(kind)) return kind
      return known.has(kind.projectId) ? { ...kind, environment: null } : undefined
    },
  }
}
