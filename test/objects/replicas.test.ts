import { rm, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sweepFiles } from '../../server/data/index.ts'
import { openTestApp, expectStatus, type TestApp } from '../harness/app.ts'
import { createDatabase, type TestDatabase } from '../harness/database.ts'
import { openObjectServer, type ObjectServer } from '../harness/object-server.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'
import { execute, openSource, type Source } from '../harness/source.ts'

let server: ObjectServer
let source: Source
let database: TestDatabase
let first: TestApp
let second: TestApp
let project: QueryProject

const openReplica = (more: Record<string, string> = {}): Promise<TestApp> =>
  openTestApp({
    ...server.environment,
    SLUICE_DATABASE_URL: database.url,
    SLUICE_OUTBOUND_ALLOW: source.host,
    SLUICE_FAILED_SIGN_INS_PER_MINUTE: '6',
    SLUICE_PLANS: 'small=60/12,pro=600/100,unlimited',
    ...more,
  })

beforeAll(async () => {
  server = await openObjectServer()
  source = await openSource()
  database = await createDatabase()
  first = await openReplica()
  second = await openReplica()
  project = await openQueryProject(first)
  await project.deploy({ name: 'count', sql: 'SELECT count(*) AS n, sum(id) AS total FROM orders' })
})
afterAll(async () => {
  await first.close()
  await second.close()
  await database.drop()
  await source.close()
  await server.close()
})

const callOn = (replica: TestApp, name = 'count') => replica.withToken(project.secret).post(`/v1/queries/${name}`, {})
const folderOf = (replica: TestApp): string => join(replica.app.config.dataDir, 'files')

async function wipe(replica: TestApp): Promise<void> {
  const folders = (await readdir(folderOf(replica))).filter((name) => /^[0-9a-f]{2}$/.test(name))
  for (const name of folders) await rm(join(folderOf(replica), name), { recursive: true })
}

/** Replicas hear of each other's changes by notification. */
async function settled(replica: TestApp, wanted: unknown, name?: string): Promise<void> {
  await expect.poll(async () => (await callOn(replica, name)).body.data, { timeout: 5_000 }).toEqual(wanted)
}

describe('replicas that share a bucket', () => {
  test('answer from data that another one wrote, with the same entity tag and without the database when warm', async () => {
    await settled(second, [{ n: 30, total: 465 }])
    // Signs of life are statements, too: a call meets one now and then.
    const during = async (): Promise<number> => {
      const before = second.app.store.roundTrips()
      await expectStatus(200, callOn(second))
      return second.app.store.roundTrips() - before
    }
    await expect.poll(during).toBe(0)
    expect(first.app.catalogs.peek(project.projectId)?.version).toBe(
      (await second.app.catalogs.get(project.projectId)).version,
    )
  })

  test('bring here only the tables that a query reads', async () => {
    source.answer([{ id: 1 }])
    const input = { projectId: project.projectId, datasourceId: 'ds_unread', url: source.url }
    const made = await expectStatus(200, execute(first.operator, input))
    const row = await first.app.store.db
      .selectFrom('dataObjects')
      .select('fileHash')
      .where('id', '=', String(made.body.data_object_id))
      .executeTakeFirstOrThrow()
    await settled(second, [{ n: 30, total: 465 }])
    await expectStatus(200, callOn(second))
    const here = await readdir(folderOf(second), { recursive: true })
    expect(here.some((path) => path.includes(row.fileHash))).toBe(false)
  })

  test('tell an author what a misspelled table is called, although it was not brought here', async () => {
    const draft = { name: 'misspelled', sql: 'SELECT count(*) AS n FROM ordres' }
    const refused = await second.operator.post(project.path, draft)
    expect(refused).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('perhaps you meant orders') as string },
    })
  })

  test('write the same rows at once, and keep one object of them', async () => {
    source.answer([{ same: 'rows' }])
    const answers = await Promise.all(
      [first, second, first, second].map((replica, at) =>
        execute(replica.operator, { projectId: project.projectId, datasourceId: `ds_same_${at}`, url: source.url }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const ids = answers.map(({ body }) => String(body.data_object_id))
    const rows = await first.app.store.db.selectFrom('dataObjects').select('fileHash').where('id', 'in', ids).execute()
    const [hash] = rows.map(({ fileHash }) => fileHash)
    expect(new Set(rows.map(({ fileHash }) => fileHash)).size).toBe(1)
    expect((await server.keys()).filter((key) => key.includes(String(hash)))).toHaveLength(1)
  })

  test('are only slower when their cache is wiped, at any moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const calls = Array.from({ length: 10 }, () => callOn(second))
      await wipe(second)
      const after = await callOn(second)
      expect([...(await Promise.all(calls)), after].map(({ status }) => status)).toEqual(Array(11).fill(200))
    }
  })

  test('serve the data before it where an object is damaged in the bucket', async () => {
    source.answer([{ v: 1 }])
    const input = { projectId: project.projectId, datasourceId: 'ds_damaged', url: source.url }
    await expectStatus(200, execute(first.operator, input))
    await project.deploy({ name: 'value', sql: 'SELECT v FROM ds_damaged' })
    source.answer([{ v: 2 }])
    const made = await expectStatus(200, execute(first.operator, input))
    const { fileHash, nativeHash } = await first.app.store.db
      .selectFrom('dataParts')
      .innerJoin('versionParts', 'partId', 'id')
      .select(['fileHash', 'nativeHash'])
      .where('dataObjectId', '=', made.body.data_object_id)
      .executeTakeFirstOrThrow()
    for (const name of [`${fileHash}.parquet`, ...(nativeHash === null ? [] : [`${nativeHash}.duckdb`])]) {
      await writeFile(server.pathOf(`objects/${name.slice(0, 2)}/${name}`), 'rotten')
    }
    await settled(second, [{ v: 1 }], 'value')
    expect((await callOn(first, 'value')).status).toBe(200)
  })
})

describe('while the bucket is away', () => {
  test('what is cached is answered, what is not says so, writes fail whole, and all is well when it is back', async () => {
    const third = await openReplica()
    try {
      await expectStatus(200, callOn(first))
      const objects = await server.keys()
      const known = await first.app.store.db.selectFrom('dataObjects').select('id').execute()
      await server.kill()
      await expectStatus(200, callOn(first))
      const cold = await callOn(third)
      expect(cold).toMatchObject({ status: 503, body: { error: 'overloaded' } })
      expect(cold.body.message).toContain('The object storage cannot be read now')
      source.answer([{ during: 'the outage' }])
      const input = { projectId: project.projectId, datasourceId: 'ds_outage', url: source.url }
      const write = await execute(first.operator, input)
      expect(write).toMatchObject({ status: 503, body: { error: 'overloaded' } })
      expect(write.body.message).toContain('nothing was stored')
      expect(await first.app.store.db.selectFrom('dataObjects').select('id').execute()).toHaveLength(known.length)
      await server.start()
      expect(await server.keys()).toEqual(objects)
      await expectStatus(200, execute(first.operator, input))
      await expectStatus(200, callOn(third))
    } finally {
      await third.close()
    }
  })
})

test('a sweep removes what no row names an hour after it was last kept, and one replica does it', async () => {
  const { files, store } = first.app
  const keepOrphan = async (content: string): Promise<string> => {
    const path = files.temporaryPath('json')
    await writeFile(path, content)
    return (await files.keep(path, 'json')).hash
  }
  const hashes = [await keepOrphan('{"old":1}'), await keepOrphan('{"young":1}')]
  await store.pool.query("update stored_files set kept_at = now() - interval '2 hours'")
  await keepOrphan('{"young":1}')
  const there = async () => {
    const keys = await server.keys()
    return hashes.map((hash) => keys.some((key) => key.includes(hash)))
  }
  expect(await there()).toEqual([true, true])
  const swept = await Promise.all([sweepFiles(first.app), sweepFiles(second.app)])
  expect(Math.max(...swept)).toBeGreaterThan(0)
  expect(await there()).toEqual([false, true])
  // Every object that a row names is there.
  await wipe(second)
  await expectStatus(200, callOn(second))
})

describe('what replicas count', () => {
  test('failed sign-ins on one are known to the other within a second', async () => {
    const person = { email: 'nobody@example.org', password: 'not-the-password' }
    const failures = [first, second, first, second, first, second].map((replica) =>
      replica.browser().post('/v1/session', person),
    )
    expect((await Promise.all(failures)).map(({ status }) => status)).toEqual(Array(6).fill(401))
    for (const replica of [first, second]) {
      const again = async () => (await replica.browser().post('/v1/session', person)).status
      await expect.poll(again, { timeout: 1_000, interval: 300 }).toBe(429)
    }
  })

  test('calls of a key are counted once for all of them, without Redis, too', async () => {
    await expect.poll(() => [first, second].map(({ app }) => app.replicas.answering())).toEqual([2, 2])
    const made = await expectStatus(
      201,
      first.operator.post('/v1/api-keys', {
        name: 'small',
        plan: 'small',
        permissions: [{ project_id: project.projectId, environments: '*' }],
      }),
    )
    const call = async (replica: TestApp) =>
      (await replica.withToken(made.body.secret).post('/v1/queries/count', {})).status
    await expect.poll(() => call(second)).toBe(200)
    const statuses = []
    for (let round = 0; round < 15; round += 1) statuses.push(await call(first), await call(second))
    // A burst of twelve, of which the one above was two, and one more for each second that it took.
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(10)
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(13)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
  })

  test('an answer of either sees a model and its tables of one moment, while one of them rebuilds it', async () => {
    const path = `/v1/projects/${project.projectId}`
    await first.app.jobs.start()
    const table = { name: 'sales', kind: 'file', table_name: 'sales' }
    const { id } = (await expectStatus(201, first.operator.post(`${path}/datasources`, table))).body
    const load = (replica: TestApp, value: number) =>
      replica.operator.post(
        `${path}/datasources/${id}/files?filename=rows.json`,
        Array.from({ length: 200 }, (_, at) => ({ id: at, value })),
      )
    await expectStatus(201, load(first, 1))
    // Slow enough that both replicas answer while the next version is not built in yet.
    const slow = `SELECT sum(value)::BIGINT AS total FROM sales
      CROSS JOIN (SELECT max(a.i * b.j) AS m FROM range(4000) a(i), range(10000) b(j)) WHERE m > 0`
    await expectStatus(201, first.operator.post(`${path}/models`, { name: 'sold', sql: slow }))
    await expectStatus(201, first.operator.post(`${path}/models`, { name: 'top', sql: 'SELECT total FROM sold' }))
    const built = async () => (await first.operator.get(`${path}/models/top`)).body.row_count
    await expect.poll(built, { timeout: 60_000 }).toBe(1)
    const sql = `SELECT (SELECT sum(value) FROM sales)::BIGINT AS o, (SELECT total FROM sold) AS s, (SELECT total FROM top) AS t`
    await project.deploy({ name: 'together', sql })
    await expect.poll(async () => (await callOn(second, 'together')).status, { timeout: 10_000 }).toBe(200)
    const seen = new Set<string>()
    const rowOf = async (replica: TestApp): Promise<Record<string, number>> =>
      (await expectStatus(200, callOn(replica, 'together'))).body.data[0]
    for (const value of [2, 3, 4]) {
      await expectStatus(201, load(value % 2 === 0 ? second : first, value))
      const isDone = async () => (await rowOf(first))['t'] === value * 200 && (await rowOf(second))['t'] === value * 200
      for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
        for (const replica of [first, second]) {
          const { o, s, t } = await rowOf(replica)
          seen.add(`${o} ${s} ${t}`)
          expect([s, t]).toEqual([o, o])
        }
        if (await isDone()) break
      }
      expect(await isDone()).toBe(true)
    }
    // Several moments were met, and never two at once.
    expect(seen.size).toBeGreaterThanOrEqual(3)
  }, 240_000)

  test('a worker answers how it is and no calls, and is none of those that calls are divided by', async () => {
    const worker = await openReplica({ SLUICE_ROLE: 'worker' })
    try {
      expect((await worker.anonymous.get('/healthz')).status).toBe(200)
      expect(await worker.operator.get('/v1/projects')).toMatchObject({
        status: 503,
        body: { error: 'overloaded', message: expect.stringContaining('SLUICE_ROLE=worker') as string },
      })
      await expect.poll(() => worker.app.replicas.answering()).toBe(2)
    } finally {
      await worker.close()
    }
  })

  test('what is said of the bucket shows in the readiness', async () => {
    const { body } = await expectStatus(200, first.anonymous.get('/readyz'))
    expect(body.checks.objects).toEqual({ ok: true, optional: true })
  })
})
