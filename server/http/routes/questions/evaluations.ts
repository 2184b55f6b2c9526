import { z } from 'zod'
import { pageQuery } from '../../../../api/envelope.ts'
import {
  evaluation,
  evaluationRun,
  evaluationRunEntry,
  newEvaluation,
  runEvaluations,
} from '../../../../api/questions.ts'
import { toWire } from '../../../../api/wire-codec.ts'
import type { App } from '../../../app.ts'
import * as questions from '../../../questions/index.ts'
import type { Http } from '../../request/http.ts'
import { made, nothing, one, operations, page, pageOnly } from '../operations.ts'

const path = '/v1/projects/:project_id/evaluations'

export function serveEvaluations(http: Http, app: App): void {
  const { get, post, put, del } = operations(http, app, 'questions')
  get(
    path,
    {
      summary: 'Questions with what must answer them',
      query: pageOnly,
      answer: page(evaluation),
    },
    questions.listCases,
  )
  post(
    path,
    {
      summary: 'Say what must answer a question, or that it must be refused',
      body: newEvaluation,
      answer: made(evaluation),
    },
    questions.createCase,
  )
  put(
    `${path}/:evaluation_id`,
    {
      summary: 'Change what must answer a question',
      body: newEvaluation,
      answer: one(evaluation),
    },
    (app, caller, { evaluationId: id, ...input }) => questions.updateCase(app, caller, { ...input, id }),
  )
  del(
    `${path}/:evaluation_id`,
    { summary: 'Delete an evaluation case', answer: nothing },
    (app, caller, { projectId, evaluationId: id }) => questions.deleteCase(app, caller, { projectId, id }),
  )
}

export function serveEvaluationRuns(http: Http, app: App): void {
  const { get, post } = operations(http, app, 'questions')
  post(
    `${path}/run`,
    {
      summary: 'Ask every evaluation case of what is deployed',
      body: runEvaluations,
      answer: made(evaluationRun),
    },
    questions.runEvaluations,
  )
  get(
    `${path}/runs`,
    {
      summary: 'Runs of the evaluation cases, on demand and at deployments; newest first',
      query: z.strictObject({ query: z.string().max(63).optional(), ...pageQuery }),
      answer: page(evaluationRunEntry),
    },
    questions.listRuns,
  )
  get(
    `${path}/runs/:run_id`,
    {
      summary: 'One run with its results',
      answer: one(evaluationRun),
    },
    (app, caller, { projectId, runId: id }) => questions.findRun(app, caller, { projectId, id }),
  )
}

export function wireCase(found: questions.EvaluationCase): z.output<typeof evaluation> {
  return toWire(evaluation, found)
}
