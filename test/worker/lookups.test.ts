import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { putTable } from '../harness/tables.ts'
import { eventually } from './engine-fixture.ts'

let t: TestApp
let q: QueryProject

beforeAll(async () => {
  t = await openTestApp({ SLUICE_LOOKUP_BYTES: '67108864' })
  q = await openQueryProject(t)
})
afterAll(() => t.close())

const integer = { type: 'integer' as const }
const text = { type: 'string' as const }

type Slots = Record<string, object>

/** Deploys a query over `things` and waits until its answers are written, or known not to be. */
async function deploy(name: string, sql: string, properties: Slots, required: string[]): Promise<void> {
  await q.deploy({ name, sql, slots: { type: 'object', properties, required } })
}

function written(): number {
  return t.observations.filter(({ kind }) => kind === 'lookup-written').length
}

/** How many calls the engine answered while `use` went on. */
async function executions(use: () => Promise<unknown>): Promise<number> {
  const { engine } = t.app
  const read = engine.read.bind(engine)
  const stream = engine.stream.bind(engine)
  let count = 0
  engine.read = (...call) => {
    count += 1
    return read(...call)
  }
  engine.stream = (...call) => {
    count += 1
    return stream(...call)
  }
  try {
    await use()
  } finally {
    Object.assign(engine, { read, stream })
  }
  return count
}

type Body = Record<string, unknown>
const formats = { json: 'application/json', ndjson: 'application/x-ndjson', csv: 'text/csv' }

/** The same call twice: as callers make it, and with a wish for a new execution, which the engine alone answers. */
async function both(name: string, body: Body, accept: string = formats.json) {
  const call = async (headers: Record<string, string>) => {
    const {
      statusCode,
      payload,
      headers: sent,
    } = await t.http.inject({
      method: 'POST',
      url: `/v1/queries/${name}`,
      headers: { authorization: `Bearer ${q.secret}`, accept, ...headers },
      payload: body,
    })
    const { 'x-request-id': _, date: __, 'content-length': ___, ...rest } = sent
    return { statusCode, payload: payload.replace(/"execution_time_ms":\d+/, '"execution_time_ms":0'), headers: rest }
  }
  return { ours: await call({}), engines: await call({ 'cache-control': 'no-cache' }) }
}

async function expectSame(name: string, body: Body, accept?: string): Promise<void> {
  const { ours, engines } = await both(name, body, accept)
  expect(ours).toEqual(engines)
}

describe('a query that finds rows by a key', () => {
  test('is answered from a file after it went live, with the bytes of the engine', async () => {
    await putTable(t.app, q.projectId, { name: 'things', rows: things(500) })
    const before = written()
    await deploy('thing', 'SELECT * FROM things WHERE id = $id', { id: integer }, ['id'])
    await eventually(() => written() > before)
    const count = await executions(async () => {
      for (const id of [0, 1, 17, 499])
        expect((await q.caller.post('/v1/queries/thing', { id })).body.row_count).toBe(1)
      expect((await q.caller.post('/v1/queries/thing', { id: 500 })).body.data).toEqual([])
    })
    expect(count).toBe(0)
    for (const id of [0, 5, 499, 500, -1]) {
      for (const accept of Object.values(formats)) await expectSame('thing', { id }, accept)
    }
  })
})

function* things(count: number): Generator<object> {
  for (let id = 0; id < count; id += 1) yield { id, name: `thing ${id % 7}`, price: id / 4, day: '2024-02-01' }
}
void fc
void [readdir, readFile, rm, truncate, writeFile, join, text]
