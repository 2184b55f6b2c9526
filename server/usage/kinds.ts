import type { Batch } from './stored/batches.ts'
import { isSameKind, callKindOf, type CallKind, type QueryAnswered } from './stored/call.ts'
import type { Count, Tally } from './record/tally.ts'

/** Calls of one minute that agree in everything they are counted by. */
export type Kind = {
  of: CallKind
  /** The first of them. */
  first: QueryAnswered
  /** Null for what is in no figure. */
  count: Count | null
  /** To which the next call may be added. */
  batch: Batch | null
}

export type Kinds = {
  /** Undefined where there is no room to count a further kind, and for a call that reached no project. */
  find(event: QueryAnswered, at: number): Kind | undefined
}

const minuteMs = 60_000

type Level<Below> = Map<string | null, Below>

/**
 * Finds what a call belongs to. By what there may be thousands of, one after the other, and among the few that are left
 * by comparing: a text of all that tells kinds apart, made for every call, would cost more than everything else that is
 * done with it here.
 */
export function openKinds(tally: Tally, most: number): Kinds {
  let known: Level<Level<Level<Level<Kind[]>>>> = new Map()
  let count = 0
  let minute = 0

  /** Up to as many as may be: names that callers make up are without number. */
  const keep = ({ keyId, projectId, environment, query }: QueryAnswered, kind: Kind): void => {
    if (count >= most) return
    count += 1
    const ofKey = under(known, keyId, newLevel<Level<Level<Kind[]>>>)
    const ofProject = under(ofKey, projectId, newLevel<Level<Kind[]>>)
    const ofEnvironment = under(ofProject, environment, newLevel<Kind[]>)
    under(ofEnvironment, query, (): Kind[] => []).push(kind)
  }

  return {
    find(event, at) {
      const start = Math.floor(at / minuteMs) * minuteMs
      if (start !== minute) {
        minute = start
        known = new Map()
        count = 0
      }
      const { keyId, projectId, environment, query } = event
      const alike = known.get(keyId)?.get(projectId)?.get(environment)?.get(query)
      const found = alike?.find((kind) => isSameKind(kind.first, event))
      if (found !== undefined) return found
      const kind = begin(tally, event, start)
      if (kind !== undefined) keep(event, kind)
      return kind
    },
  }
}

function newLevel<Below>(): Level<Below> {
  return new Map()
}

function under<Below>(level: Level<Below>, name: string | null, make: () => Below): Below {
  const found = level.get(name)
  if (found !== undefined) return found
  const made = make()
  level.set(name, made)
  return made
}

function begin(tally: Tally, event: QueryAnswered, start: number): Kind | undefined {
  const of = callKindOf(event)
  if (of === undefined) return undefined
  // A preview is its author's, not a call of an endpoint: it is in the log and in no figure.
  const count = of.entry === 'preview' ? null : tally.find(of, start)
  return count === undefined ? undefined : { of, first: event, count, batch: null }
}
