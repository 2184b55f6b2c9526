import type { Clock } from '../../clock.ts'
import type { ChangedQuery } from '../../queries/index.ts'
import { route } from '../../router/index.ts'
import type { QuestionIndexes } from '../indexes/open-indexes.ts'
import { routable } from '../indexes/snapshot.ts'
import { refusalOf } from './refusal.ts'

type Among = {
  projectId: string
  /** Its deployed queries take part; null: none do. */
  environment: string | null
  changed: ChangedQuery[]
  removed: string[]
}

type Asked = { question: string; parameters: Record<string, unknown>; at: number | null }

/** Reads questions as they would be read among some queries: the query that answers, and its values; or the refusal. */
export async function openReadingAmong(
  { questionIndexes, now }: { questionIndexes: Pick<QuestionIndexes, 'trial'>; now: Clock },
  { projectId, environment, changed, removed }: Among,
): Promise<(asked: Asked) => Promise<{ query: string; parameters: Record<string, unknown> }>> {
  const place = { projectId, environment: environment ?? '', only: environment === null ? [] : null }
  const index = await questionIndexes.trial(place, changed.map(routable), removed)
  return async ({ question, parameters: given, at }) => {
    const startedMs = performance.now()
    const routing = await route(index, question, { timeZone: 'UTC', given, now: new Date(at ?? now()) })
    if (routing.outcome === 'answer') return routing
    const decision = { routing, decidedBy: 'router' as const, elapsedMs: performance.now() - startedMs }
    throw refusalOf(decision, { slots: null, explain: false })
  }
}
