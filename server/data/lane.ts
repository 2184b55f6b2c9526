import { createFairQueue } from '../fair-queue.ts'

/** What waits: of which project, and which of its queries it is. */
export type Waiting = {
  scope: string
  query: string
  /** Known to take long before it was ever run. */
  isHeavy?: boolean
}

/** The right to run one piece of work, until it is released. */
export type LanePlace = { scope: string; query: string; isSlow: boolean; isExpress: boolean; startedMs: number }

type LaneOptions = {
  queueLength: number
  slots: number
  /** Beyond `slots`, for queries known to be quick while others take long. */
  expressSlots: number
  nowMs: () => number
}

/** What runs for longer is slow, and so is its query from then on. */
const slowMs = 1_000
const maxQueries = 10_000

/**
 * Who runs next. Work waits by scope and query, and they take turns: a scope with a thousand waiting calls delays
 * another by one call, and so does a query within its scope. No scope holds every slot; no query, and not all slow
 * queries together, hold every slot of their scope. And where slow ones that nobody knew fill the slots all the same,
 * what is known to be quick passes them in an express slot.
 */
// Over 70 lines: its methods share the queues and the counts of what runs.
export function createLane<Item extends Waiting>({ queueLength, slots, expressSlots, nowMs }: LaneOptions) {
  const slotsPerScope = allButAShare(slots, 4)
  const slotsPerQuery = allButAShare(slotsPerScope, 3)
  const expressPerScope = allButAShare(expressSlots, 4)
  const waiting = createFairQueue<Item>()
  const running = new Map<string, Set<LanePlace>>()
  /** How long each query took last. */
  const tookMs = new Map<string, number>()

  /** False when the queue is full. */
  function push(item: Item): boolean {
    if (waiting.size() >= queueLength) return false
    waiting.push(pathOf(item), item)
    return true
  }

  /** The next item that may run, and its place. */
  function take(mayRun: (item: Item, isExpress: boolean) => boolean): { item: Item; place: LanePlace } | undefined {
    const item = waiting.take({
      enter: ([scope = '', query]) => (query === undefined ? hasRoom(scope) : mayHoldMore(scope, query)),
      run: (each) => mayRun(each, false) && (each.isHeavy !== true || slowOf(scopePlaces(each.scope)) < slotsPerQuery),
    })
    if (item !== undefined) return { item, place: hold(item) }
    const express = takeExpress((each) => mayRun(each, true))
    return express === undefined ? undefined : { item: express, place: hold(express, true) }
  }

  function takeExpress(mayRun: (item: Item) => boolean): Item | undefined {
    if (waiting.size() === 0) return undefined
    const places = [...running.values()].flatMap((each) => [...each])
    const express = places.filter(({ isExpress }) => isExpress)
    if (express.length >= expressSlots || slowOf(places) === 0) return undefined
    return waiting.take({
      enter: ([scope, query]) =>
        query === undefined
          ? express.filter((place) => place.scope === scope).length < expressPerScope
          : (tookMs.get(query) ?? Infinity) <= slowMs,
      run: mayRun,
    })
  }

  function hasRoom(scope: string): boolean {
    const places = running.get(scope)
    if (places === undefined || places.size < slotsPerScope) return true
    return [...places].filter(({ isExpress }) => !isExpress).length < slotsPerScope
  }

  function mayHoldMore(scope: string, query: string): boolean {
    const places = scopePlaces(scope)
    if (places.length < slotsPerQuery) return true
    if (places.filter((place) => place.query === query).length >= slotsPerQuery) return false
    return (tookMs.get(query) ?? 0) <= slowMs || slowOf(places) < slotsPerQuery
  }

  function scopePlaces(scope: string): LanePlace[] {
    return [...(running.get(scope) ?? [])]
  }

  function slowOf(places: LanePlace[]): number {
    const since = nowMs() - slowMs
    return places.filter(({ isSlow, startedMs }) => isSlow || startedMs < since).length
  }

  /** Counts one more as running, also what came another way than by its turn. */
  function hold({ scope, query, isHeavy }: Item, isExpress = false): LanePlace {
    const isSlow = isHeavy === true || (tookMs.get(query) ?? 0) > slowMs
    const place = { scope, query, isSlow, isExpress, startedMs: nowMs() }
    const places = running.get(scope)
    if (places === undefined) running.set(scope, new Set([place]))
    else places.add(place)
    return place
  }

  function release(place: LanePlace | null): void {
    if (place === null) return
    const places = running.get(place.scope)
    if (places?.delete(place) !== true) return
    if (places.size === 0) running.delete(place.scope)
    if (tookMs.size >= maxQueries) tookMs.clear()
    tookMs.set(place.query, nowMs() - place.startedMs)
  }

  return {
    push,
    take,
    hold,
    release,
    /** Items that can go along with one that was just taken; they need no turn of their own. */
    takeAlike: (item: Item, isAlike: (other: Item) => boolean, most: number) =>
      waiting.takeAlong(pathOf(item), isAlike, most),
    /** Takes a waiting item out before its turn. */
    remove: (item: Item) => waiting.remove(pathOf(item), item),
    waitingCount: () => waiting.size(),
  }
}

function pathOf({ scope, query }: Waiting): string[] {
  return [scope, query]
}

/** All of `slots` but one in `share`, at least one of them left over and at least one had. */
function allButAShare(slots: number, share: number): number {
  return Math.max(1, slots - Math.max(1, Math.floor(slots / share)))
}
