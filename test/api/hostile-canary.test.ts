import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type Client, type TestApp } from '../harness/app.ts'
import { connectMcp } from '../harness/mcp.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { putTable } from '../harness/tables.ts'

/** Rows of one caller that a canary, a shadow or an older version might hand to another. */
let t: TestApp
let q: QueryProject
beforeAll(async () => {
  t = await openTestApp({}, { bounds: { shadowCallsPerSecond: 1_000 } })
  q = await openQueryProject(t)
})
afterAll(() => t.close())

const releases = () => `/v1/projects/${q.projectId}/releases`
const all = { description: 'Orders', sql: 'SELECT id, region FROM orders ORDER BY id' }
const own = {
  description: 'Orders of a region',
  sql: 'SELECT id, region FROM orders WHERE region = $region ORDER BY id',
  slots: { type: 'object', properties: { region: { type: 'string' } }, required: ['region'] },
}
const slotless = { type: 'object', properties: {}, required: [] }
const regions = ['north', 'south', 'east']
const regionsOf = ({ data }: { data: Array<{ region: string }> }) => [...new Set(data.map(({ region }) => region))]

async function newKey(more: Record<string, unknown> = {}): Promise<{ id: string; secret: string; client: Client }> {
  const permissions = [{ project_id: q.projectId, environments: '*' }]
  const body = { name: 'caller', plan: 'unlimited', permissions, ...more }
  const made = (await expectStatus(201, t.operator.post('/v1/api-keys', body))).body
  return { id: made.id, secret: made.secret, client: t.withToken(made.secret) }
}

describe('a key whose region is fixed', () => {
  const fixed = { fixed_parameters: { region: 'north' } }

  test('reads no version from before there was a region to fix', async () => {
    await q.deploy({ name: 'older', ...all, slots: slotless })
    await q.deploy({ name: 'older', ...own })
    const { client, secret } = await newKey(fixed)
    expect(regionsOf((await expectStatus(200, client.post('/v1/queries/older', {}))).body)).toEqual(['north'])
    const token = (
      await expectStatus(201, q.caller.post('/v1/browser-tokens', { ...fixed, environment: 'production' }))
    ).body.token
    const address = '/v1/queries/older'
    const pinned = (version: number) => ({ 'x-sluice-version': String(version) })
    const tries = [
      client.post(address, {}, pinned(1)),
      client.get(address, undefined, pinned(1)),
      client.get(`${address}?format=csv`, undefined, pinned(1)),
      client.get(`${address}?format=ndjson`, undefined, pinned(1)),
      t.withToken(token).get(address, undefined, pinned(1)),
    ]
    for (const answer of await Promise.all(tries)) {
      expect(answer).toMatchObject({ status: 403, body: { error: 'permission_denied' } })
      expect(JSON.stringify(answer.body)).not.toContain('south')
    }
    const mcp = await connectMcp(await t.listen(), secret)
    const uri = `sluice://projects/${q.projectId}/environments/production/queries/older/rows?version=1`
    await expect(mcp.readResource({ uri })).rejects.toThrow(/fixes region/)
    await mcp.close()
    // Whoever fixes nothing reads it, and the version that has the slot is read by either.
    expect(regionsOf((await expectStatus(200, q.caller.get(address, undefined, pinned(1)))).body)).toHaveLength(3)
    await q.deploy({ name: 'older', ...own, sql: own.sql.replace('ORDER BY id', '') })
    expect(regionsOf((await expectStatus(200, client.get(address, undefined, pinned(2)))).body)).toEqual(['north'])
  })

  test('stays with its rows in a canary, in its shadow, and in what both tell of it', async () => {
    await q.deploy({ name: 'trial', ...own })
    const changed = { ...own, sql: own.sql.replace('id, region', 'id, region, amount') }
    await expectStatus(200, t.operator.put(`${q.path}/trial`, changed))
    const given = { queries: [{ name: 'trial' }], canary: { percent: 50 } }
    const { body } = await expectStatus(200, t.operator.post(releases(), given))
    const keys = await Promise.all(
      Array.from({ length: 24 }, async (_, at) => {
        const region = at % 2 === 0 ? 'north' : 'south'
        return { region, ...(await newKey({ fixed_parameters: { region } })) }
      }),
    )
    const versions = new Set<number>()
    for (const { region, client } of keys) {
      for (const answer of [await client.post('/v1/queries/trial', {}), await client.get('/v1/queries/trial')]) {
        expect(regionsOf(answer.body)).toEqual([region])
        versions.add(answer.body.version)
      }
      const sent = await client.post('/v1/queries/trial', { region: 'east' })
      expect(sent).toMatchObject({ status: 400, body: { reason: 'invalid_slots' } })
    }
    expect(versions.size).toBe(2)
    await t.app.behindCalls.settled()
    await expectStatus(200, t.operator.post(`${releases()}/${body.id}/rollback`, {}))
  })

  test('would be let out by a version without the region, which no release does unforced or unsaid', async () => {
    await q.deploy({ name: 'dropped', ...own })
    await expectStatus(200, t.operator.put(`${q.path}/dropped`, { ...all, slots: slotless }))
    for (const trial of [{}, { canary: { percent: 50 } }, { shadow: true }]) {
      const answer = await t.operator.post(releases(), { queries: [{ name: 'dropped' }], ...trial })
      expect(answer.status).toBe(409)
      expect(JSON.stringify(answer.body)).toContain('slot region is gone: API keys that fix it are no longer held')
    }
  })
})

describe('values of rows that a key may not read', () => {
  test('are told by no refusal of a question, no document and no warning', async () => {
    const rows = ['Miller', 'Zyxqv Ltd', 'Qvarnstrom'].map((customer, id) => ({ id, region: regions[id], customer }))
    await putTable(t.app, q.projectId, { name: 'customers', rows })
    const { db } = t.app.store
    const source = db.selectFrom('datasources').select('id').where('projectId', '=', q.projectId)
    const { id: datasourceId } = await source.where('tableName', '=', 'customers').executeTakeFirstOrThrow()
    const values = rows.map(({ customer }) => ({
      datasourceId,
      columnName: 'customer',
      value: customer,
      occurrences: 1,
    }))
    await db.insertInto('columnValues').values(values).execute()
    const slots = {
      type: 'object',
      properties: { region: { type: 'string' }, customer: { type: 'string', 'x-values-from': 'customers.customer' } },
      required: ['region', 'customer'],
    }
    const sql = 'SELECT id, customer FROM customers WHERE region = $region AND customer = $customer'
    const examples = [{ question: 'Show the customer Miller', parameters: { region: 'north', customer: 'Miller' } }]
    await q.deploy({ name: 'customer', description: 'A customer by name', sql, slots, examples })
    const { client } = await newKey({ fixed_parameters: { region: 'north' } })
    const ask = (who: Client, query: string) =>
      who.post('/v1/query', { query, project_id: q.projectId, explain: true, parameters: {} })
    const questions = ['Show the customer Nobody', 'Show the customer Xavier', 'Show the customer Zyx']
    // Whoever fixes nothing is told, so that this asks what it means to.
    const open = await ask(q.caller, questions[0] ?? '')
    expect(JSON.stringify(open.body)).toContain('Qvarnstrom')
    const told = [
      ...(await Promise.all(questions.map((question) => ask(client, question)))),
      await client.post('/v1/queries/customer', { customer: 'Qvarnstro' }),
      await client.get(`/v1/projects/${q.projectId}/openapi.json`),
      await client.post('/v1/queries/customer', { customer: 'Zyxqv Ltd' }),
    ]
    for (const { body } of told.slice(0, -1)) expect(JSON.stringify(body)).not.toMatch(/Zyxqv|Qvarnstrom/)
    // A value that it names itself is repeated, and finds nothing.
    expect(told.at(-1)?.body).toMatchObject({ row_count: 0 })
    expect(told.at(-1)?.body).not.toHaveProperty('warnings')
  })
})
