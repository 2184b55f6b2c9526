import { createFairQueue, type Holder, type Level, type Release } from '../flow/index.ts'

/** A call that waits: its project, and which of the project's queries it is. */
export type Waiting = {
  scope: string
  query: string
  /** Known to be slow before its first run. */
  isHeavy?: boolean
}

/** The right to run one call, until it is released. */
export type LanePlace = {
  scope: string
  query: string
  isSlow: boolean
  isExpress: boolean
  startedMs: number
  leave: Release
}

type LaneOptions = {
  queueLength: number
  slots: number
  /** Beyond `slots`, for queries known to be quick while others are slow. */
  expressSlots: number
  nowMs: () => number
}

/** A call that runs for longer is slow, and so is its query from then on. */
const slowMs = 1_000
const maxQueries = 10_000

/**
 * The order in which calls run. Scopes take turns, and so do the queries of a scope. No scope holds every slot; no
 * query, and not all slow queries together, hold every slot of their scope. Where slow calls fill the slots all the
 * same, because nobody knew that they are slow, queries known to be quick pass them in an express slot.
 */
// Over 70 lines: its methods share the queue and the places of what runs.
export function createLane<Item extends Waiting>({ queueLength, slots, expressSlots, nowMs }: LaneOptions) {
  const slotsPerScope = allButAShare(slots, 4)
  const slotsPerQuery = allButAShare(slotsPerScope, 3)
  const expressPerScope = allButAShare(expressSlots, 4)
  const queue = createFairQueue<Item>()
  const running = new Set<LanePlace>()
  /** How long each query took last. */
  const tookMs = new Map<string, number>()

  /** False when the queue is full. */
  function push(item: Item): boolean {
    if (queue.waiting() >= queueLength) return false
    queue.push(holderOf(item), item)
    return true
  }

  /** The next item that may run, and its place: in an express slot only, unless `isFree`. */
  function take(isFree: boolean): { item: Item; place: LanePlace } | undefined {
    const run = (item: Item) => item.isHeavy !== true || slowCount(item.scope) < slotsPerQuery
    const taken = isFree ? queue.take({ enter: hasSlot, run }) : undefined
    if (taken !== undefined) return { item: taken.item, place: placeOf(taken.item, taken.leave, false) }
    const express = takeExpress()
    return express && { item: express.item, place: placeOf(express.item, express.leave, true) }
  }

  function takeExpress() {
    if (queue.waiting() === 0 || expressCount() >= expressSlots || slowCount() === 0) return undefined
    const enter = ({ depth, name }: Level): boolean => {
      if (depth === 0) return true
      return depth === 1 ? expressCount(name) < expressPerScope : (tookMs.get(name) ?? Infinity) <= slowMs
    }
    return queue.take({ enter })
  }

  function hasSlot({ depth, name, entered, parent }: Level): boolean {
    if (depth === 0) return true
    if (depth === 1) return entered < slotsPerScope || entered - expressCount(name) < slotsPerScope
    if (parent === null || parent.entered < slotsPerQuery) return true
    if (entered >= slotsPerQuery) return false
    return (tookMs.get(name) ?? 0) <= slowMs || slowCount(parent.name) < slotsPerQuery
  }

  /** Calls that run in express slots, of one scope or of all. */
  function expressCount(scope?: string): number {
    let count = 0
    for (const place of running) if (place.isExpress && (scope ?? place.scope) === place.scope) count += 1
    return count
  }

  /** Slow calls that run, of one scope or of all. */
  function slowCount(scope?: string): number {
    const since = nowMs() - slowMs
    let count = 0
    for (const { scope: own, isSlow, startedMs } of running) {
      if ((scope ?? own) === own && (isSlow || startedMs < since)) count += 1
    }
    return count
  }

  function placeOf({ scope, query, isHeavy }: Item, leave: Release, isExpress: boolean): LanePlace {
    const isSlow = isHeavy === true || (tookMs.get(query) ?? 0) > slowMs
    const place = { scope, query, isSlow, isExpress, startedMs: nowMs(), leave }
    running.add(place)
    return place
  }

  function release(place: LanePlace | null): void {
    if (place === null || !running.delete(place)) return
    place.leave()
    if (tookMs.size >= maxQueries) tookMs.clear()
    tookMs.set(place.query, nowMs() - place.startedMs)
  }

  return {
    push,
    take,
    /** Counts a call as running that did not wait for its turn. */
    hold: (item: Item) => placeOf(item, queue.hold(holderOf(item), 1, 1), false),
    release,
    /** Removes a waiting item before its turn. */
    remove: (item: Item) => queue.remove(holderOf(item), item),
    waitingCount: () => queue.waiting(),
  }
}

function holderOf({ scope, query }: Waiting): Holder {
  return [scope, query]
}

/** All of `slots` but one in `share`: at least one is left over, and at least one is had. */
function allButAShare(slots: number, share: number): number {
  return Math.max(1, slots - Math.max(1, Math.floor(slots / share)))
}
