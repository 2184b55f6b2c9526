import { z } from 'zod'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import { evaluation, evaluationRun, evaluationRunEntry, newEvaluation, runEvaluations } from '../../../api/questions.ts'
import type { App } from '../../app.ts'
import * as questions from '../../questions/index.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { fromWire, toWire } from '../../../api/wire-codec.ts'

const tags = ['questions']
const ofProject = z.object({ project_id: z.string() })
const ofCase = ofProject.extend({ evaluation_id: z.string() })
const path = '/v1/projects/:project_id/evaluations'

export function serveEvaluations(http: Http, app: App): void {
  http.get(
    path,
    {
      schema: {
        tags,
        summary: 'Questions with what must answer them',
        params: ofProject,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageOf(evaluation), ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.query }
      const page = await questions.listCases(app, callerOf(request), input)
      return { data: page.items.map(wireCase), next_cursor: page.nextCursor }
    },
  )

  http.post(
    path,
    {
      schema: {
        tags,
        summary: 'Say what must answer a question, or that it must be refused',
        params: ofProject,
        body: newEvaluation,
        response: { 201: evaluation, ...refusals },
      },
    },
    async (request, reply) => {
      const input = { projectId: request.params.project_id, ...fromWire(newEvaluation, request.body) }
      return reply.code(201).send(wireCase(await questions.createCase(app, callerOf(request), input)))
    },
  )

  http.put(
    `${path}/:evaluation_id`,
    {
      schema: {
        tags,
        summary: 'Change what must answer a question',
        params: ofCase,
        body: newEvaluation,
        response: { 200: evaluation, ...refusals },
      },
    },
    async (request) => {
      const { project_id: projectId, evaluation_id: id } = request.params
      const input = { projectId, id, ...fromWire(newEvaluation, request.body) }
      return wireCase(await questions.updateCase(app, callerOf(request), input))
    },
  )

  http.delete(
    `${path}/:evaluation_id`,
    {
      schema: { tags, summary: 'Delete an evaluation case', params: ofCase, response: { 204: noContent, ...refusals } },
    },
    async (request, reply) => {
      const { project_id: projectId, evaluation_id: id } = request.params
      await questions.deleteCase(app, callerOf(request), { projectId, id })
      return reply.code(204).send()
    },
  )
}

export function serveEvaluationRuns(http: Http, app: App): void {
  http.post(
    `${path}/run`,
    {
      schema: {
        tags,
        summary: 'Ask every evaluation case of what is deployed',
        params: ofProject,
        body: runEvaluations,
        response: { 201: evaluationRun, ...refusals },
      },
    },
    async (request, reply) => {
      const input = { projectId: request.params.project_id, ...request.body }
      return reply.code(201).send(wireRun(await questions.runEvaluations(app, callerOf(request), input)))
    },
  )

  http.get(
    `${path}/runs`,
    {
      schema: {
        tags,
        summary: 'Runs of the evaluation cases, on demand and at deployments; newest first',
        params: ofProject,
        querystring: z.strictObject({ query: z.string().max(63).optional(), ...pageQuery }),
        response: { 200: pageOf(evaluationRunEntry), ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.query }
      const page = await questions.listRuns(app, callerOf(request), input)
      const data = page.items.map(({ at, ...entry }) => ({ ...entry, at: at.toISOString() }))
      return { data, next_cursor: page.nextCursor }
    },
  )

  http.get(
    `${path}/runs/:run_id`,
    {
      schema: {
        tags,
        summary: 'One run with its results',
        params: ofProject.extend({ run_id: z.string() }),
        response: { 200: evaluationRun, ...refusals },
      },
    },
    async (request) => {
      const { project_id: projectId, run_id: id } = request.params
      return wireRun(await questions.findRun(app, callerOf(request), { projectId, id }))
    },
  )
}

export function wireCase(found: questions.EvaluationCase): z.output<typeof evaluation> {
  return toWire(evaluation, found)
}

function wireRun({ at, ...run }: questions.EvaluationRun): z.output<typeof evaluationRun> {
  return { ...run, at: at.toISOString() }
}
