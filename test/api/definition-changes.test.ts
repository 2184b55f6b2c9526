import { beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { openQueryProject } from '../harness/queries.ts'
import { putTable } from '../harness/tables.ts'
import { changedOf, pathOf, stageDefinitions, type Body, type Entry } from './definition-stage.ts'

const stage = stageDefinitions()
const { read, put, openFullProject } = stage
let t: TestApp
beforeAll(() => void ({ t } = stage.parts()))

describe('a definition that changes a project', () => {
  test('a plan says what is made, changed and deleted, by field, and what releasing the queries would do', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    const key = await t.operator.get(`/v1/projects/${q.projectId}/queries/in_region`)
    t.app.queryCallers.note({ queryId: key.body.id, environment: 'production', keyId: 'key_of_a_caller' })
    const next = structuredClone(found)
    const [first, second] = next.queries ?? []
    if (first === undefined || second === undefined) throw new Error('no queries')
    first.sql = 'SELECT id FROM orders WHERE region = $region ORDER BY id'
    next.queries = [first, { ...second, name: 'renamed', deployed: {} }]
    next.evaluations = next.evaluations?.slice(0, 1) ?? []
    const { body } = await expectStatus(200, put(q.projectId, next, '?check=true'))
    expect(changedOf(body.plan).toSorted()).toEqual([
      'create query renamed',
      'delete evaluation What is the weather?',
      'delete query only_draft',
      'update query in_region',
    ])
    const entry = body.plan.find((each: Entry) => each.name === 'in_region')
    expect(entry.changes).toEqual([{ field: 'sql', before: expect.stringContaining('amount'), after: first.sql }])
    expect(entry.release).toMatchObject({
      environment: 'production',
      version: 1,
      compatibility: 'breaking',
      changes: [{ level: 'breaking', message: 'column amount is gone' }],
      callers: [{ key_id: 'key_of_a_caller' }],
    })
    expect(body.routing).toMatchObject({ environment: 'production', checked: expect.any(Number) })
    expect(body.applied).toBe(false)
    expect(await read(q.projectId)).toEqual(found)
    const applied = await expectStatus(200, put(q.projectId, next))
    expect(applied.body.applied).toBe(true)
    expect((await read(q.projectId)).queries).toMatchObject([
      { name: 'in_region', sql: first.sql, deployed: { production: 1 } },
      { name: 'renamed', deployed: {} },
    ])
  })

  test('prune=false deletes nothing; a section that is left out is left alone', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    const kept = await expectStatus(200, put(q.projectId, { definition: 1, queries: [], alerts: [] }, '?prune=false'))
    expect(changedOf(kept.body.plan)).toEqual([])
    const alone = await expectStatus(200, put(q.projectId, { definition: 1, alerts: [] }))
    expect(changedOf(alone.body.plan)).toEqual(['delete alert errors', 'delete alert errors'])
    expect(await read(q.projectId)).toEqual({ ...found, alerts: [] })
  })

  test('checks that are new are tried on the data that serves', async () => {
    const q = await openQueryProject(t)
    await putTable(t.app, q.projectId, { name: 'gaps', rows: [{ a: 1 }, { a: null }, { a: 3 }] })
    const found = await read(q.projectId)
    const next = structuredClone(found)
    for (const connection of next.connections ?? []) {
      if (connection.table_name === 'gaps') connection.schema.checks = [{ type: 'not_null', column: 'a' }]
    }
    const { body } = await expectStatus(200, put(q.projectId, next, '?check=true'))
    const entry = body.plan.find((each: Entry) => each.name === 'gaps')
    expect(entry).toMatchObject({
      action: 'update',
      failed_checks: [{ type: 'not_null', message: expect.any(String) }],
    })
  })
})

test('settings are part of it: what is left out stays, owners alone change them, and origins hold at once', async () => {
  const projectId = await t.project()
  expect((await read(projectId)).settings).toEqual({
    allowed_origins: [],
    questions: { log: 'full', retention_days: expect.any(Number), min_confidence: 0.3 },
    replay: { recording: false, max_calls: 1000, days: 7, redacted_slots: [] },
  })
  const settings = {
    allowed_origins: ['https://shop.example'],
    questions: { min_confidence: 0.8 },
    replay: { recording: true, redacted_slots: ['customer'] },
  }
  const body = { definition: 1, settings }
  const planned = await expectStatus(200, put(projectId, body, '?check=true'))
  expect(changedOf(planned.body.plan)).toEqual([
    'update settings allowed_origins',
    'update settings questions',
    'update settings replay',
  ])
  expect(planned.body.plan[1].changes).toEqual([{ field: 'min_confidence', before: 0.3, after: 0.8 }])
  expect(t.app.origins.allows(projectId, 'https://shop.example')).toBe(false)

  const editor = await t.member(projectId, 'editor')
  expect(await editor.put(pathOf(projectId), body)).toMatchObject({ status: 403 })
  await expectStatus(200, put(projectId, body))
  expect(t.app.origins.allows(projectId, 'https://shop.example')).toBe(true)
  const found = await read(projectId)
  expect(found.settings).toMatchObject({
    allowed_origins: ['https://shop.example'],
    questions: { log: 'full', min_confidence: 0.8 },
    replay: { recording: true, max_calls: 1000, redacted_slots: ['customer'] },
  })
  // What is as it should be an editor may put, too.
  expect(changedOf((await expectStatus(200, editor.put(pathOf(projectId), found))).body.plan)).toEqual([])
  expect(await put(projectId, { definition: 1, settings: { allowed_origins: ['shop.example'] } })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('must be an origin such as https://app.example') as string },
  })
})

test('a table for files is defined with its rules, and stays one', async () => {
  const projectId = await t.project()
  const targets = { table_name: 'targets', kind: 'file', load: { mode: 'merge', primary_key: ['id'] } }
  const made = await expectStatus(200, put(projectId, { definition: 1, connections: [targets] }))
  expect(changedOf(made.body.plan)).toEqual(['create connection targets'])
  const { body } = await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/datasources`))
  expect(body.data).toMatchObject([{ kind: 'file', table_name: 'targets', config: null, load: { mode: 'merge' } }])
  const shown = await read(projectId)
  expect(changedOf((await expectStatus(200, put(projectId, shown as Body))).body.plan)).toEqual([])
  const moved = { ...targets, kind: 'http_api' }
  expect(await put(projectId, { definition: 1, connections: [moved] })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('stays so') as string },
  })
})
