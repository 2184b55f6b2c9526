/** Runs work in the order it came, so many at once. */
export type Turns = {
  take<Value>(work: () => Promise<Value>): Promise<Value>
  /** Again while there is something to do, each time in a turn of its own: who never ends lets the others in between. */
  repeat(isWanted: () => boolean, work: () => Promise<void>): Promise<void>
  waiting(): number
}

export function openTurns(atOnce: number): Turns {
  const queue: Array<() => void> = []
  let running = 0
  const take: Turns['take'] = async (work) => {
    if (running < atOnce) running += 1
    else await new Promise<void>((resolve) => void queue.push(resolve))
    try {
      return await work()
    } finally {
      // The place goes to the next one itself: who comes in this moment does not slip in before.
      const next = queue.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
  return {
    take,
    async repeat(isWanted, work) {
      while (isWanted()) await take(work)
    },
    waiting: () => queue.length,
  }
}
