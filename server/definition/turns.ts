import { Failure } from '../failure.ts'
import { createWorkTurns, type WorkTurns } from '../flow/index.ts'

/** Each holds a connection for as long as it takes, and those of one project would wait for each other with theirs. */
const atOnce = 2

/** Definitions of one project are put one after the other, and of all projects few at once. */
export function createDefinitionTurns({ waitMs, queueLength }: { waitMs: number; queueLength: number }): WorkTurns {
  return createWorkTurns({ each: 1, most: atOnce, queueLength, waitMs, late: busy, full: busy })
}

function busy(): Failure {
  return new Failure('overloaded', {
    message: 'Other definitions are still being put. Try again in a moment.',
    retryAfterSeconds: 5,
  })
}
