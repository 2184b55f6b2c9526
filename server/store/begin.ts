import type { Observation, Observe } from '../observe.ts'
import { openDatabase, type Database, type DatabaseOptions } from './open-database.ts'

/** A database that is being opened while whoever will use it is not there yet. */
export type OpeningStore = {
  /** Ends when it is open. `observe` hears what it has to tell from now on, and what it told so far. */
  opened(observe: Observe): Promise<Database>
}

export function beginDatabase(options: Omit<DatabaseOptions, 'observe'>): OpeningStore {
  const told: Observation[] = []
  let hear: Observe = (observation) => void told.push(observation)
  const opening = openDatabase({ ...options, observe: (observation) => hear(observation) })
  // Whoever asks for it is told; until then it is nobody's error.
  opening.catch(() => undefined)
  return {
    opened(observe) {
      hear = observe
      for (const observation of told.splice(0)) observe(observation)
      return opening
    },
  }
}
