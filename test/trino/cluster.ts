import { inspect } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { setTimeout as wait } from 'node:timers/promises'
import { expectStatus } from '../harness/app.ts'
import { makeTable } from '../harness/incremental.ts'
import { rulesKey, type Stage, type StageProject } from './stage.ts'

/** What the log says that Trino said. */
function causesOf({ t }: Stage): string[] {
  const causes = t.observations.flatMap((each) =>
    each.kind === 'request-failed' && each.error instanceof Error ? [inspect(each.error.cause ?? each.error)] : [],
  )
  return [...new Set(causes)].slice(-10)
}

const numbered = (count: number, value = 0) => Array.from({ length: count }, (_, at) => ({ id: at + 1, value }))

/** What is Trino's own: who sees what, versions that never mix, and a cluster that loses a part. */
// Over 70 lines: a suite.
export function describeCluster(stageOf: () => Stage): void {
  describe('who may see what', () => {
    let stage: Stage
    let mine: StageProject
    let other: StageProject
    let schemas: Record<'mine' | 'other', string>
    const schemaOf = async (project: StageProject): Promise<string> => {
      const { rows } = await stage.t.app.store.pool.query<{ name: string }>(
        'select name from iceberg.trino_schemas where project_id = $1',
        [project.id],
      )
      return rows[0]?.name ?? ''
    }
    beforeAll(async () => {
      stage = stageOf()
      await stage.startJobs()
      mine = await stage.project('trino', { secrets: numbered(3) })
      other = await stage.project('trino', { secrets: numbered(5) })
      for (const project of [mine, other]) await project.deploy({ name: 'n', sql: 'SELECT count(*) AS n FROM secrets' })
      schemas = { mine: await schemaOf(mine), other: await schemaOf(other) }
    })

    test("the user of a project reads that project's schema, by Trino's own rules and past ours", async () => {
      const as = mine.id.toLowerCase()
      const ask = (sql: string) => stage.cluster.ask(sql, as, schemas.mine)
      expect(await ask('SELECT count(*) FROM secrets')).toEqual({ rows: [[3]], error: null })
      for (const sql of [
        `SELECT * FROM ${schemas.other}.secrets`,
        'SELECT * FROM content.anything',
        'SELECT * FROM "secrets$files"',
        'SELECT "$path" FROM secrets',
        'SELECT * FROM system.runtime.queries',
        'SELECT * FROM system.metadata.catalogs',
        'INSERT INTO secrets (id) VALUES (9)',
        'DELETE FROM secrets',
        'DROP TABLE secrets',
        'CREATE TABLE mine AS SELECT 1 AS a',
        `CREATE SCHEMA ${as}_x`,
        'SET SESSION task_concurrency = 1',
      ]) {
        const { rows, error } = await ask(sql)
        expect(error, sql).toMatch(/^(PERMISSION_DENIED|TABLE_NOT_FOUND|SCHEMA_NOT_FOUND)/)
        expect(rows, sql).toEqual([])
      }
      const listed = await ask('SELECT table_schema FROM information_schema.tables')
      expect(listed.rows.flat().filter((name) => name !== 'information_schema')).toEqual([schemas.mine])
      const nobody = await stage.cluster.ask('SELECT count(*) FROM secrets', 'somebody', schemas.mine)
      expect(nobody.error).toMatch(/PERMISSION_DENIED/)
    })

    test('authors are refused the same, in words', async () => {
      for (const sql of [
        `SELECT * FROM ${schemas.other}.secrets`,
        `SELECT * FROM ${schemas.mine}.secrets`,
        'SELECT * FROM "secrets$files"',
        'SELECT "$path" FROM secrets',
        'SELECT * FROM system.runtime.queries',
        'SELECT * FROM sluice.information_schema.tables',
        "WITH SESSION query_max_run_time = '1h' SELECT 1 AS x FROM secrets",
      ]) {
        const refused = await stage.t.operator.post(`${mine.path}/inspect`, { sql })
        expect(refused, sql).toMatchObject({ status: 400, body: { reason: 'invalid_sql' } })
        expect(JSON.stringify(refused.body)).not.toContain('Access Denied')
      }
    })

    test('the rules are for who has their key', async () => {
      const rules = await expectStatus(200, stage.t.anonymous.get(`/trino/access-rules?key=${rulesKey}`))
      expect(JSON.stringify(rules.body)).toContain(mine.id.toLowerCase())
      for (const path of ['/trino/access-rules', '/trino/access-rules?key=wrong']) {
        expect((await stage.t.anonymous.get(path)).status).toBe(404)
      }
    })
  })

  test('reads under a stream of new versions give one version each, never a mixture, and none fails', async () => {
    const stage = stageOf()
    const project = await stage.project('trino', { left: numbered(50, 1), right: numbered(50, 1) })
    const sql =
      'SELECT min(a.value) AS a, max(a.value) AS b, count(*) AS n, min(b.value) AS c FROM "left" a JOIN "right" b ON a.id = b.id'
    await project.deploy({ name: 'both', sql })
    const load = { isOver: false }
    const seen: Array<{ a: number; b: number; n: number }> = []
    const readers = Array.from({ length: 3 }, async () => {
      while (!load.isOver) {
        const { body } = await expectStatus(200, project.caller.post('/v1/queries/both', {}))
        seen.push(body.data[0])
      }
    })
    for (let version = 2; version <= 6; version += 1) {
      await project.put('left', numbered(50, version))
      await expectStatus(200, project.caller.post('/v1/queries/both', {}))
    }
    load.isOver = true
    await Promise.all(readers)
    expect(seen.length).toBeGreaterThan(5)
    for (const { a, b, n } of seen) expect({ a, n }).toEqual({ a: b, n: 50 })
    expect((await expectStatus(200, project.caller.post('/v1/queries/both', {}))).body.data[0]).toMatchObject({ a: 6 })
  })

  test('a table that is loaded bit by bit is read with what was replaced, and without columns that are hidden', async () => {
    const stage = stageOf()
    await stage.startJobs()
    const project = await stage.project('trino', {})
    const config = { url: stage.source.url, method: 'GET', parameters: { since: { value: '{{last_value}}' } } }
    const load = { mode: 'merge', primary_key: ['id'], cursor: { field: 'at' } }
    const columns = [{ source_name: 'secret', hidden: true }]
    const row = (id: number, at: number, v: string) => ({ id, at: `2026-01-0${at}T00:00:00Z`, v, secret: 's' })
    stage.source.answer([row(1, 1, 'old'), row(2, 1, 'stays')])
    const table = await makeTable(stage.t, project.id, { config, load })
    expect(await table.refresh()).toMatchObject({ status: 'succeeded' })
    await expectStatus(200, stage.t.operator.patch(`${table.path}/schema`, { columns }))
    const { table_name: name } = (await expectStatus(200, stage.t.operator.get(table.path))).body as {
      table_name: string
    }
    await project.deploy({ name: 'bits', sql: `SELECT * FROM "${name}" ORDER BY id` })
    const values = async () => {
      const { body } = await expectStatus(200, project.caller.post('/v1/queries/bits', {}))
      return (body.data as Array<Record<string, unknown>>).map(({ at: _at, ...rest }) => rest)
    }
    expect(await values()).toEqual([
      { id: 1, v: 'old' },
      { id: 2, v: 'stays' },
    ])
    stage.source.answer([row(1, 2, 'new'), row(3, 2, 'more')])
    expect(await table.refresh()).toMatchObject({ status: 'succeeded' })
    expect(await values()).toEqual([
      { id: 1, v: 'new' },
      { id: 2, v: 'stays' },
      { id: 3, v: 'more' },
    ])
  })

  test('a caller who hangs up ends the query on Trino', async () => {
    const stage = stageOf()
    const project = await stage.project('trino', { many: numbered(2_000) })
    const sql = 'SELECT count(*) AS n FROM many a CROSS JOIN many b CROSS JOIN many c WHERE a.id * b.id + c.id = -1'
    await project.deploy({ name: 'endless', sql, timeout_ms: 60_000 })
    const running = async () =>
      ((await (await fetch(`${stage.cluster.url}/ui/api/stats`)).json()) as { runningQueries: number }).runningQueries
    const leaving = new AbortController()
    const call = fetch(`${stage.url}/v1/queries/endless`, {
      method: 'POST',
      headers: { authorization: `Bearer ${project.secret}`, 'content-type': 'application/json' },
      body: '{}',
      signal: leaving.signal,
    })
    await expect.poll(running, { timeout: 20_000 }).toBeGreaterThan(0)
    leaving.abort()
    await expect(call).rejects.toThrow(/abort/i)
    await expect.poll(running, { timeout: 10_000 }).toBe(0)
  })

  test('schemas and tables that nobody reads any more go, and those that are read stay', async () => {
    const stage = stageOf()
    const { store, trino } = stage.t.app
    const project = await stage.project('trino', { swept: numbered(5, 1) })
    await project.deploy({ name: 'swept', sql: 'SELECT sum(value) AS n FROM swept' })
    await project.put('swept', numbered(5, 2))
    await expectStatus(200, project.caller.post('/v1/queries/swept', {}))
    const known = async () =>
      (
        await store.pool.query('select name from iceberg.trino_schemas where project_id = $1 order by used_at', [
          project.id,
        ])
      ).rows as Array<{ name: string }>
    const [old] = await known()
    await store.pool.query("update iceberg.trino_schemas set used_at = now() - interval '2 days' where name = $1", [
      old?.name,
    ])
    await store.pool.query("update iceberg.trino_tables set made_at = now() - interval '2 hours'")
    const metadata = (await stage.objects.keys()).filter((key) => key.includes('/iceberg/')).length
    expect(await trino?.sweep()).toBe(1)
    expect((await known()).map(({ name }) => name)).not.toContain(old?.name)
    expect((await stage.objects.keys()).filter((key) => key.includes('/iceberg/')).length).toBeLessThan(metadata)
    expect((await expectStatus(200, project.caller.post('/v1/queries/swept', {}))).body.data).toEqual([{ n: 10 }])
  })

  test('a worker that is killed under load takes only its own queries with it', async () => {
    const stage = stageOf()
    const project = await stage.project('trino', { rows: numbered(1_000, 2) })
    await project.deploy({ name: 'sum', sql: 'SELECT sum(value) AS n, count(*) AS c FROM rows' })
    const ends: Array<{ status: number; begunMs: number; data: unknown; error: unknown }> = []
    const load = { isOver: false }
    const callers = Array.from({ length: 4 }, async () => {
      while (!load.isOver) {
        const begunMs = Date.now()
        const { status, body } = await project.caller.post('/v1/queries/sum', {})
        ends.push({ status, begunMs, data: body.data, error: body.error })
        if (status !== 200) await wait(200)
      }
    })
    await expect.poll(() => ends.length, { timeout: 60_000 }).toBeGreaterThan(8)
    const [warm, warmMs] = [ends.length, Date.now()]
    await wait(10_000)
    const perSecond = ((ends.length - warm) * 1_000) / (Date.now() - warmMs)
    process.stdout.write(`${callers.length} callers: ${perSecond.toFixed(1)} calls a second on Trino\n`)
    const noticed = async (workers: number): Promise<void> => {
      await expect.poll(() => stage.cluster.activeWorkers(), { timeout: 240_000, interval: 500 }).toBe(workers)
    }
    await stage.cluster.workers['worker-2'].kill()
    const killedMs = Date.now()
    await noticed(1)
    // Trino gives work to a worker as long as it believes in it; after that, calls succeed one after the other.
    const noticedMs = Date.now()
    const begunLater = () => ends.filter(({ begunMs }) => begunMs > noticedMs).slice(-20)
    const answered = Array.from({ length: 20 }, () => 200)
    await expect.poll(() => begunLater().map(({ status }) => status), { timeout: 240_000 }).toEqual(answered)
    load.isOver = true
    await Promise.all(callers)
    const failed = ends.filter(({ status }) => status !== 200)
    // What fails says that it is worth another try, and none of what is answered is wrong.
    expect(
      new Set(failed.map(({ status, error }) => `${status} ${String(error)}`)),
      causesOf(stage).join('\n'),
    ).toEqual(new Set(failed.length === 0 ? [] : ['503 overloaded']))
    expect(
      ends.filter(({ status }) => status === 200).every(({ data }) => JSON.stringify(data) === '[{"n":2000,"c":1000}]'),
    ).toBe(true)
    process.stdout.write(
      `worker killed, noticed ${noticedMs - killedMs} ms later: ${ends.length} calls, ${failed.length} failed\n`,
    )
    await stage.cluster.workers['worker-2'].start()
    for (let call = 0; call < 10; call += 1) await expectStatus(200, project.caller.post('/v1/queries/sum', {}))
    // Now nobody else is there to do the work: the one that came back does it.
    await stage.cluster.workers['worker-1'].kill()
    await noticed(1)
    const callOnce = async () => (await project.caller.post('/v1/queries/sum', {})).status
    await expect.poll(callOnce, { timeout: 240_000, interval: 500 }).toBe(200)
    await stage.cluster.workers['worker-1'].start()
    for (let call = 0; call < 10; call += 1) await expectStatus(200, project.caller.post('/v1/queries/sum', {}))
  })
}
