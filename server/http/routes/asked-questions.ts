import { z } from 'zod'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
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
} from '../../../api/questions.ts'
import type { App } from '../../app.ts'
import * as questions from '../../questions/index.ts'
import { refusals, runRefusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import { untilGone } from '../answer/gone.ts'
import type { Http } from '../request/http.ts'
import { aroundRows, sendBytes } from '../answer/query-answer.ts'
import { wireCase } from './evaluations.ts'
import { wireQuery } from './queries.ts'

const tags = ['questions']
const ofProject = z.object({ project_id: z.string() })
const path = '/v1/projects/:project_id/questions'
const refused = ['no_match', 'ambiguous', 'missing_slots', 'unexpressed'] as const

export function serveAskedQuestions(http: Http, app: App): void {
  http.get(
    path,
    {
      schema: {
        tags,
        summary: 'What was asked, and what became of it; newest first',
        params: ofProject,
        querystring: z.strictObject({ ...questionFilter, ...pageQuery }),
        response: { 200: pageOf(loggedQuestion), ...refusals },
      },
    },
    async (request) => {
      const { outcome, ...filter } = request.query
      const outcomes = outcome === 'refused' ? [...refused] : outcome === undefined ? undefined : [outcome]
      const input = { projectId: request.params.project_id, ...filter, outcomes }
      const page = await questions.listQuestions(app, callerOf(request), input)
      return { data: page.items.map(wireQuestion), next_cursor: page.nextCursor }
    },
  )

  http.get(
    `${path}/unanswered`,
    {
      schema: {
        tags,
        summary: 'What was not answered, in groups of about the same question; asked most first',
        params: ofProject,
        querystring: groupFilter,
        response: { 200: z.object({ data: z.array(questionGroup), next_cursor: z.null() }), ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.query }
      const groups = await questions.groupQuestions(app, callerOf(request), input)
      return { data: groups.map(wireGroup), next_cursor: null }
    },
  )

  http.post(
    `${path}/resolve`,
    {
      schema: {
        tags,
        summary: 'Make examples, evaluation cases or a draft of questions that were asked',
        params: ofProject,
        body: resolveQuestions,
        response: { 200: resolvedQuestions, ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.body }
      const { resolved, query, cases } = await questions.resolveQuestions(app, callerOf(request), input)
      return { resolved, query: query === null ? null : wireQuery(query), evaluations: cases.map(wireCase) }
    },
  )
}

export function serveQuestionSettings(http: Http, app: App): void {
  http.get(
    `${path}/settings`,
    {
      schema: {
        tags,
        summary: 'Whether and how long questions are kept',
        params: ofProject,
        response: { 200: questionSettings, ...refusals },
      },
    },
    async (request) => {
      const found = await questions.findQuestionSettings(app, callerOf(request), request.params.project_id)
      return { log: found.log, retention_days: found.retentionDays, min_confidence: found.minConfidence }
    },
  )

  http.put(
    `${path}/settings`,
    {
      schema: {
        tags,
        summary: 'Say whether and how long questions are kept; off removes what there is',
        params: ofProject,
        body: questionSettings,
        response: { 200: questionSettings, ...refusals },
      },
    },
    async (request) => {
      const { log, retention_days: retentionDays, min_confidence: minConfidence } = request.body
      const input = { projectId: request.params.project_id, log, retentionDays, minConfidence }
      await questions.changeQuestionSettings(app, callerOf(request), input)
      return request.body
    },
  )
}

export function serveTrials(http: Http, app: App): void {
  http.post(
    '/v1/projects/:project_id/ask',
    {
      schema: {
        tags,
        summary: 'Ask as an author: what would be chosen and why',
        params: ofProject,
        body: tryQuestion,
        response: { 200: triedQuestion, ...runRefusals },
      },
    },
    async (request, reply) => {
      const { query_name: queryName, time_zone: timeZone, explain, follows, ...rest } = request.body
      const input = {
        projectId: request.params.project_id,
        queryName,
        timeZone,
        earlier: follows === undefined ? null : { query: follows.query_name, parameters: follows.parameters },
        completeness: questions.completenessOf(request.body),
        ...rest,
        signal: () => untilGone(reply),
      }
      const tried = await questions.tryQuestion(app, callerOf(request), input)
      const wire = wireTried(tried, explain)
      if (tried.answer === null) return wire
      const { answer, parameters, chart } = tried.answer
      const { rows, columns, rowCount, truncated, elapsedMs, version } = answer
      const counts = { row_count: rowCount, truncated, execution_time_ms: elapsedMs, version, columns }
      return sendBytes(app, reply, {
        projectId: request.params.project_id,
        body: aroundRows(rows, { ...wire, parameters, ...counts, ...(chart !== null && { chart }) }),
      })
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
    ...(decision.changed !== undefined && decision.changed !== null && { follows: { changed: decision.changed } }),
    ...(explain && { routing: questions.wireRouting(decision) }),
  }
}

function wireGroup({ lastAt, ...group }: questions.QuestionGroup): z.output<typeof questionGroup> {
  return { ...group, last_at: lastAt.toISOString() }
}

function wireQuestion(question: questions.LoggedQuestion): z.output<typeof loggedQuestion> {
  const { keyId, requestId, at, ...rest } = question
  return { ...rest, at: at.toISOString(), key_id: keyId, request_id: requestId }
}
