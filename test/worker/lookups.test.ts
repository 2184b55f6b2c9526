import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, type TestApp } from '../harness/app.ts'
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

async function once(name: string, body: Body, headers: Record<string, string>) {
  const {
    statusCode,
    payload,
    headers: sent,
  } = await t.http.inject({
    method: 'POST',
    url: `/v1/queries/${name}`,
    headers: { authorization: `Bearer ${q.secret}`, ...headers },
    payload: body,
  })
  const { 'x-request-id': _, date: __, 'content-length': ___, ...rest } = sent
  return { statusCode, payload: payload.replace(/"execution_time_ms":\d+/, '"execution_time_ms":0'), headers: rest }
}

/** The same call twice: as callers make it, and with a wish for a new execution, which the engine alone answers. */
async function both(name: string, body: Body, accept: string = formats.json) {
  return {
    ours: await once(name, body, { accept }),
    engines: await once(name, body, { accept, 'cache-control': 'no-cache' }),
  }
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
      for (const id of [0, 1, 17, 499]) {
        expect((await q.caller.post('/v1/queries/thing', { id })).body.row_count).toBe(1)
      }
      expect((await q.caller.post('/v1/queries/thing', { id: 500 })).body.data).toEqual([])
    })
    expect(count).toBe(0)
    for (const id of [0, 5, 499, 500, -1]) {
      for (const accept of Object.values(formats)) await expectSame('thing', { id }, accept)
    }
  })

  test('is recorded like any other: rows, bytes, no failure', async () => {
    const before = t.observations.length
    await q.caller.post('/v1/queries/thing', { id: 3 })
    const told = t.observations.slice(before).filter(({ kind }) => kind === 'query-answered')
    expect(told).toEqual([expect.objectContaining({ query: 'thing', rows: 1, code: null, cache: null })])
    expect(told[0]).toMatchObject({ bytes: expect.any(Number), entry: 'direct', version: 1 })
  })

  test('keeps answers as it says: first a miss, then a hit, each with its ETag', async () => {
    const before = written()
    const slots = { type: 'object', properties: { id: integer }, required: ['id'] }
    await q.deploy({ name: 'kept', sql: 'SELECT name FROM things WHERE id = $id', slots, cache_seconds: 60 })
    await eventually(() => written() > before)
    const count = await executions(async () => {
      const [first, second] = [await once('kept', { id: 1 }, {}), await once('kept', { id: 1 }, {})]
      expect([first.headers['x-cache'], second.headers['x-cache']]).toEqual(['miss', 'hit'])
      expect(first.headers['etag']).toBe(second.headers['etag'])
      expect((await once('kept', { id: 1 }, { 'if-none-match': String(first.headers['etag']) })).statusCode).toBe(304)
    })
    expect(count).toBe(0)
  })

  test('wrong values are refused as ever', async () => {
    for (const body of [{}, { id: 'x' }, { id: 1, other: 2 }]) {
      const { ours, engines } = await both('thing', body)
      expect(ours.statusCode).toBe(400)
      expect(JSON.parse(ours.payload).error.reason).toBe(JSON.parse(engines.payload).error.reason)
    }
  })

  test('new data is answered by the engine at once, and from a new file soon; the old one goes', async () => {
    const before = written()
    const old = await readdir(folder())
    await putTable(t.app, q.projectId, { name: 'things', rows: [{ id: 1, name: 'new', price: 1, day: '2025-01-01' }] })
    expect((await q.caller.post('/v1/queries/thing', { id: 1 })).body.data[0].name).toBe('new')
    expect((await q.caller.post('/v1/queries/thing', { id: 2 })).body.data).toEqual([])
    await eventually(() => written() >= before + 1)
    const isNew = async () => (await executions(() => q.caller.post('/v1/queries/thing', { id: 1 }))) === 0
    await eventually(isNew)
    expect((await q.caller.post('/v1/queries/thing', { id: 1 })).body.data[0].name).toBe('new')
    expect((await readdir(folder())).filter((name) => old.includes(name))).toEqual([])
  })

  test('a damaged file gives no answer and is written again', async () => {
    // The other query's file may still be written: damage to that is found before it is used, and told as a failure.
    const names = (await readdir(folder())).filter((name) => name.endsWith('.lookup'))
    expect(names).not.toEqual([])
    for (const name of names) {
      const bytes = await readFile(join(folder(), name))
      await writeFile(join(folder(), name), bytes.fill(0x41, 64))
    }
    expect((await q.caller.post('/v1/queries/thing', { id: 1 })).body.data[0].name).toBe('new')
    await eventually(async () => (await executions(() => q.caller.post('/v1/queries/thing', { id: 1 }))) === 0)
    expect((await q.caller.post('/v1/queries/thing', { id: 1 })).body.data[0].name).toBe('new')
  })

  test('what is taken back has no file', async () => {
    for (const name of ['thing', 'kept']) {
      await expectStatus(200, t.operator.post(`${q.path}/${name}/undeploy`, { environment: 'production' }))
    }
    await eventually(async () => (await readdir(folder())).length === 0)
    expect(await readdir(folder())).toEqual([])
  })
})

/** SQL over `mixed`, its slots, and which of them calls must give. All of it is to be answered alike by both. */
const shapes: Array<{ name: string; sql: string; slots: Slots; required: string[] }> = [
  { name: 'by_text', sql: 'SELECT * FROM mixed WHERE label = $label', slots: { label: text }, required: ['label'] },
  {
    name: 'sorted',
    sql: 'SELECT n, label, x FROM mixed m WHERE m.label = $label ORDER BY x DESC NULLS LAST, n LIMIT 3',
    slots: { label: text },
    required: ['label'],
  },
  {
    name: 'tied',
    sql: 'SELECT n, x AS worth FROM mixed WHERE flag = $flag ORDER BY worth LIMIT 4',
    slots: { flag: { type: 'boolean' } },
    required: ['flag'],
  },
  {
    name: 'wished',
    sql: 'SELECT n, upper(label) AS label FROM mixed WHERE k = $k ORDER BY n LIMIT $most',
    slots: { k: integer, most: integer },
    required: ['k', 'most'],
  },
  {
    name: 'optional',
    sql: 'SELECT n, k, label FROM mixed WHERE k = $k AND ($label IS NULL OR label = $label) AND flag = coalesce($flag, flag)',
    slots: { k: integer, label: text, flag: { type: 'boolean' } },
    required: ['k'],
  },
  {
    name: 'by_day',
    sql: "SELECT n, day, x * 2 AS double FROM mixed WHERE $day = day AND label <> 'a'",
    slots: { day: { type: 'string', format: 'date' } },
    required: ['day'],
  },
  {
    name: 'collated',
    sql: 'SELECT n FROM mixed WHERE label COLLATE NOCASE = $label ORDER BY n',
    slots: { label: text },
    required: ['label'],
  },
  { name: 'today', sql: 'SELECT n, current_date AS d FROM mixed WHERE k = $k', slots: { k: integer }, required: ['k'] },
]

const labels = ['a', 'A', 'é', 'e\u0301', '', 'null', 'a,"b"', 'line\nbreak', '\u001b', '😀', '0', 'true']
const days = ['2024-02-29', '1999-12-31', '0001-01-01']
const row = fc.record({
  n: fc.integer({ min: 0, max: 40 }),
  k: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constant(null), fc.constantFrom(2 ** 53 - 1, -(2 ** 53) + 1)),
  label: fc.oneof(fc.constantFrom(...labels), fc.constant(null)),
  x: fc.oneof(
    fc.constantFrom(0, -0, 1, 1.5, 1e21, 1e-7, 12),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constant(null),
  ),
  flag: fc.oneof(fc.boolean(), fc.constant(null)),
  day: fc.oneof(fc.constantFrom(...days), fc.constant(null)),
  deep: fc.oneof(
    fc.constant(null),
    fc.record({ list: fc.array(fc.constantFrom(...labels)), price: fc.constantFrom(1, 2.5) }),
  ),
})
/** So that each column has its type, whatever was drawn. */
const typed = { n: 0, k: 1, label: 'z', x: 0.5, flag: true, day: '2020-01-01', deep: { list: ['z'], price: 0.5 } }
const values: Record<string, fc.Arbitrary<unknown>> = {
  label: fc.constantFrom(...labels, 'z', 'missing'),
  flag: fc.boolean(),
  k: fc.constantFrom(-3, -2, -1, 0, 1, 2, 3, 99, 2 ** 53 - 1, '9007199254740993'),
  most: fc.constantFrom(0, 1, 2, 50),
  day: fc.constantFrom(...days, '2024-03-01'),
}

/** Keys that no row has, by the query: a file knows of them as soon as there is one. */
const missing: Record<string, Body> = {
  by_text: { label: 'missing' },
  sorted: { label: 'missing' },
  wished: { k: 99, most: 1 },
  optional: { k: 99 },
  by_day: { day: '2024-03-01' },
}

test('files and engine answer alike, whatever the data, the values and the format', async () => {
  for (const { name, sql, slots, required } of shapes) {
    await putTable(t.app, q.projectId, { name: 'mixed', rows: [typed] })
    await deploy(name, sql, slots, required)
  }
  let fromFiles = 0
  const before = t.observations.length
  const calls = fc.array(
    fc.record({ shape: fc.constantFrom(...shapes), given: fc.record(values), left: fc.integer({ min: 0, max: 3 }) }),
    { minLength: 25, maxLength: 25 },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 60 }), calls, async (rows, made) => {
      await putTable(t.app, q.projectId, { name: 'mixed', rows: [typed, ...rows] })
      for (const [name, body] of Object.entries(missing)) {
        await eventually(async () => (await executions(() => once(name, body, {}))) === 0)
      }
      for (const { shape, given, left } of made) {
        const optional = Object.keys(shape.slots).filter((name) => !shape.required.includes(name))
        const names = [...shape.required, ...optional.slice(0, left)]
        const body = Object.fromEntries(names.map((name) => [name, given[name]]))
        for (const accept of Object.values(formats)) await expectSame(shape.name, body, accept)
        fromFiles += (await executions(() => once(shape.name, body, {}))) === 0 ? 1 : 0
      }
    }),
    { numRuns: 6 },
  )
  expect(fromFiles).toBeGreaterThan(30)
  expect(t.observations.slice(before).filter(({ kind }) => kind === 'lookup-failed')).toEqual([])
})

function folder(): string {
  return join(t.app.config.dataDir, 'lookups')
}

function* things(count: number): Generator<object> {
  for (let id = 0; id < count; id += 1) yield { id, name: `thing ${id % 7}`, price: id / 4, day: '2024-02-01' }
}
