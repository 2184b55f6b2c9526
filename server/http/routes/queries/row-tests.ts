import { rowTest, runTests, testFromCall, testResult, testResults, testsFilter } from '../../../../api/row-tests.ts'
import type { RowTest } from '../../../../api/row-tests.ts'
import { toWire } from '../../../../api/wire-codec.ts'
import type { App } from '../../../app.ts'
import { mapInPieces } from '../../../flow/index.ts'
import * as tests from '../../../row-tests/index.ts'
import { untilGone } from '../../answer/gone.ts'
import { sendLarge } from '../../answer/large-answer.ts'
import type { Http } from '../../request/http.ts'
import { asItIs, nothing, operations, sent } from '../operations.ts'
import { z } from 'zod'

const all = '/v1/projects/:project_id/tests'
const authored = { body: 'authored' } as const
const listed = z.object({ data: z.array(rowTest), next_cursor: z.null() })

export function serveRowTests(http: Http, app: App): void {
  const { get, post, put, del } = operations(http, app, 'queries')
  get(
    all,
    { summary: 'The tests with rows, by name', query: testsFilter, answer: sent(listed) },
    async (app, caller, input, { reply }) =>
      sendLarge(reply, listed, { data: await tests.listTests(app, caller, input), next_cursor: null }),
  )
  put(
    all,
    { config: authored, summary: 'Make or change a test with rows', body: rowTest, answer: asItIs(rowTest) },
    // Rows keep the names of their columns.
    (app, caller, { projectId }, { request }) =>
      tests.putTest(app, caller, { projectId, test: request.body as RowTest }),
  )
  del(`${all}/:test_name`, { summary: 'Delete a test', answer: nothing }, (app, caller, { projectId, testName }) =>
    tests.deleteTest(app, caller, { projectId, name: testName }),
  )
  post(
    `${all}/from-call`,
    {
      summary: 'Make a test of the last recorded call of a query, with a few rows of its tables',
      body: testFromCall,
      answer: asItIs(rowTest),
    },
    tests.testFromCall,
  )
  post(
    `${all}/run`,
    {
      config: authored,
      summary: 'Run tests with rows: those that are saved, or those that are sent',
      body: runTests,
      answer: sent(testResults),
    },
    async (app, caller, { projectId }, { request, reply }) => {
      const asked = { projectId, ...(request.body as z.output<typeof runTests>), signal: untilGone(reply) }
      const { results, ...counts } = await tests.runTests(app, caller, asked)
      return sendLarge(reply, testResults, {
        ...counts,
        results: await mapInPieces(results, (each) => toWire(testResult, each)),
      })
    },
  )
}
