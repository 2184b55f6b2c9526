import type { Observation, Observe } from '../observe.ts'
import { openDatabase, type Database, type DatabaseOptions } from './open-database.ts'

/** A database that is being opened while whoever will use it is not there yet. */
export type OpeningStore = {
  /** Ends when it is open. `observe` hears what it has to tell from now on, and what it told so far. */
  opened(observe: Observe): Promise<Database>
}

export function beginDatabase(options: Omit<DatabaseOptions, 'observe'>): OpeningStore {
  const early: Observation[] = []
  let hear: Observe = (observation) => void early.push(observation)
  const opening = openDatabase({ ...options, observe: (observation) => hear(observation) })
  // A failure reaches the caller that awaits it; until then it is handled here.
  opening.catch(() => undefined)
  return {
    opened(observe) {
      hear = observe
      for (const observation of early.splice(0)) observe(observation)
      return opening
    },
  }
}
