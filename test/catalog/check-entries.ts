import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { openCatalogApp, openEntry, type Stage } from './stage.ts'

export type Counted = { entries: number; tables: number; requests: number; questions: number; seconds: number }

/** Runs entries of the catalog against APIs made of their contracts. */
export function checkEntries(names: string[]): Counted {
  let t: TestApp
  const counted: Counted = { entries: 0, tables: 0, requests: 0, questions: 0, seconds: 0 }
  const startedAt = Date.now()
  beforeAll(async () => void (t = await openCatalogApp()))
  afterAll(async () => {
    await t.close()
    counted.seconds = Math.round((Date.now() - startedAt) / 1_000)
  })

  describe.each(names)('%s', (name) => {
    let stage: Stage
    beforeAll(async () => void (stage = await openEntry(t, name)))
    afterAll(async () => {
      counted.entries += 1
      counted.requests += stage.mock.requests.length
      await stage.mock.close()
    })

    test('loads every table whole, as its document allows', async () => {
      const jobs = await stage.add()
      expect(stage.mock.problems).toEqual([])
      expect(jobs.filter(({ status }) => status !== 'succeeded')).toEqual([])
      const counts = await stage.counts()
      for (const [table, { for_each: forEach }] of Object.entries(stage.entry.tables)) {
        counted.tables += 1
        const rows = stage.mock.rowsOf(table) ?? 0
        expect(rows).toBeGreaterThan(0)
        if (forEach === undefined) expect([table, counts[table]]).toEqual([table, rows])
        // Rows that belong to different parents have the same keys here.
        else expect(counts[table]).toBeGreaterThanOrEqual(rows)
      }
    })

    test('answers its questions by its queries', async () => {
      const { queries } = stage.definition
      const path = `/v1/projects/${stage.projectId}`
      await expectStatus(200, t.operator.put(`${path}/definition?prune=false`, { definition: 1, queries }))
      for (const { name: query } of queries) {
        await expectStatus(
          200,
          t.operator.post(`${path}/queries/${query}/deploy`, { environment: 'production', force: true }),
        )
      }
      const permissions = [{ project_id: stage.projectId, environments: '*' }]
      const key = await expectStatus(201, t.operator.post('/v1/api-keys', { name, plan: 'unlimited', permissions }))
      const caller = t.withToken(key.body.secret)
      for (const { name: query, examples = [] } of queries) {
        for (const { question, parameters = {} } of examples) {
          const direct = await caller.post(`/v1/queries/${query}`, parameters)
          expect([query, direct.status, direct.body.message]).toEqual([query, 200, undefined])
          const { body } = await caller.post('/v1/query', { query: question, project_id: stage.projectId })
          counted.questions += 1
          expect([question, body.query_used ?? body.message]).toEqual([question, query])
        }
      }
    })

    test('goes on from where it was, without a row twice', async () => {
      const tables = Object.entries(stage.entry.tables).filter(([, { for_each: forEach }]) => forEach === undefined)
      const before = await stage.counts()
      const asked = stage.mock.requests.length
      const jobs = await Promise.all(tables.map(([table]) => stage.refresh(table)))
      expect(jobs.filter(({ status }) => status !== 'succeeded')).toEqual([])
      const fresh = stage.mock.requests.slice(asked).map((each) => new URL(each.split(' ')[1] ?? '', stage.mock.origin))
      for (const [table, { load }] of tables) {
        const { parameter } = load?.cursor ?? {}
        if (parameter !== undefined)
          expect([table, fresh.some(({ searchParams }) => searchParams.has(parameter))]).toEqual([table, true])
      }
      expect(await stage.counts()).toEqual(before)
      expect(stage.mock.problems).toEqual([])
    })

    test('waits where the API limits its rate, and says when its credential has expired', async () => {
      const [table = ''] = Object.keys(stage.entry.tables)
      stage.mock.state = 'limited'
      expect(await stage.refresh(table)).toMatchObject({ status: 'succeeded', error: null })
      if (Object.values(stage.entry.inputs ?? {}).some(({ secret }) => secret)) {
        stage.mock.state = 'expired'
        const { success, problem, error } = await stage.tryOut(table)
        expect([success, problem?.code ?? error?.code]).toEqual([
          false,
          expect.stringMatching(/^(unauthorized|token_refused)$/),
        ])
      }
      stage.mock.state = 'usual'
    })

    test('takes an API without rows for an empty one', async () => {
      const before = stage.projectId
      stage.mock.state = 'empty'
      const jobs = await stage.add()
      expect(jobs.filter(({ status }) => status !== 'succeeded')).toEqual([])
      expect(before).not.toBe(stage.projectId)
      stage.mock.state = 'usual'
    })
  })
  return counted
}
