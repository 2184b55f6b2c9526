import { Failure } from '../failure.ts'
import { createWorkTurns, type WorkTurns } from '../flow/index.ts'

/** In one process; each holds both engines for minutes. */
const atOnce = 2

export function createEngineMoveTurns({ waitMs, queueLength }: { waitMs: number; queueLength: number }): WorkTurns {
  return createWorkTurns({ each: 1, most: atOnce, queueLength, waitMs, late: busy, full: busy })
}

function busy(): Failure {
  return new Failure('overloaded', {
    message: 'Other moves between engines are still being checked. Try again in a minute.',
    retryAfterSeconds: 60,
  })
}
