import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { definition as definitionSchema, type Definition } from '../../api/definition.ts'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { openQueryProject } from '../harness/queries.ts'
import { putTable } from '../harness/tables.ts'
import { changedOf, pathOf, stageDefinitions, type Body, type Entry } from './definition-stage.ts'
import { definitions } from './random-definitions.ts'
import { rounds } from '../harness/rounds.ts'

const stage = stageDefinitions()
const { read, put, openFullProject } = stage
let t: TestApp
let source: string
beforeAll(() => void ({ t, source } = stage.parts()))

describe('the definition of a project', () => {
  test('says all of it by name, fits its schema, and holds no secret', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    expect(definitionSchema.parse(found)).toEqual(found)
    expect(found.environments).toEqual(['development', 'staging', 'production', 'preview'])
    expect(found.connections?.map((each) => each.table_name)).toEqual(['orders', 'shops_of_ours', 'staff'])
    expect(found.queries).toMatchObject([{ name: 'in_region', deployed: { production: 1 } }, { name: 'only_draft' }])
    expect(found.alerts?.[0]?.channels).toMatchObject([
      { type: 'webhook', url: `${source}/hook`, secret: '***' },
      { type: 'webhook', url: '***', target: `${source}/hook`, secret: '***' },
      { type: 'slack', url: '***' },
    ])
    const text = JSON.stringify(found)
    expect(text).not.toContain('top-secret')
    expect(text).not.toContain('whsec_')
    expect(text).not.toMatch(/"(ds|qry|alr|chn|cas|var)_/)
  })

  test('put back as it was read it is all unchanged, and nothing changes', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    for (const search of ['?check=true', '']) {
      const { body } = await expectStatus(200, put(q.projectId, found, search))
      expect(changedOf(body.plan)).toEqual([])
      expect(body.plan).toHaveLength(
        4 + 3 + 3 + 3 + 2 + 2 + 2, // environments, settings, variables, connections, queries, evaluations, alerts
      )
      expect(body).toMatchObject({ applied: search === '', jobs: [], secrets: [], routing: null })
    }
    expect(await read(q.projectId)).toEqual(found)
    // Its secrets are still those.
    const { body } = await t.operator.get(`/v1/projects/${q.projectId}/datasources`)
    expect(body.data).toHaveLength(3)
  })

  test('put into an empty project it makes the same, once its secrets are given', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    const empty = await t.project()
    const checked = await expectStatus(200, put(empty, found, '?check=true'))
    const refused = checked.body.plan.filter((entry: Entry) => entry.refused !== null)
    expect(refused.map(({ kind, name }: Entry) => `${kind} ${name}`)).toEqual([
      'variable token',
      'connection shops_of_ours',
      'alert errors',
    ])
    const bare = await put(empty, found)
    expect(bare).toMatchObject({ status: 400, body: { reason: 'invalid_field' } })
    expect(await read(empty)).toMatchObject({ connections: [], queries: [], variables: [] })
    const given = withSecrets(found)
    const { body } = await expectStatus(200, put(empty, given))
    expect(body.applied).toBe(true)
    expect(body.jobs.map((job: { table_name: string }) => job.table_name)).toEqual(['shops_of_ours'])
    expect(body.secrets).toEqual([])
    const notes = body.plan.find((entry: Entry) => entry.name === 'in_region').notes
    expect(notes).toEqual(['It reads orders, which has no data yet: it is looked at when it is released.'])
    const undeployed = found.queries?.map((query) => Object.assign({}, query, { deployed: {} }))
    expect(await read(empty)).toEqual({ ...found, queries: undeployed })
    // With the same values again nothing changes; another one is a change.
    expect(changedOf((await expectStatus(200, put(empty, given))).body.plan)).toEqual([])
    const other = JSON.parse(JSON.stringify(given).replaceAll('top-secret-5', 'top-secret-9')) as Definition
    const planned = (await expectStatus(200, put(empty, other, '?check=true'))).body.plan
    expect(changedOf(planned)).toEqual(['update connection shops_of_ours'])
    expect(JSON.stringify(planned)).not.toContain('top-secret')
  })

  test('409 and 400 keep everything as it was, and name what is at fault', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    const without = { ...found, queries: found.queries?.filter(({ name }) => name !== 'in_region') ?? [] }
    const inUse = await put(q.projectId, { ...without, evaluations: [], alerts: [] })
    expect(inUse).toMatchObject({ status: 409, body: { reason: 'in_use' } })
    expect(inUse.body.message).toContain('The query in_region: in_region is deployed in production')
    const broken = structuredClone(found)
    for (const query of broken.queries ?? []) if (query.name === 'only_draft') query.sql = 'SELECT nope FROM orders'
    broken.variables?.push({ name: 'added', environment: null, secret: false, value: 'x', origins: [] })
    const answer = await put(q.projectId, broken)
    expect(answer).toMatchObject({ status: 400, body: { reason: 'invalid_sql' } })
    expect(answer.body.message).toContain('Nothing was applied. The query only_draft')
    const twice = await put(q.projectId, { ...found, queries: [...(found.queries ?? []), ...(found.queries ?? [])] })
    expect(twice).toMatchObject({ status: 400, body: { reason: 'invalid_field' } })
    expect((await put(q.projectId, { ...found, surprise: 1 })).status).toBe(400)
    expect((await put(q.projectId, { ...found, definition: 2 })).status).toBe(400)
    expect(await read(q.projectId)).toEqual(found)
  })

  test('403: environments are changed by owners only; a viewer reads and does not put', async () => {
    const q = await openFullProject()
    const found = await read(q.projectId)
    const editor = await t.member(q.projectId, 'editor')
    const viewer = await t.member(q.projectId, 'viewer')
    expect((await viewer.get(pathOf(q.projectId))).status).toBe(200)
    expect((await viewer.put(pathOf(q.projectId), found)).status).toBe(403)
    expect((await editor.put(pathOf(q.projectId), found)).status).toBe(200)
    const more = { ...found, environments: [...(found.environments ?? []), 'another'] }
    expect((await editor.put(pathOf(q.projectId), more)).status).toBe(403)
    expect(await read(q.projectId)).toEqual(found)
    expect((await t.operator.put(pathOf(q.projectId), more)).status).toBe(200)
  })

  test('random projects: put into an empty one, read and put back, all is the same and unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(definitions(source), async (given) => {
        const projectId = await t.project()
        await putTable(t.app, projectId, { name: 'things', rows: [{ id: 1, name: 'one', at: '2026-01-01' }] })
        const made = await expectStatus(200, put(projectId, given, '?prune=false'))
        expect(made.body.applied).toBe(true)
        const found = await read(projectId)
        const again = await expectStatus(200, put(projectId, found))
        expect(changedOf(again.body.plan)).toEqual([])
        expect(await read(projectId)).toEqual(found)
        // What was written by hand and what was read mean the same.
        expect(changedOf((await expectStatus(200, put(projectId, given, '?prune=false'))).body.plan)).toEqual([])
        const other = await t.project()
        await putTable(t.app, other, { name: 'things', rows: [{ id: 1, name: 'one', at: '2026-01-01' }] })
        await expectStatus(200, put(other, found))
        expect(await read(other)).toEqual(found)
      }),
      { numRuns: rounds(5, 15) },
    )
  }, 240_000)
})

/** What a person would fill in for `***`. */
function withSecrets(found: Definition): Definition {
  const given = structuredClone(found)
  for (const variable of given.variables ?? []) if (variable.secret) variable.value = 'top-secret-1'
  for (const connection of given.connections ?? []) {
    if (connection.table_name !== 'shops_of_ours' || connection.config === null) continue
    connection.config.url = `${source}/shops?page=1&api_key=top-secret-2`
    connection.config.headers = { Authorization: 'Bearer top-secret-3', 'X-Named': '{{secret:token}}' }
    connection.config.parameters = {
      since: { value: '{{date:-7d}}', required: false },
      secret_code: { value: 'top-secret-4', required: true },
    }
    connection.config.auth = { key: 'X-Key', value: 'top-secret-5', in: 'header' }
  }
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  for (const alert of given.alerts ?? []) {
    if (alert.channels.length === 0) continue
    alert.channels = [
      { type: 'webhook', url: `${source}/hook`, secret },
      { type: 'webhook', url: `${source}/hook?key=top-secret-6`, secret },
      { type: 'slack', url: `${source}/services/top-secret-7` },
    ]
  }
  return given
}

test('the order in which a slot was described changes nothing; the order of slots is that of forms', async () => {
  const q = await openQueryProject(t)
  const slots = {
    required: ['region'],
    additionalProperties: false as const,
    properties: {
      region: { description: 'Where', enum: ['north'], type: 'string' as const },
      least: { default: 1, type: 'integer' as const },
    },
    type: 'object' as const,
  }
  await q.deploy({
    name: 'stored',
    description: 'Stored',
    sql: 'SELECT 1 WHERE $region IS NOT NULL AND $least > 0',
    slots,
  })
  // As whoever made it without this API has stored it.
  await t.app.store.db
    .updateTable('queries')
    .set({ slots: JSON.stringify(slots) })
    .where('name', '=', 'stored')
    .where('projectId', '=', q.projectId)
    .execute()
  const found = await read(q.projectId)
  expect(changedOf((await expectStatus(200, put(q.projectId, found as Body))).body.plan)).toEqual([])
  const { region, least } = slots.properties
  const moved = found.queries?.map((query) => ({ ...query, slots: { ...slots, properties: { least, region } } }))
  const planned = await expectStatus(200, put(q.projectId, { ...found, queries: moved }, '?check=true'))
  expect(changedOf(planned.body.plan)).toEqual(['update query stored'])
})
