import { z } from 'zod'
import { pageOf, pageQuery } from '../../../api/envelope.ts'
import { counterExample, counterExampleFilter, reportAnswer } from '../../../api/questions.ts'
import type { App } from '../../app.ts'
import * as questions from '../../questions/index.ts'
import { noContent, refusals } from '../answer/answers.ts'
import { callerOf } from '../request/caller.ts'
import type { Http } from '../request/http.ts'
import { toWire } from '../../../api/wire-codec.ts'

const tags = ['questions']
const ofProject = z.object({ project_id: z.string() })
const ofReport = ofProject.extend({ counter_example_id: z.string() })
const path = '/v1/projects/:project_id/counter-examples'

export function serveCounterExamples(http: Http, app: App): void {
  http.post(
    '/v1/projects/:project_id/questions/:request_id/report',
    {
      schema: {
        tags,
        summary: 'Say that a question was answered wrongly, and what should have answered it',
        params: ofProject.extend({ request_id: z.string().max(100) }),
        body: reportAnswer,
        response: { 201: counterExample, ...refusals },
      },
    },
    async (request, reply) => {
      const { project_id: projectId, request_id: requestId } = request.params
      const { expected_query: expectedQuery, note } = request.body
      const input = { projectId, requestId, expectedQuery, note: note ?? null }
      return reply.code(201).send(wireReport(await questions.reportAnswer(app, callerOf(request), input)))
    },
  )

  http.get(
    path,
    {
      schema: {
        tags,
        summary: 'Wrong answers that were reported, and those that the router heeds; newest first',
        params: ofProject,
        querystring: z.strictObject({ ...counterExampleFilter, ...pageQuery }),
        response: { 200: pageOf(counterExample), ...refusals },
      },
    },
    async (request) => {
      const input = { projectId: request.params.project_id, ...request.query }
      const page = await questions.listReports(app, callerOf(request), input)
      return { data: page.items.map(wireReport), next_cursor: page.nextCursor }
    },
  )

  serveReport(http, app)
}

function serveReport(http: Http, app: App): void {
  http.post(
    `${path}/:counter_example_id/confirm`,
    {
      schema: {
        tags,
        summary: 'Let the router heed a report from now on',
        params: ofReport,
        response: { 200: counterExample, ...refusals },
      },
    },
    async (request) => {
      const { project_id: projectId, counter_example_id: id } = request.params
      return wireReport(await questions.confirmReport(app, callerOf(request), { projectId, id }))
    },
  )

  http.delete(
    `${path}/:counter_example_id`,
    {
      schema: {
        tags,
        summary: 'Remove a report; the router no longer heeds it',
        params: ofReport,
        response: { 204: noContent, ...refusals },
      },
    },
    async (request, reply) => {
      const { project_id: projectId, counter_example_id: id } = request.params
      await questions.deleteReport(app, callerOf(request), { projectId, id })
      return reply.code(204).send()
    },
  )
}

function wireReport(found: questions.ReportedAnswer): z.output<typeof counterExample> {
  return toWire(counterExample, found)
}
