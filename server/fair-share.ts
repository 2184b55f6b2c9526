/** Whose work it is. `keyId` is empty where no key pays for it. */
export type Holder = { projectId: string; keyId: string }

/** How much of a room each project, and each key within it, holds. */
export type Shares = {
  /** Whether a holder may have more of a room of this size. Who holds nothing may, until twice the room is held. */
  mayHoldMore(holder: Holder, most: number): boolean
  /** A negative amount gives back. */
  add(holder: Holder, amount: number): void
}

/**
 * No project holds more than so many times what is still free, and no key more than so many times what its project
 * still may: one key alone gets more than half of the room, many get less each, and a newcomer always finds some.
 */
const shareOfFree = 2

export function createShares(): Shares {
  const projects = new Map<string, number>()
  const keys = new Map<string, number>()
  let all = 0
  return {
    mayHoldMore({ projectId, keyId }, most) {
      const ofProject = projects.get(projectId) ?? 0
      // A newcomer is let in even where others have filled all the room before it came.
      if (ofProject === 0) return all < 2 * most
      const ofKey = keys.get(keyName(projectId, keyId)) ?? 0
      const projectShare = shareOfFree * (most - all)
      return ofProject < projectShare && ofKey < shareOfFree * (Math.min(projectShare, most) - ofProject)
    },
    add({ projectId, keyId }, amount) {
      all += amount
      addTo(projects, projectId, amount)
      addTo(keys, keyName(projectId, keyId), amount)
    },
  }
}

function keyName(projectId: string, keyId: string): string {
  return `${projectId}\n${keyId}`
}

function addTo(amounts: Map<string, number>, name: string, amount: number): void {
  const sum = (amounts.get(name) ?? 0) + amount
  if (sum === 0) amounts.delete(name)
  else amounts.set(name, sum)
}
