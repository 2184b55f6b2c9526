import type { Batch } from './batches.ts'
import { isSameKind, callKindOf, type CallKind, type QueryAnswered } from './call.ts'
import type { Count, Tally } from './tally.ts'

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

/**
 * Finds what a call belongs to. By key and query, and among those few by comparing: a text of all that tells kinds
 * apart, made for every call, would cost more than everything else that is done with it here.
 */
export function openKinds(tally: Tally, most: number): Kinds {
  let known = new Map<string | null, Map<string | null, Kind[]>>()
  let count = 0
  let minute = 0

  /** Up to as many as may be: names that callers make up are without number. */
  const keep = ({ keyId, query }: QueryAnswered, kind: Kind): void => {
    if (count >= most) return
    count += 1
    const ofKey = known.get(keyId) ?? new Map<string | null, Kind[]>()
    const place = ofKey.get(query) ?? []
    place.push(kind)
    known.set(keyId, ofKey.set(query, place))
  }

  return {
    find(event, at) {
      const start = Math.floor(at / minuteMs) * minuteMs
      if (start !== minute) {
        minute = start
        known = new Map()
        count = 0
      }
      const alike = known.get(event.keyId)?.get(event.query)
      const found = alike?.find((kind) => isSameKind(kind.first, event))
      if (found !== undefined) return found
      const kind = begin(tally, event, start)
      if (kind !== undefined) keep(event, kind)
      return kind
    },
  }
}

function begin(tally: Tally, event: QueryAnswered, start: number): Kind | undefined {
  const of = callKindOf(event)
  if (of === undefined) return undefined
  // A preview is its author's, not a call of an endpoint: it is in the log and in no figure.
  const count = of.entry === 'preview' ? null : tally.find(of, start)
  return count === undefined ? undefined : { of, first: event, count, batch: null }
}
