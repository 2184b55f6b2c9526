/** For an `LRUCache` of at most so many entries. Its own `max` lays out the room for all of them when it is opened. */
export function upTo(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 }
}
