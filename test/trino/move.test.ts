import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { openVisitor } from '../harness/web.ts'
import { findBarriers } from '../web/barriers.ts'
import { openStage, type Stage, type StageProject } from './stage.ts'

let stage: Stage
let project: StageProject
beforeAll(async () => {
  stage = await openStage()
  await stage.startJobs()
})
afterAll(() => stage.close())

const sales = Array.from({ length: 40 }, (_, at) => ({
  id: at + 1,
  region: ['north', 'south', 'east'][at % 3],
  amount: (at * 7) % 11,
  at: `2026-0${(at % 6) + 1}-11`,
}))
const oneId = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'], additionalProperties: false }
const plain = 'SELECT region, count(*) AS n, sum(amount) AS total FROM sales GROUP BY region ORDER BY region'
const byId = { name: 'by_id', sql: 'SELECT id, region FROM sales WHERE id = $id', slots: oneId }

const path = (): string => `/v1/projects/${project.id}/engine`
const move = (body: Record<string, unknown>, search = '') =>
  stage.t.operator.post(`${path()}${search}`, { engine: 'trino', ...body })
const check = async (body: Record<string, unknown> = {}) => (await expectStatus(200, move(body, '?check=true'))).body
const engine = async () => (await stage.t.operator.get(`/v1/projects/${project.id}`)).body.engine as string
const answerOf = async (name: string, slots: Record<string, unknown> = {}) =>
  (await expectStatus(200, project.caller.post(`/v1/queries/${name}`, slots))).body
const versionsOf = async (name: string) => {
  const { body } = await expectStatus(200, stage.t.operator.get(`${project.path}/${name}/versions`))
  return (body.data as Array<{ version: number }>).map(({ version }) => version)
}

beforeEach(async () => {
  project = await stage.project('duckdb', { sales })
})

describe('a check says query by query what another engine makes of it, and switches nothing', () => {
  test('same over so many sets of values, different with rows, cannot in its words, unchecked without values', async () => {
    await project.deploy({ name: 'regions', sql: plain })
    await project.deploy({
      ...byId,
      examples: [
        { question: 'one', parameters: { id: 3 } },
        { question: 'two', parameters: { id: 4 } },
      ],
    })
    await project.deploy({ ...byId, name: 'no_values' })
    await project.deploy({ name: 'halves', sql: 'SELECT id, id / 2 AS half FROM sales ORDER BY id' })
    await project.deploy({
      name: 'all_groups',
      sql: 'SELECT region, arg_max(id, amount) AS best FROM sales GROUP BY ALL',
    })
    const report = await check()
    const byName = Object.fromEntries((report.queries as Array<{ name: string }>).map((each) => [each.name, each]))
    expect(byName).toMatchObject({
      regions: { status: 'same', compared: 1, blocks: false, environments: ['production'], differences: [] },
      by_id: { status: 'same', compared: 2, blocks: false },
      no_values: { status: 'unchecked', compared: 0, blocks: true },
      halves: { status: 'different', blocks: true },
      all_groups: { status: 'cannot', blocks: true },
    })
    expect(byName['halves']).toMatchObject({ because: expect.stringContaining('half was DOUBLE') })
    expect(byName['all_groups']).toMatchObject({ because: expect.stringMatching(/^On trino: ./) })
    expect(report).toMatchObject({ ready: false, switched: false, from: 'duckdb', to: 'trino', releases: [] })
    expect(await engine()).toBe('duckdb')
    const refused = await move({})
    expect(refused).toMatchObject({ status: 409, body: { reason: 'engines_differ' } })
    expect((refused.body.details as Array<{ field: string }>).map(({ field }) => field).toSorted()).toEqual([
      'all_groups',
      'halves',
      'no_values',
    ])
    expect(await engine()).toBe('duckdb')
  })

  test('rows that differ are told with the values that they came of', async () => {
    await project.deploy({
      name: 'shares',
      sql: 'SELECT id, (id / 4)::DOUBLE AS quarter FROM sales WHERE id < 6 ORDER BY id',
    })
    const sql = 'SELECT id, CAST(id / 4 AS double) AS quarter FROM sales WHERE id < 6 ORDER BY id'
    const { queries } = await check({ queries: [{ name: 'shares', sql }] })
    expect(queries).toMatchObject([{ status: 'different', rewritten: true, compared: 1, sql }])
    expect(queries[0].differences).toMatchObject([{ parameters: {}, source: 'defaults', changed: 4 }])
    expect(queries[0].differences[0].rows[0]).toMatchObject({ kind: 'changed', columns: ['quarter'] })
  })

  test('recorded calls count, and another order is a difference unless it is accepted', async () => {
    const settings = { recording: true, max_calls: 100, days: 7, redacted_slots: [] }
    await expectStatus(200, stage.t.operator.put(`/v1/projects/${project.id}/replay-settings`, settings))
    await expect.poll(() => stage.t.app.callWatch.isOn, { timeout: 10_000 }).toBe(true)
    await project.deploy(byId)
    for (const id of [5, 6, 7]) await answerOf('by_id', { id })
    await project.deploy({ name: 'ordered', sql: 'SELECT id FROM sales ORDER BY id' })
    const backwards = { name: 'ordered', sql: 'SELECT id FROM sales ORDER BY id DESC' }
    const { queries } = await check({ queries: [backwards] })
    expect(queries).toMatchObject([
      { name: 'by_id', status: 'same', compared: 3 },
      { name: 'ordered', status: 'different' },
    ])
    const accepted = await check({ queries: [{ ...backwards, accept: ['order'] }] })
    expect(accepted).toMatchObject({ ready: true, queries: [{}, { status: 'same' }] })
  })
})

test('a switch is one act: engine, drafts, and new versions in every environment; what is left out stops answering', async () => {
  await project.deploy({ name: 'regions', sql: plain })
  await expectStatus(
    200,
    stage.t.operator.post(`${project.path}/regions/deploy`, { environment: 'staging', force: true }),
  )
  const before = await answerOf('regions')
  // The draft goes on; what answers stays.
  await expectStatus(200, stage.t.operator.put(`${project.path}/regions`, { sql: `${plain} LIMIT 2` }))
  await project.deploy({ ...byId })
  await project.deploy({ name: 'best', sql: 'SELECT arg_max(id, amount) AS best FROM sales' })
  await project.deploy({ name: 'legacy', sql: 'SELECT list(id ORDER BY id) AS ids FROM sales' })
  const { body } = await expectStatus(
    200,
    move({
      queries: [
        { name: 'by_id', parameters: [{ id: 1 }] },
        { name: 'best', sql: 'SELECT max_by(id, amount) AS best FROM sales' },
        { name: 'legacy', exclude: true },
      ],
    }),
  )
  expect(body).toMatchObject({ switched: true, ready: true })
  expect((body.releases as Array<{ environment: string }>).map(({ environment }) => environment)).toEqual([
    'production',
    'staging',
  ])
  expect(await engine()).toBe('trino')
  expect(await answerOf('regions')).toMatchObject({ data: before.data, version: 2 })
  expect(await answerOf('by_id', { id: 2 })).toMatchObject({ data: [{ id: 2, region: 'south' }] })
  expect((await project.caller.post('/v1/queries/legacy', {})).status).toBe(404)
  expect(await versionsOf('regions')).toEqual([2, 1])
  const drafts = (await expectStatus(200, stage.t.operator.get(project.path))).body.data as Array<{ name: string }>
  expect(drafts).toMatchObject([
    { name: 'best', dialect: 'trino', sql: expect.stringContaining('max_by'), changed: false },
    { name: 'by_id', dialect: 'trino' },
    { name: 'legacy', dialect: 'duckdb', deployments: [] },
    { name: 'regions', dialect: 'trino', sql: `${plain} LIMIT 2`, changed: true },
  ])
  const audit = await expectStatus(200, stage.t.operator.get(`/v1/audit?project_id=${project.id}`))
  expect(audit.body.data).toContainEqual(
    expect.objectContaining({
      action: 'project.engine_changed',
      details: { from: 'duckdb', to: 'trino', excluded: ['legacy'], unchecked: [] },
    }),
  )
  // The way back for callers is that of every release; versions go on running on the engine they were written for.
  const [production] = body.releases as Array<{ release_id: string }>
  await expectStatus(
    200,
    stage.t.operator.post(`/v1/projects/${project.id}/releases/${production?.release_id}/rollback`, {}),
  )
  expect(await answerOf('regions')).toMatchObject({ data: before.data, version: 1 })
  expect((await project.caller.post('/v1/queries/legacy', {})).status).toBe(200)
})

test('what changes while it is compared is not run over', async () => {
  await project.deploy({ name: 'regions', sql: plain })
  const moving = move({})
  await expectStatus(200, stage.t.operator.put(`${project.path}/regions`, { sql: `${plain} LIMIT 1` }))
  expect(await moving).toMatchObject({ status: 409, body: { reason: 'changed_meanwhile' } })
  expect(await engine()).toBe('duckdb')
})

test('and back again', async () => {
  await project.deploy({ name: 'regions', sql: plain })
  await expectStatus(200, move({}))
  const back = await expectStatus(200, stage.t.operator.post(path(), { engine: 'duckdb' }))
  expect(back.body).toMatchObject({ switched: true, from: 'trino', to: 'duckdb', queries: [{ status: 'same' }] })
  expect(await engine()).toBe('duckdb')
})

test('the settings show the same in a browser: what differs, a new text, what is left out, and the move', async () => {
  await project.deploy({ name: 'regions', sql: plain })
  await project.deploy({ name: 'halves', sql: 'SELECT id, id / 2 AS half FROM sales ORDER BY id' })
  await project.deploy({ name: 'legacy', sql: 'SELECT list(id ORDER BY id) AS ids FROM sales' })
  const { page, complaints, leave } = await openVisitor(stage.url)
  onTestFinished(leave)
  const { email, password } = await stage.t.member(project.id, 'owner')
  expect((await page.context().request.post('/v1/session', { data: { email, password } })).ok()).toBe(true)
  await page.goto(`/p/${project.id}/settings/project`)
  await page.getByRole('button', { name: 'Compare with Trino' }).click()
  const table = page.getByRole('table', { name: 'Queries on both engines' })
  const row = (name: string) => table.getByRole('row', { name })
  await row('regions').getByText('Same').waitFor()
  await row('halves').getByText('Different').waitFor()
  await row('legacy').getByText('Cannot run').waitFor()
  expect(await page.getByRole('button', { name: 'Move to Trino' }).count()).toBe(0)
  expect(await findBarriers(page, 'settings-engine-differences', table)).toEqual([])
  await page
    .getByLabel('SQL of halves on the other engine')
    .fill('SELECT id, CAST(id AS DOUBLE) / 2 AS half FROM sales ORDER BY id')
  await page.getByRole('group', { name: 'What to do about legacy' }).getByLabel('Leave it out').check()
  await page.getByRole('button', { name: 'Compare again' }).click()
  await row('halves').getByText('Same').waitFor()
  await row('legacy').getByText('Left out').waitFor()
  expect(await findBarriers(page, 'settings-engine-ready', table)).toEqual([])
  await page.getByRole('button', { name: 'Move to Trino' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Move to Trino' }).click()
  await page.getByText('Trino answers the queries now.').waitFor()
  expect(await engine()).toBe('trino')
  expect((await answerOf('halves')).data[0]).toEqual({ id: 1, half: 0.5 })
  expect(complaints).toEqual([])
})
