import { z } from 'zod'
import { pageQuery } from '../../../../api/envelope.ts'
import { counterExample, counterExampleFilter, reportAnswer } from '../../../../api/questions.ts'
import type { App } from '../../../app.ts'
import * as questions from '../../../questions/index.ts'
import type { Http } from '../../request/http.ts'
import { made, nothing, one, operations, page } from '../operations.ts'

const ofProject = z.object({ project_id: z.string() })
const path = '/v1/projects/:project_id/counter-examples'

export function serveCounterExamples(http: Http, app: App): void {
  const { get, post, del } = operations(http, app, 'questions')
  post(
    '/v1/projects/:project_id/questions/:request_id/report',
    {
      summary: 'Say that a question was answered wrongly, and what should have answered it',
      params: ofProject.extend({ request_id: z.string().max(100) }),
      body: reportAnswer,
      answer: made(counterExample),
    },
    (app, caller, { note = null, ...input }) => questions.reportAnswer(app, caller, { ...input, note }),
  )
  get(
    path,
    {
      summary: 'Wrong answers that were reported, and those that the router heeds; newest first',
      query: z.strictObject({ ...counterExampleFilter, ...pageQuery }),
      answer: page(counterExample),
    },
    questions.listReports,
  )
  post(
    `${path}/:counter_example_id/confirm`,
    { summary: 'Let the router heed a report from now on', answer: one(counterExample) },
    (app, caller, { projectId, counterExampleId: id }) => questions.confirmReport(app, caller, { projectId, id }),
  )
  del(
    `${path}/:counter_example_id`,
    { summary: 'Remove a report; the router no longer heeds it', answer: nothing },
    (app, caller, { projectId, counterExampleId: id }) => questions.deleteReport(app, caller, { projectId, id }),
  )
}
