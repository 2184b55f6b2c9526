import type { Observe } from '../observe.ts'
import type { Database } from '../store/index.ts'
import { openAnswers, type Answers } from './answers.ts'
import { openQueryCallers, type QueryCallers } from './callers.ts'
import { openDeployments, type Deployments } from './deployments.ts'

/** What calls of deployed queries need, all of it in memory. */
export type Serving = { deployments: Deployments; answers: Answers; queryCallers: QueryCallers }

export async function openServing(options: {
  store: Database
  answerCacheBytes: number
  observe: Observe
  now: () => number
}): Promise<{ serving: Serving; close(): Promise<void> }> {
  const { store, observe, now } = options
  const deployments = await openDeployments({ store, observe })
  const answers = openAnswers({ maxBytes: options.answerCacheBytes, now })
  const queryCallers = openQueryCallers({ store, observe, now })
  return {
    serving: { deployments, answers, queryCallers },
    async close() {
      deployments.close()
      await queryCallers.close()
    },
  }
}
