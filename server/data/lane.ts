/** How far into a queue is looked for what may run or go along: it may be thousands long. */
const lookedAt = 64

/**
 * Who runs next. Work waits per scope and the scopes take turns, so a scope with a thousand waiting calls delays
 * another by one call; and no scope holds every slot, so its slow calls leave room for others' fast ones.
 */
export function createLane<Item>({ queueLength, slots }: { queueLength: number; slots: number }) {
  const slotsPerScope = Math.max(1, slots - Math.max(1, Math.floor(slots / 4)))
  const waiting = new Map<string, Item[]>()
  const running = new Map<string, number>()
  let waitingCount = 0

  /** False when the queue is full. */
  function push(scope: string, item: Item): boolean {
    if (waitingCount >= queueLength) return false
    const queue = waiting.get(scope)
    if (queue === undefined) waiting.set(scope, [item])
    else queue.push(item)
    waitingCount += 1
    return true
  }

  /** The next item that may run, of a scope that may run one more; its scope goes to the end of the round. */
  function take(mayRun: (item: Item) => boolean): Item | undefined {
    for (const [scope, queue] of waiting) {
      if ((running.get(scope) ?? 0) >= slotsPerScope) continue
      const index = queue.findIndex((item, at) => at === lookedAt || mayRun(item))
      if (index === -1 || index === lookedAt) continue
      const [item] = queue.splice(index, 1)
      waiting.delete(scope)
      if (queue.length > 0) waiting.set(scope, queue)
      if (item === undefined) continue
      waitingCount -= 1
      running.set(scope, (running.get(scope) ?? 0) + 1)
      return item
    }
    return undefined
  }

  /** Items that can go along with one of `scope` that was just taken; they need no turn of their own. */
  function takeAlike(scope: string, isAlike: (item: Item) => boolean, most: number): Item[] {
    const queue = waiting.get(scope)
    const taken: Item[] = []
    if (queue === undefined) return taken
    const left: Item[] = []
    for (const [index, item] of queue.entries()) {
      if (taken.length === most || index === lookedAt) {
        left.push(...queue.slice(index))
        break
      }
      if (isAlike(item)) taken.push(item)
      else left.push(item)
    }
    if (taken.length === 0) return taken
    waitingCount -= taken.length
    // In place: the scope keeps its turn.
    queue.splice(0, queue.length, ...left)
    if (queue.length === 0) waiting.delete(scope)
    return taken
  }

  /** Counts one more as running: what went along and now goes by itself. */
  function hold(scope: string): void {
    running.set(scope, (running.get(scope) ?? 0) + 1)
  }

  function release(scope: string): void {
    const left = (running.get(scope) ?? 1) - 1
    if (left <= 0) running.delete(scope)
    else running.set(scope, left)
  }

  /** Takes a waiting item out before its turn. */
  function remove(scope: string, item: Item): boolean {
    const queue = waiting.get(scope)
    const index = queue?.indexOf(item) ?? -1
    if (queue === undefined || index === -1) return false
    queue.splice(index, 1)
    if (queue.length === 0) waiting.delete(scope)
    waitingCount -= 1
    return true
  }

  return { push, take, takeAlike, hold, release, remove, waitingCount: () => waitingCount }
}
