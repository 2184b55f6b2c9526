import type { QuestionIndexes } from '../indexes/open-indexes.ts'
import { Failure } from '../../failure.ts'
import type { Holder } from '../../flow/index.ts'
import type { LanguageModel } from './model.ts'
import {
  route,
  routeFollowUp,
  routePinned,
  type Earlier,
  type ProjectIndex,
  type RouteOptions,
  type Routing,
} from '../../router/index.ts'
import type { Clock } from '../../clock.ts'

/** The decision on a question. It was settled by the router, the optional model, or a caller who named the query. */
export type Decision = {
  routing: Routing
  decidedBy: 'router' | 'model' | 'caller'
  elapsedMs: number
  /** Slots that a follow-up changed of the question before it; null where it stands on its own. */
  changed?: string[] | null
  /** How sure the router was and what it read is not for who asked: it would tell what others may ask. */
  isRedacted?: true
}

export type Asking = {
  asker: Holder
  question: string
  timeZone: string
  /** Values that stand as they are. */
  given: Record<string, unknown>
  queryName?: string | undefined
  completeness?: RouteOptions['completeness']
  explain?: boolean | undefined
  /** The answer to the question before this one. */
  earlier?: Earlier | null
  signal?: AbortSignal | undefined
}

/** Routes a question in an index; where the router is of two minds the model may help. */
export async function decide(
  app: { now: Clock; languageModel: LanguageModel | null; questionIndexes: QuestionIndexes },
  index: ProjectIndex,
  asking: Asking,
): Promise<Decision> {
  const startedMs = performance.now()
  const { question, timeZone, given, queryName: name, completeness, explain } = asking
  const options = { timeZone, given, completeness, explain, now: new Date(app.now()) }
  const done = (routing: Routing, decidedBy: Decision['decidedBy']): Decision => ({
    routing,
    decidedBy,
    elapsedMs: performance.now() - startedMs,
  })
  const { earlier = null } = asking
  if (earlier !== null && name === undefined) {
    const { routing, changed } = await app.questionIndexes.admission.timed(asking.asker, () =>
      routeAfter(index, question, { ...options, earlier }),
    )
    return { ...done(routing, 'router'), changed }
  }
  const routing = await app.questionIndexes.admission.timed(asking.asker, () =>
    name === undefined ? route(index, question, options) : routePinned(index, question, { ...options, name }),
  )
  const helped = await app.languageModel?.help(index, { ...asking, now: options.now }, routing)
  if (helped !== undefined && helped !== null) return done(helped, 'model')
  return done(routing, name === undefined ? 'router' : 'caller')
}

/** A question that stands on its own starts anew; one that does not changes the one before it. */
async function routeAfter(
  index: ProjectIndex,
  question: string,
  { earlier, ...options }: RouteOptions & { earlier: Earlier },
): Promise<{ routing: Routing; changed: string[] | null }> {
  const following = await routeFollowUp(index, question, { ...options, earlier })
  if (following?.isFragment === true) return following
  const own = await route(index, question, options)
  const standsAlone = !['no_match', 'unexpressed', 'unsure'].includes(own.outcome)
  return standsAlone || following === null ? { routing: own, changed: null } : following
}

type Wish = { strict: boolean; partial: boolean; parameters: Record<string, unknown> }

/**
 * The caller's wish for a question that is not answered whole. One who gives values has been told what the question
 * lacks and means the query all the same: it answers, and says what it leaves out.
 */
export function completenessOf({ strict, partial, parameters }: Wish): Asking['completeness'] {
  if (strict && partial) {
    throw new Failure('invalid_query', {
      reason: 'invalid_field',
      message: 'strict refuses what partial would answer: give one of them.',
      details: [{ field: 'partial', message: 'cannot be given together with strict' }],
    })
  }
  if (strict) return 'strict'
  return partial || Object.keys(parameters).length > 0 ? 'partial' : undefined
}
