import { createFairQueue } from '../../fair-queue.ts'
import { createShares, type Holder } from '../../fair-share.ts'
import { Failure } from '../../failure.ts'

/**
 * Lets questions in as long as those inside are expected to be read in time; refuses the rest at once. Who holds much
 * of the room is refused before who holds little, and those inside are read in turns.
 */
export type QuestionAdmission = {
  /** Counts a question from its arrival until it calls back, or refuses it. */
  enter(asker: Holder): () => void
  /** Reads a question in its asker's turn; how often one is done is what the next ones expect. */
  timed<Value>(asker: Holder, work: () => Promise<Value>): Promise<Value>
}

// Before the first ones tell. Then how often one is done, the last ones counting most.
const usualMs = 8
const newestShare = 0.1
// So few are always let in: one slow question must not shut the door behind itself.
const alwaysInside = 8
/** Enough that the encoder always has the next one, few enough that a turn comes soon. */
const readAtOnce = 8

type AdmissionOptions = {
  /** Longest expected wait of a question for its turn. */
  waitMs: number
  /** How many texts are read side by side. */
  readers: number
  clockMs?: () => number
}

export function openAdmission({
  waitMs,
  readers,
  clockMs = () => performance.now(),
}: AdmissionOptions): QuestionAdmission {
  const inside = createShares()
  const waiting = createFairQueue<() => void>()
  let reading = 0
  let eachMs = usualMs
  /** When the last one was done, and how many have been read at once since then. */
  let sinceMs = 0
  let atOnce = 0

  function hasRoom(asker: Holder): boolean {
    return inside.mayHoldMore(asker, Math.max(alwaysInside, Math.floor(waitMs / eachMs) + 1))
  }

  async function turn({ projectId, keyId }: Holder): Promise<void> {
    if (reading < readAtOnce) {
      // After a rest the time without questions says nothing.
      if (reading === 0) sinceMs = clockMs()
      reading += 1
      atOnce = Math.max(atOnce, reading)
      return
    }
    await new Promise<void>((resolve) => {
      waiting.push([projectId, keyId], resolve)
    })
  }

  return {
    enter(asker) {
      if (!hasRoom(asker)) throw new Failure('overloaded', { retryAfterSeconds: 1 })
      inside.add(asker, 1)
      let isInside = true
      return () => {
        if (isInside) inside.add(asker, -1)
        isInside = false
      }
    },
    async timed(asker, work) {
      await turn(asker)
      try {
        return await work()
      } finally {
        const nowMs = clockMs()
        // One that is alone leaves readers idle that a crowd would keep busy: it says how long one takes, not how often.
        const paceMs = ((nowMs - sinceMs) * Math.min(atOnce, readers)) / readers
        eachMs += newestShare * (paceMs - eachMs)
        sinceMs = nowMs
        // The place goes to the next one itself: who comes in this moment does not slip in before.
        const next = waiting.take()
        if (next === undefined) reading -= 1
        else next()
        atOnce = reading
      }
    },
  }
}
