import type { SlotsSchema } from '../../../api/slots.ts'
import { requireRole, type Caller } from '../../access/index.ts'
import { Failure } from '../../failure.ts'
import {
  answerRun,
  findQuery,
  previewQuery,
  type RunAnswer,
  type RunParts,
  type Deployments,
} from '../../queries/index.ts'
import type { QuestionIndexes } from '../indexes/open-indexes.ts'
import { routable, type QuestionPlace } from '../indexes/snapshot.ts'
import { decide, type Asking, type Decision } from './decide.ts'
import type { LanguageModel } from './model.ts'
import type { Database } from '../../store/index.ts'

export type Trial = {
  projectId: string
  environment: string
  question: string
  timeZone: string
  parameters: Record<string, unknown>
  queryName?: string | undefined
  completeness?: Asking['completeness']
  /** The answer of the trial before. */
  earlier?: Asking['earlier']
  /** A draft that takes part as if it were deployed. */
  draft?: string | undefined
  run: boolean
  signal: () => AbortSignal
}

export type Tried = {
  /** Null where there is nothing to compare the question with. */
  decision: Decision | null
  slots: SlotsSchema | null
  answer: RunAnswer | null
}

type Parts = RunParts & {
  store: Database
  deployments: Deployments
  questionIndexes: QuestionIndexes
  languageModel: LanguageModel | null
}

/** Asks as an author: what would be chosen and why, and only with `run` the rows too. Not counted as a question. */
export async function tryQuestion(app: Parts, caller: Caller, input: Trial): Promise<Tried> {
  const { projectId, environment, question, timeZone, parameters: given, queryName, signal } = input
  await requireRole(app, caller, projectId, input.draft === undefined ? 'viewer' : 'editor')
  const place: QuestionPlace = { projectId, environment, only: null }
  const draft = input.draft === undefined ? null : await findQuery(app, caller, { projectId, name: input.draft })
  if (draft === null && app.deployments.list(projectId, environment).length === 0) {
    return { decision: null, slots: null, answer: null }
  }
  const index =
    draft === null
      ? await app.questionIndexes.index(place, 'fresh')
      : await app.questionIndexes.trial(place, [routable(draft)])
  if (queryName !== undefined && !index.queries.some(({ query }) => query.name === queryName)) {
    throw new Failure('not_found', { message: `${queryName} is not deployed in ${environment}.` })
  }
  const asker = [projectId] as const
  const { completeness, earlier = null } = input
  const asking: Asking = {
    asker,
    question,
    timeZone,
    given,
    queryName,
    completeness,
    earlier,
    explain: true,
    signal: signal(),
  }
  const leave = app.questionIndexes.admission.enter(asker)
  const decision = await decide(app, index, asking).finally(leave)
  const { routing } = decision
  if (!('query' in routing)) return { decision, slots: null, answer: null }
  const live = app.deployments.find({ projectId, environment, name: routing.query })
  const slots = routing.query === draft?.name ? draft.slots : (live?.version.slots ?? null)
  if (!input.run || routing.outcome !== 'answer') return { decision, slots, answer: null }
  const { query: name, parameters } = routing
  if (name === draft?.name) {
    return {
      decision,
      slots,
      answer: await previewQuery(app, caller, { projectId, name, parameters, signal }),
    }
  }
  if (live === undefined) return { decision, slots, answer: null }
  const run = {
    ...place,
    name,
    version: live.version,
    parameters,
    caller: null,
    requestId: caller.requestId,
    entry: 'preview' as const,
    signal,
  }
  const answer = await answerRun(app, run, undefined)
  return { decision, slots, answer: 'answer' in answer ? answer : null }
}
