import { isDeepStrictEqual } from 'node:util'
import { type KeyCaller, permittedQueries, resolveCall, withFixedParameters } from '../../access/index.ts'
import type { ReadFormat } from '../../engine/index.ts'
import { Failure } from '../../failure.ts'
import { languageOf } from '../../language/index.ts'
import {
  answerRun,
  checkSlots,
  limitRun,
  tellRefusal,
  versionFor,
  type RowsAnswer,
  type CallParts,
  type LiveVersion,
  type Run,
} from '../../queries/index.ts'
import { type Earlier, type Explanation, route as routeQuestion } from '../../router/index.ts'
import type { Database, QuestionOutcome } from '../../store/index.ts'
import type { QuestionIndexes } from '../indexes/open-indexes.ts'
import type { QuestionPlace } from '../indexes/snapshot.ts'
import { decide, type Asking, type Decision } from './decide.ts'
import type { QuestionLog } from './log.ts'
import type { LanguageModel } from './model.ts'
import { refusalOf } from './refusal.ts'

export type Question = {
  question: string
  projectId: string
  environment?: string | undefined
  /** Says which query is meant, after a refusal that named it. */
  queryName?: string | undefined
  parameters: Readonly<Record<string, unknown>>
  timeZone: string
  explain: boolean
  completeness?: Asking['completeness']
  /** The request of the question that this one goes on from. */
  follows?: string | undefined
  /** Rows in parts and in this format; without it, the whole result as JSON. */
  streamAs?: ReadFormat | undefined
  fresh: boolean
  signal: () => AbortSignal
}

/** The query that a question was routed to, and its rows. */
export type QuestionAnswer = { decision: Decision; answer: RowsAnswer }

type Parts = CallParts & {
  store: Database
  questionIndexes: QuestionIndexes
  languageModel: LanguageModel | null
  questionLog: QuestionLog
}

/**
 * Answers a question: lets it in unless too many are being read, finds the query that answers it, counts the call
 * against that query's own limit, and runs it. How it ended is told once.
 */
export async function ask(app: Parts, caller: KeyCaller, input: Question): Promise<QuestionAnswer> {
  const startedMs = performance.now()
  let place: { projectId: string; environment: string } | null = null
  let decision: Decision | null = null
  try {
    place = resolveCall(caller.key, input, app.deployments)
    const routed = await admitAndRoute(app, caller, { input, place })
    decision = routed.decision
    const { version } = routed
    const { routing } = decision
    if (routing.outcome !== 'answer' || version === null) {
      const hidesValues = Object.keys(caller.key.fixedParameters).length > 0
      throw refusalOf(decision, { slots: version?.slots ?? null, explain: input.explain, hidesValues })
    }
    const parameters = parametersOf(caller, input, { routing, version })
    checkFound(input, { decision, version, parameters })
    const { confidence, unexpressed, verdict } = routing.explanation
    const run: Run = {
      ...place,
      name: routing.query,
      version,
      parameters,
      caller,
      requestId: caller.requestId,
      entry: 'question',
      question: { text: input.question, confidence, verdict },
      caveat: unexpressed.length > 0 ? 'unexpressed' : undefined,
      routeMs: performance.now() - startedMs,
      fresh: input.fresh,
      signal: input.signal,
    }
    await limitRun(app, caller, run)
    const answer = await answerRun(app, run, input.streamAs)
    const answered: Noted = { input, place, decision, outcome: 'answered', parameters }
    const logAnswered = (): void => note(app, caller, answered)
    if ('chunks' in answer) return { decision, answer: { ...answer, chunks: unlessFailed(answer.chunks, logAnswered) } }
    logAnswered()
    return { decision, answer }
  } catch (error) {
    tellRefused(app, caller, { input, place, decision, error, elapsedMs: performance.now() - startedMs })
    throw error
  }
}

/** Hands chunks on, and calls `ended` after the last one or when the reader leaves, but not after an error. */
async function* unlessFailed<Chunk>(chunks: AsyncIterable<Chunk>, ended: () => void): AsyncGenerator<Chunk> {
  let hasFailed = false
  try {
    yield* chunks
  } catch (error) {
    hasFailed = true
    throw error
  } finally {
    if (!hasFailed) ended()
  }
}

/**
 * Only as many questions are let in as are read in time, those of a busy key or project refused first; they are refused
 * before anything is done for them.
 */
async function admitAndRoute(
  app: Parts,
  caller: KeyCaller,
  { input, place }: { input: Question; place: { projectId: string; environment: string } },
): Promise<Routed> {
  const asker = [place.projectId, caller.key.id] as const
  const leave = app.questionIndexes.admission.enter(asker)
  try {
    const earlier =
      input.follows === undefined ? null : await findEarlier(app, caller, { place, requestId: input.follows })
    const asking = { ...input, asker, given: givenOf(caller, input), earlier, signal: input.signal() }
    const release = app.deployments.releaseFor(place, caller.key.id)
    return await route(app, { ...place, only: onlyOf(app, caller, place), release }, asking)
  } finally {
    leave()
  }
}

/** Names of the deployed queries that a key is limited to; null for a key without such a limit. */
function onlyOf(
  app: Parts,
  { key }: KeyCaller,
  place: { projectId: string; environment: string },
): readonly string[] | null {
  const names = permittedQueries(key.permissions, place)
  return names?.filter((name) => app.deployments.has(place.projectId, place.environment, name)) ?? null
}

type Routed = { decision: Decision; version: LiveVersion | null }

/** Routes, and looks once more where the query that answers has gone since its index was built. */
async function route(app: Parts, place: QuestionPlace, asking: Asking): Promise<Routed> {
  const { queryName } = asking
  const isEmpty = (place.only ?? app.deployments.list(place.projectId, place.environment)).length === 0
  if (isEmpty) return { decision: nothingDeployed, version: null }
  for (const fresh of [undefined, 'fresh'] as const) {
    const index = await app.questionIndexes.index(place, fresh)
    if (queryName !== undefined && !index.queries.some(({ query }) => query.name === queryName)) continue
    const decision = await refuseOutOfReach(app, { place, asking }, await decide(app, index, asking))
    const { routing } = decision
    if (!('query' in routing)) return { decision, version: null }
    const live = app.deployments.find({ ...place, name: routing.query })
    if (live !== undefined) return { decision, version: versionFor(live, asking.asker[1] ?? '') }
  }
  throw new Failure('overloaded', { retryAfterSeconds: 1 })
}

/**
 * To a key that is limited to few queries any question looks like one of theirs. One that a query beyond its reach
 * would answer is refused, as any other that has no answer: the refusal is the same and names nothing.
 */
async function refuseOutOfReach(
  app: Parts,
  { place, asking }: { place: QuestionPlace; asking: Asking },
  decision: Decision,
): Promise<Decision> {
  const { routing, decidedBy } = decision
  if (place.only === null || decidedBy === 'caller') return decision
  // Those without any answer look the same as those whose answer is out of reach.
  if (routing.outcome === 'no_match' && routing.because !== 'opposed') return { ...decision, isRedacted: true }
  if (!('query' in routing)) return decision
  const whole = await app.questionIndexes.index({ ...place, only: null })
  const options = { timeZone: asking.timeZone, now: new Date(app.now()) }
  const other = await app.questionIndexes.admission.timed(asking.asker, () =>
    routeQuestion(whole, asking.question, options),
  )
  if (!('query' in other) || place.only.includes(other.query)) return decision
  const because = languageOf(asking.question, whole.linker.mayBeTypo) === null ? 'not_confident' : 'other_language'
  const { explanation } = routing
  return { ...decision, isRedacted: true, routing: { outcome: 'no_match', because, explanation } }
}

const noExplanation: Explanation = {
  candidates: [],
  matchedExample: null,
  readAs: null,
  parameters: {},
  sources: {},
  period: null,
  unused: [],
  unexpressed: [],
  match: null,
  ahead: null,
  confidence: null,
  threshold: 0,
  lead: null,
  margin: null,
  minMargin: 0,
  encoder: 'neural',
  verdict: null,
}
const nothingDeployed: Decision = {
  routing: { outcome: 'no_match', because: 'nothing_deployed', explanation: noExplanation },
  decidedBy: 'router',
  elapsedMs: 0,
}

/** Values that no question changes: the caller's parameters and those that the key fixes. */
function givenOf({ key }: KeyCaller, { parameters }: Question): Record<string, unknown> {
  return { ...parameters, ...key.fixedParameters }
}

/** The slots of the run. A question that speaks of another value than the key fixes is refused, not bent. */
function parametersOf(
  { key }: KeyCaller,
  { parameters }: Question,
  { routing, version }: { routing: Extract<Decision['routing'], { outcome: 'answer' }>; version: LiveVersion },
): Record<string, unknown> {
  const { names } = version.compiled()
  const isFixed = (name: string): boolean => Object.hasOwn(key.fixedParameters, name)
  const { explanation } = routing
  const clash = [...names].find(
    (name) =>
      isFixed(name) &&
      Object.hasOwn(explanation.parameters, name) &&
      !isDeepStrictEqual(explanation.parameters[name], key.fixedParameters[name]),
  )
  if (clash !== undefined) {
    throw new Failure('invalid_query', {
      reason: 'invalid_slots',
      message: `The API key fixes ${clash}, and the question asks for another value.`,
      details: [{ field: clash, message: 'is fixed by the API key' }],
    })
  }
  const found = Object.entries(routing.parameters).filter(([name]) => !isFixed(name))
  return withFixedParameters(key, { ...Object.fromEntries(found), ...parameters }, names)
}

/** A value that the router found and the schema refuses is the question's gap, not a malformed call. */
function checkFound(
  { parameters: given, explain }: Question,
  { decision, version, parameters }: { decision: Decision; version: LiveVersion; parameters: Record<string, unknown> },
): void {
  const checked = checkSlots(version.compiled(), parameters)
  if (!('details' in checked)) return
  const details = checked.details.filter(({ field }) => !Object.hasOwn(given, field.split('.')[0] ?? ''))
  const missing = [...new Set(details.map(({ field }) => field.split('.')[0] ?? ''))]
  if (missing.length === 0 || missing.length < checked.details.length) return
  const { routing } = decision
  if (routing.outcome !== 'answer') return
  const good = Object.fromEntries(Object.entries(parameters).filter(([name]) => !missing.includes(name)))
  const gaps = details.map(({ field, message }) => ({ slot: field.split('.')[0] ?? '', message }))
  const gap = { ...routing, outcome: 'missing_slots' as const, parameters: good, missing, gaps }
  throw refusalOf({ ...decision, routing: gap }, { slots: version.slots, explain })
}

type Noted = {
  input: Question
  place: { projectId: string; environment: string }
  decision: Decision
  outcome: QuestionOutcome
  parameters: Record<string, unknown>
}

function note(app: Parts, caller: KeyCaller, { input, place, decision, outcome, parameters }: Noted): void {
  const { explanation } = decision.routing
  app.questionLog.note({
    ...place,
    text: input.question,
    outcome,
    query: 'query' in decision.routing ? decision.routing.query : (explanation.candidates[0]?.name ?? null),
    parameters,
    confidence: explanation.confidence,
    keyId: caller.key.id,
    browserTokenId: caller.browserTokenId,
    requestId: caller.requestId,
  })
}

type Refusal = {
  input: Question
  place: { projectId: string; environment: string } | null
  decision: Decision | null
  error: unknown
  elapsedMs: number
}

/** A question that found nothing to run is a call all the same, and one to learn from. */
function tellRefused(app: Parts, caller: KeyCaller, { input, place, decision, error, elapsedMs }: Refusal): void {
  if (place !== null && decision !== null && error instanceof Failure && error.code === 'unanswerable') {
    const outcome = error.reason as QuestionOutcome
    note(app, caller, { input, place, decision, outcome, parameters: decision.routing.explanation.parameters })
  }
  const { confidence = null, verdict = null } = decision?.routing.explanation ?? {}
  tellRefusal(app, caller, {
    entry: 'question',
    ...(place ?? { projectId: input.projectId, environment: input.environment }),
    name: decision !== null && 'query' in decision.routing ? decision.routing.query : null,
    question: { text: input.question, confidence, verdict },
    routeMs: elapsedMs,
    error,
  })
}

/**
 * The answer to an earlier question of the same key, or the same token of a page, in the same place. The log of
 * questions is all that is remembered: what it does not keep, nobody can go on from.
 */
export async function findEarlier(
  app: { store: Database; questionLog: QuestionLog },
  { key, browserTokenId }: KeyCaller,
  { place, requestId }: { place: { projectId: string; environment: string }; requestId: string },
): Promise<Earlier> {
  await app.questionLog.flush()
  const row = await app.store.db
    .selectFrom('questions')
    .select(['query', 'parameters'])
    .where('projectId', '=', place.projectId)
    .where('environment', '=', place.environment)
    .where('requestId', '=', requestId)
    .where('keyId', '=', key.id)
    .where('browserTokenId', 'is not distinct from', browserTokenId)
    .where('outcome', '=', 'answered')
    .executeTakeFirst()
  if (row === undefined || row.query === null || row.parameters === null || !isOwn(key, row.parameters)) {
    throw new Failure('not_found', {
      message:
        'There is no answered question of this key with that request id that can be gone on from. Ask the whole question.',
    })
  }
  return { query: row.query, parameters: row.parameters }
}

/** Values that were fixed since for the key: what was asked without them is not to be had any longer. */
function isOwn({ fixedParameters }: KeyCaller['key'], asked: Record<string, unknown>): boolean {
  return Object.entries(fixedParameters).every(
    ([name, value]) => !Object.hasOwn(asked, name) || isDeepStrictEqual(asked[name], value),
  )
}
