import { Failure } from '../../failure.ts'
import { createWorkTurns } from '../../flow/index.ts'
import { underNamedLock, type Database } from '../../store/index.ts'

type Place = { projectId: string; environment: string }

/**
 * Releases to an environment come one after the other, in every process: each is judged against what the one before it
 * left, and none has to start again because of another.
 */
export type ReleaseTurns = { take<Value>(place: Place, work: () => Promise<Value>): Promise<Value> }

/** Each that is at work holds a connection while its questions are asked. */
const atOnce = 3

export function createReleaseTurns({
  store,
  waitMs,
  queueLength,
}: {
  store: Pick<Database, 'pool'>
  waitMs: number
  queueLength: number
}): ReleaseTurns {
  const turns = createWorkTurns({ each: 1, most: atOnce, queueLength, waitMs, late, full })
  return {
    take({ projectId, environment }, work) {
      const name = `release ${projectId} ${environment}`
      return turns.take(name, async () => {
        const worked = await underNamedLock(store, { name, waitMs }, work)
        if (worked === undefined) throw late()
        return worked.result
      })
    },
  }
}

function late(): Failure {
  return new Failure('overloaded', {
    message: 'Other releases to this environment are still being judged. Try again in a moment.',
    retryAfterSeconds: 5,
  })
}

function full(name: string): Failure {
  const environment = name.split(' ').at(-1) ?? ''
  return new Failure('overloaded', {
    message: `Too many releases wait for ${environment} already. Put what belongs together into one release.`,
    retryAfterSeconds: 5,
  })
}
