import type { QueryEngine } from './data/index.ts'
import type { Router } from './questions/index.ts'
import type { Database } from './store/index.ts'

/** What must work before calls are sent here, each by name. What is optional may fail and the service is ready still. */
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

/** Direct calls do without it, so it is optional. */
export function checkQuestions(router: Router): Readiness[string] {
  const { encoder } = router.health()
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
