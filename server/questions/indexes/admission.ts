import { openGate, type Holder, type Release } from '../../flow/index.ts'
import { Failure } from '../../failure.ts'

/**
 * Admits questions while those inside are expected to be read in time, and refuses the rest at once. A holder of much
 * of the room is refused before one of little, and questions inside are read in turns.
 */
export type QuestionAdmission = {
  /** Counts a question from its arrival until it is released, or refuses it. */
  enter(asker: Holder): Release
  /** Reads a question in its asker's turn. The pace of reading sets how many are admitted. */
  timed<Value>(asker: Holder, work: () => Promise<Value>): Promise<Value>
}

/** The pace before the first questions are read; then a moving average, in which the newest has this share. */
const usualMs = 8
const newestShare = 0.1
/** Always admitted: one slow question must not keep all others out. */
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
  let eachMs = usualMs
  const inside = openGate({ room: () => Math.max(alwaysInside, Math.floor(waitMs / eachMs) + 1), isShared: true })
  const turns = openGate({ room: readAtOnce })
  let reading = 0
  /** When the last one was done, and how many have been read at once since then. */
  let sinceMs = 0
  let atOnce = 0

  async function read<Value>(work: () => Promise<Value>): Promise<Value> {
    // Time without questions is not part of the pace.
    if (reading === 0) sinceMs = clockMs()
    reading += 1
    atOnce = Math.max(atOnce, reading)
    try {
      return await work()
    } finally {
      const nowMs = clockMs()
      // One question alone leaves readers idle that a crowd would keep busy: it tells how long one takes, not the pace.
      const paceMs = ((nowMs - sinceMs) * Math.min(atOnce, readers)) / readers
      eachMs += newestShare * (paceMs - eachMs)
      sinceMs = nowMs
      reading -= 1
      atOnce = reading
    }
  }

  return {
    enter(asker) {
      const leave = inside.tryEnter(asker)
      if (leave === undefined) throw new Failure('overloaded', { retryAfterSeconds: 1 })
      return leave
    },
    timed: (asker, work) => turns.run(asker, () => read(work)),
  }
}
