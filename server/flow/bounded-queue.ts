import type { Backlog } from './batch-writer.ts'

export type BoundedQueue<Item> = Backlog<Item> & {
  /** False when there is no room. */
  add(item: Item): boolean
}

/** A backlog in the order of arrival. What comes to a full one is turned away; what comes back pushes the oldest out. */
export function openBoundedQueue<Item>(maxItems: number): BoundedQueue<Item> {
  let waiting: Item[] = []
  return {
    size: () => waiting.length,
    add(item) {
      if (waiting.length >= maxItems) return false
      waiting.push(item)
      return true
    },
    take: (count) => waiting.splice(0, count),
    putBack(items) {
      const all = [...items, ...waiting]
      waiting = all.slice(Math.max(0, all.length - maxItems))
      return all.length - waiting.length
    },
  }
}
