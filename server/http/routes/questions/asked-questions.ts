import { z } from 'zod'
import { pageQuery } from '../../../../api/envelope.ts'
import {
  groupFilter,
  loggedQuestion,
  questionFilter,
  questionGroup,
  questionSettings,
  resolvedQuestions,
  resolveQuestions,
  triedQuestion,
  tryQuestion,
} from '../../../../api/questions.ts'
import type { App } from '../../../app.ts'
import * as questions from '../../../questions/index.ts'
import { runRefusals } from '../../answer/answers.ts'
import { untilGone } from '../../answer/gone.ts'
import type { Http } from '../../request/http.ts'
import { aroundRows, sendBytes } from '../../answer/query-answer.ts'
import { asItIs, one, operations, page, sent, shortList } from '../operations.ts'
import { wireCase } from './evaluations.ts'
import { wireQuery } from '../queries/queries.ts'

const path = '/v1/projects/:project_id/questions'
const refused = ['no_match', 'ambiguous', 'missing_slots', 'unexpressed', 'unsure'] as const

export function serveAskedQuestions(http: Http, app: App): void {
  const { get, post } = operations(http, app, 'questions')
  get(
    path,
    {
      summary: 'What was asked, and what became of it; newest first',
      query: z.strictObject({ ...questionFilter, ...pageQuery }),
      answer: page(loggedQuestion),
    },
    (app, caller, { outcome, ...filter }) => {
      const outcomes = outcome === 'refused' ? [...refused] : outcome === undefined ? undefined : [outcome]
      return questions.listQuestions(app, caller, { ...filter, outcomes })
    },
  )
  get(
    `${path}/unanswered`,
    {
      summary: 'What was not answered, in groups of about the same question; asked most first',
      query: groupFilter,
      answer: shortList(questionGroup),
    },
    questions.groupQuestions,
  )
  post(
    `${path}/resolve`,
    {
      summary: 'Make examples, evaluation cases or a draft of questions that were asked',
      body: resolveQuestions,
      answer: asItIs(resolvedQuestions),
    },
    async (app, caller, input) => {
      const { resolved, query, cases } = await questions.resolveQuestions(app, caller, input)
      return { resolved, query: query === null ? null : await wireQuery(app, query), evaluations: cases.map(wireCase) }
    },
  )
}

export function serveQuestionSettings(http: Http, app: App): void {
  const { get, put } = operations(http, app, 'questions')
  get(
    `${path}/settings`,
    { summary: 'Whether and how long questions are kept', answer: one(questionSettings) },
    (app, caller, { projectId }) => questions.findQuestionSettings(app, caller, projectId),
  )
  put(
    `${path}/settings`,
    {
      summary: 'Say whether and how long questions are kept; off removes what there is',
      body: questionSettings,
      answer: one(questionSettings),
    },
    async (app, caller, input) => {
      await questions.changeQuestionSettings(app, caller, input)
      return input
    },
  )
}

export function serveTrials(http: Http, app: App): void {
  operations(http, app, 'questions').post(
    '/v1/projects/:project_id/ask',
    {
      summary: 'Ask as an author: what would be chosen and why',
      body: tryQuestion,
      answer: sent(triedQuestion),
      refusals: runRefusals,
    },
    async (app, caller, { explain, follows, ...rest }, { request, reply }) => {
      const { projectId } = rest
      const tried = await questions.tryQuestion(app, caller, {
        ...rest,
        earlier: follows === undefined ? null : { query: follows.queryName, parameters: follows.parameters },
        completeness: questions.completenessOf(request.body as z.output<typeof tryQuestion>),
        signal: () => untilGone(reply),
      })
      const wire = wireTried(tried, explain)
      if (tried.answer === null) return reply.send(wire)
      const { answer, parameters, chart, unknown } = tried.answer
      const { rows, columns, rowCount, truncated, elapsedMs, version, asOf } = answer
      const counts = { row_count: rowCount, truncated, execution_time_ms: elapsedMs, version, as_of: asOf, columns }
      const body = aroundRows(rows, { ...wire, parameters, ...counts, ...(chart !== null && { chart }), ...unknown })
      return sendBytes(app, reply, { projectId, body })
    },
  )
}

function wireTried({ decision, slots }: questions.Tried, explain: boolean): z.output<typeof triedQuestion> {
  if (decision === null) {
    const message = 'No query is deployed there.'
    return {
      outcome: 'no_match',
      message,
      query_used: null,
      parameters: {},
      missing: [],
      unexpressed: [],
      schema: null,
      candidates: [],
    }
  }
  const { routing } = decision
  const missing = routing.outcome === 'missing_slots' ? routing.missing : []
  return {
    outcome: routing.outcome === 'answer' ? 'answered' : routing.outcome,
    message: routing.outcome === 'answer' ? null : questions.refusalOf(decision, { slots, explain: false }).message,
    query_used: 'query' in routing ? routing.query : null,
    parameters: 'query' in routing ? routing.parameters : {},
    missing,
    unexpressed: routing.explanation.unexpressed,
    schema: missing.length === 0 ? null : questions.schemaOf(slots, missing),
    candidates: questions.candidatesOf(routing.explanation),
    ...(decision.changed !== undefined && { follows: { changed: decision.changed } }),
    ...(explain && { routing: questions.wireRouting(decision) }),
  }
}
