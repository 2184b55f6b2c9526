import type { Batch } from '../stored/batches.ts'
import { isSameKind, callKindOf, type CallKind, type QueryAnswered } from '../stored/call.ts'
import type { Count, Tally } from './tally.ts'

/** Calls of one minute that agree in every field that they are counted by. */
export type Kind = {
  of: CallKind
  /** The first of these calls. */
  first: QueryAnswered
  /** Null for previews: the log has them, figures do not. */
  count: Count | null
  /** The open batch: the next call may join it. */
  batch: Batch | null
}

export type Kinds = {
  /** The kind of a call; undefined where there is no room for a further kind, or the call reached no project. */
  find(event: QueryAnswered, at: number): Kind | undefined
}

type Branch = { branches: Map<string | null, Branch>; kinds: Kind[] }

const minuteMs = 60_000

/**
 * Finds the kind of a call in a tree of key, project, environment and query, and then by comparing the few kinds of that
 * query. One map with a text of all fields as its key takes five times as long (0.8 µs a call).
 */
export function openKinds(tally: Tally, maxKinds: number): Kinds {
  let root = newBranch()
  let count = 0
  let minute = 0
  return {
    find(event, at) {
      const start = Math.floor(at / minuteMs) * minuteMs
      if (start !== minute) {
        minute = start
        root = newBranch()
        count = 0
      }
      const path = [event.keyId, event.projectId, event.environment, event.query]
      const known = branchAt(root, path)?.kinds.find(({ first }) => isSameKind(first, event))
      if (known !== undefined) return known
      const kind = newKind(tally, event, start)
      // Callers can make up names without number, so a full tree takes no further kind.
      if (kind !== undefined && count < maxKinds) {
        count += 1
        growBranch(root, path).kinds.push(kind)
      }
      return kind
    },
  }
}

function newBranch(): Branch {
  return { branches: new Map(), kinds: [] }
}

function branchAt(root: Branch, path: Array<string | null>): Branch | undefined {
  let branch: Branch | undefined = root
  for (const name of path) branch = branch?.branches.get(name)
  return branch
}

function growBranch(root: Branch, path: Array<string | null>): Branch {
  let branch = root
  for (const name of path) {
    const next = branch.branches.get(name) ?? newBranch()
    branch.branches.set(name, next)
    branch = next
  }
  return branch
}

function newKind(tally: Tally, event: QueryAnswered, start: number): Kind | undefined {
  const of = callKindOf(event)
  if (of === undefined) return undefined
  const count = of.entry === 'preview' ? null : tally.find(of, start)
  return count === undefined ? undefined : { of, first: event, count, batch: null }
}
