import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { forgetOldQuestions } from '../../server/questions/index.ts'
import { keepUsage } from '../../server/usage/index.ts'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
beforeAll(async () => {
  t = await openTestApp()
})
beforeEach(async () => {
  q = await openQueryProject(t)
})
afterAll(() => t.close())

const hourMs = 3_600_000
const words = 'Where does the grey heron sleep?'

function ask() {
  return q.caller.post('/v1/query', { query: words, project_id: q.projectId })
}

function choose(log: 'full' | 'redacted' | 'off', retentionDays = 30) {
  const settings = { log, retention_days: retentionDays }
  return expectStatus(200, t.operator.put(`/v1/projects/${q.projectId}/questions/settings`, settings))
}

/** All that is written down of the questions of the project, as text. */
async function kept(): Promise<string> {
  await t.app.questionLog.flush()
  await t.app.usage.flush()
  const tables = ['questions', 'requestBatches', 'usageQuestions'] as const
  const found = await Promise.all(
    tables.map((table) => t.app.store.db.selectFrom(table).selectAll().where('projectId', '=', q.projectId).execute()),
  )
  return JSON.stringify(found)
}

/** Somebody waits for a lock. */
function isWaiting() {
  return expect
    .poll(async () => (await sql`select 1 from pg_locks where not granted`.execute(t.app.store.db)).rows.length)
    .toBeGreaterThan(0)
}

test.each(['redacted', 'off'] as const)('%s takes the words back that are kept, wherever they are', async (log) => {
  await ask()
  t.advance(2 * hourMs)
  await t.app.usage.flush()
  // Whole hours are counted on their own.
  await keepUsage(t.app)
  await ask()
  expect((await kept()).split(words)).toHaveLength(6)
  await choose(log)
  expect(await kept()).not.toMatch(/heron/i)
  const { body } = await t.operator.get(`/v1/projects/${q.projectId}/metrics`)
  expect(body.questions).toMatchObject({ top: [], unanswered: [] })
})

test('a project that keeps questions for a day has none of the day before in its log of calls either', async () => {
  await ask()
  await choose('full', 1)
  await forgetOldQuestions(t.app)
  expect(await kept()).toMatch(/heron/)
  t.advance(25 * hourMs)
  await forgetOldQuestions(t.app)
  expect(await kept()).not.toMatch(/heron/i)
})

test('a change that was cut short is completed later', async () => {
  await ask()
  await kept()
  const row = { projectId: q.projectId, log: 'redacted' as const, retentionDays: 30 }
  await t.app.store.db.insertInto('questionSettings').values(row).execute()
  await forgetOldQuestions(t.app)
  expect(await kept()).not.toMatch(/heron/i)
})

test('a question that is written down while its project stops keeping them is not kept', async () => {
  await ask()
  const writing = await t.app.store.db.transaction().execute(async (transaction) => {
    await transaction.selectFrom('projects').select('id').where('id', '=', q.projectId).forUpdate().execute()
    const row = { projectId: q.projectId, log: 'off' as const, retentionDays: 30 }
    await transaction.insertInto('questionSettings').values(row).execute()
    const flush = t.app.questionLog.flush()
    await t.app.usage.flush()
    await isWaiting()
    return { flush }
  })
  await writing.flush
  expect(await kept()).not.toMatch(/heron/i)
})

test('who stops keeping questions waits for those that are being written down, and removes them', async () => {
  const row = { id: 'qst_1', projectId: q.projectId, environment: 'production', at: new Date(), text: words }
  const rest = { outcome: 'no_match', query: null, parameters: null, confidence: null, keyId: null } as const
  const changing = await t.app.store.db.transaction().execute(async (transaction) => {
    await transaction.selectFrom('projects').select('id').where('id', '=', q.projectId).forKeyShare().execute()
    await transaction
      .insertInto('questions')
      .values({ ...row, ...rest, requestId: null, resolved: null })
      .execute()
    const change = choose('off')
    await isWaiting()
    return { change }
  })
  await changing.change
  expect(await kept()).not.toMatch(/heron/i)
})
