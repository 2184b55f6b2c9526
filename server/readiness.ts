import type { QueryEngine } from './engine/index.ts'
import type { QuestionIndexes } from './questions/index.ts'
import type { Database } from './store/index.ts'

/**
 * Parts that must work before calls are sent here, each by name. The service is ready also where an optional part
 * fails.
 */
export type Readiness = Record<string, { ok: boolean; optional?: true; message?: string }>

export async function checkDatabase(store: Database): Promise<Readiness[string]> {
  try {
    await store.ping()
    return { ok: true }
  } catch {
    return { ok: false, message: 'PostgreSQL does not answer.' }
  }
}

export function checkExecutors(engine: QueryEngine): Readiness[string] {
  const { ready, executors } = engine.health()
  return ready ? { ok: true } : { ok: false, message: `None of ${executors.length} executors answers.` }
}

/** A new installation's example is what its first caller tries: scripts that wait for `/readyz` go on to ask it. */
export function checkExample({ isPrepared }: { isPrepared: boolean }): Readiness[string] {
  return isPrepared ? { ok: true } : { ok: false, message: 'The example project is being set up.' }
}

/** Direct calls do without it, so it is optional. */
export function checkQuestions(questionIndexes: QuestionIndexes): Readiness[string] {
  const { encoder } = questionIndexes.health()
  if (encoder !== 'failed') return { ok: true, optional: true }
  return { ok: false, optional: true, message: 'The question encoder does not open; the log says why.' }
}

/** Queries over data that is here are answered without it, so it is optional. */
export function checkObjects(isReached: boolean): Readiness[string] {
  if (isReached) return { ok: true, optional: true }
  const message =
    'The object storage did not answer when it was last asked: what is cached here is served, writes fail.'
  return { ok: false, optional: true, message }
}

/** Projects on DuckDB do without it, so it is optional. */
export function checkTrino(isReached: boolean): Readiness[string] {
  if (isReached) return { ok: true, optional: true }
  return { ok: false, optional: true, message: 'Trino does not answer: queries of projects that are on it fail.' }
}

export function checkRedis(isShared: boolean): Readiness[string] {
  if (isShared) return { ok: true, optional: true }
  return { ok: false, optional: true, message: 'Redis does not answer: each process limits the calls it gets itself.' }
}
