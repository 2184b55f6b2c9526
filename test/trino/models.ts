import { beforeAll, describe, expect, test } from 'vitest'
import { expectStatus } from '../harness/app.ts'
import { makeDataDir } from '../harness/data-dir.ts'
import { killAll, processTree, startService } from '../harness/process.ts'
import type { Stage, StageProject } from './stage.ts'

const orders = Array.from({ length: 300 }, (_, at) => ({
  id: at + 1,
  customer: (at % 3) + 1,
  total: at / 4,
  day: `2026-01-${String((at % 28) + 1).padStart(2, '0')}`,
  tags: at % 2 === 0 ? ['a'] : [],
  place: { city: 'Berlin', Zip: at },
  note: at === 0 ? null : `note ${at}`,
}))
const customers = [1, 2, 3].map((id) => ({ id, country: ['DE', 'FR', 'IT'][id - 1] }))
/** Rows by the million, which two workers with little memory do not write within seconds. */
const large =
  'SELECT o.id * 90000 + p.id * 300 + q.id AS id, o.note, p.total FROM orders o CROSS JOIN orders p CROSS JOIN orders q WHERE q.id < 20'
const hourMs = 3_600_000

/** Tables made of tables, by the cluster. */
// Over 70 lines: a suite.
export function describeModels(stageOf: () => Stage): void {
  describe('models on trino', () => {
    let stage: Stage
    let project: StageProject
    let path: string
    const model = async (name: string) => (await expectStatus(200, stage.t.operator.get(`${path}/models/${name}`))).body
    const create = (name: string, sql: string) => stage.t.operator.post(`${path}/models`, { name, sql })
    const rebuild = (name: string) => expectStatus(201, stage.t.operator.post(`${path}/models/${name}/rebuild`, {}))
    const built = async (name: string, more: object) => {
      await expect.poll(() => model(name), { timeout: 400_000, interval: 200 }).toMatchObject(more)
    }
    const rows = async (sql: string) => {
      const asked = { sql, parameters: {} }
      return (await expectStatus(200, stage.t.operator.post(`${path}/queries/run`, asked))).body.data
    }
    /** What the cluster has of models, in the catalog and in the bucket. */
    const left = async () => {
      const { rows: tables } = await stage.t.app.store.pool.query<{ name: string }>(
        "select table_name as name from iceberg.iceberg_tables where starts_with(table_namespace, 'models_')",
      )
      const keys = (await stage.objects.keys()).filter((key) => key.includes('/iceberg/models/'))
      return [...tables.map(({ name }) => name), ...keys]
    }
    const running = async () =>
      ((await (await fetch(`${stage.cluster.url}/ui/api/stats`)).json()) as { runningQueries: number }).runningQueries
    /** Whether the cluster writes a table now. */
    const making = async () => {
      const listed = await fetch(`${stage.cluster.url}/v1/query`, { headers: { 'x-trino-user': 'sluice' } })
      const queries = (await listed.json()) as Array<{ query: string; state: string }>
      return queries.some(({ query, state }) => query.startsWith('CREATE TABLE') && state === 'RUNNING')
    }
    /** Later, when what nobody finished is overdue. */
    const swept = async () => {
      stage.t.advance(hourMs * 2)
      await stage.t.app.trino?.sweep()
      stage.t.advance(-hourMs * 2)
    }
    beforeAll(async () => {
      stage = stageOf()
      project = await stage.project('trino', { orders, customers })
      path = `/v1/projects/${project.id}`
    })

    test('a process that is killed in the middle leaves the last good version, and no table that stays', async () => {
      const sql = 'SELECT id, note, total FROM orders'
      const dataDir = await makeDataDir()
      const worker = await startService(dataDir, { ...stage.environment, SLUICE_ROLE: 'worker' })
      try {
        await expectStatus(201, create('grown', sql))
        await built('grown', { status: 'ready', row_count: 300 })
        await expectStatus(200, stage.t.operator.put(`${path}/models/grown`, { sql: large }))
        await expect.poll(making, { timeout: 120_000, interval: 20 }).toBe(true)
      } finally {
        killAll(processTree(worker.pid))
        await worker.exited
      }
      expect(await rows('SELECT count(*) AS n FROM grown')).toEqual([{ n: 300 }])
      await stage.startJobs()
      await built('grown', { status: 'ready', row_count: 300 * 300 * 19 })
      // The cluster goes on with what nobody asks after, and may make a table of it.
      await expect.poll(running, { timeout: 400_000 }).toBe(0)
      await swept()
      expect(await left()).toEqual([])
    })

    describe('in a process that lives', () => {
      beforeAll(() => stage.startJobs())

      test('are tables of the same names and types, that the workers write and leave nothing of beside', async () => {
        const sql = `SELECT o.id, o.total AS "Total Sum", o.day, o.tags, o.place, o.note, c.country,
        CAST(o.id AS smallint) AS small, CAST(o.id AS decimal(12, 2)) AS exact, o.id % 2 = 0 AS even,
        TIMESTAMP '2026-01-01 10:00:00.123456' AS at, CAST(ROW(o.id) AS json) AS document
        FROM orders o JOIN customers c ON c.id = o.customer -- all of them`
        await expectStatus(201, create('lines', sql))
        await built('lines', { status: 'ready', row_count: 300, problem: null })
        expect(await rows('SELECT * FROM lines WHERE id <= 2 ORDER BY id')).toMatchObject([
          {
            id: 1,
            day: '2026-01-01',
            tags: ['a'],
            place: { city: 'Berlin', Zip: 0 },
            note: null,
            country: 'DE',
            small: 1,
            exact: 1,
            even: false,
            at: '2026-01-01T10:00:00.123456Z',
          },
          { id: 2, 'total sum': 0.25, tags: [], note: 'note 1', country: 'FR', even: true },
        ])
        const { body } = await stage.t.operator.get(`${path}/datasources/${(await model('lines')).id}/versions`)
        expect(body.data).toMatchObject([{ version: 1, status: 'live', row_count: 300 }])
        const of = (await model('lines')).columns.map((column: { name: string }) => column.name)
        expect(of).toEqual(expect.arrayContaining(['id', 'Total Sum', 'country', 'exact']))
        expect(await left()).toEqual([])
      })

      test('are built again behind their tables, by way of others, and held by their checks', async () => {
        await expectStatus(201, create('by_country', 'SELECT country, count(*) AS n FROM lines GROUP BY country'))
        await built('by_country', { status: 'ready', row_count: 3 })
        await project.put('customers', [...customers.slice(0, 2), { id: 3, country: 'FR' }])
        await rebuild('lines')
        await built('by_country', { status: 'ready', row_count: 2 })
        expect(await rows('SELECT n FROM by_country ORDER BY n')).toEqual([{ n: 100 }, { n: 200 }])
        const { id } = await model('by_country')
        const checks = [{ type: 'accepted_values', column: 'country', values: ['DE'] }]
        await expectStatus(200, stage.t.operator.patch(`${path}/datasources/${id}/schema`, { checks }))
        await rebuild('by_country')
        await built('by_country', { status: 'held', row_count: 2 })
      })

      test('have no rows where there are none', async () => {
        await expectStatus(201, create('none', 'SELECT id, day, note FROM orders WHERE id < 0'))
        await built('none', { status: 'ready', row_count: 0 })
        expect(await rows('SELECT count(*) AS n FROM none')).toEqual([{ n: 0 }])
      })

      test('let callers in: none of their calls fails while one is written, and it ends when it is cancelled', async () => {
        await project.deploy({ name: 'beside', sql: 'SELECT count(*) AS n FROM orders' })
        const perSecond = async (seconds = 10): Promise<string> => {
          const untilMs = performance.now() + seconds * 1_000
          const callers = Array.from({ length: 4 }, async () => {
            let calls = 0
            for (; performance.now() < untilMs; calls += 1)
              await expectStatus(200, project.caller.post('/v1/queries/beside', {}))
            return calls
          })
          const calls = (await Promise.all(callers)).reduce((sum, each) => sum + each, 0)
          return (calls / seconds).toFixed(1)
        }
        await perSecond(3)
        const alone = await perSecond()
        const endless = 'FROM orders o CROSS JOIN orders p CROSS JOIN orders q CROSS JOIN orders r'
        await expectStatus(201, create('endless', `SELECT max(o.id * p.id + q.id * r.id) AS most ${endless}`))
        await expect.poll(making, { timeout: 60_000, interval: 20 }).toBe(true)
        const beside = await perSecond()
        expect(await making()).toBe(true)
        process.stdout.write(`4 callers on Trino: ${alone} calls a second, ${beside} beside a model that never ends\n`)
        const { body: jobs } = await stage.t.operator.get(`${path}/jobs?limit=200`)
        const job = jobs.data.find(
          (each: Record<string, string>) => each['job_type'] === 'rebuild_model' && each['status'] === 'running',
        )
        await expectStatus(200, stage.t.operator.post(`/v1/jobs/${job.id}/cancel`))
        await expect.poll(running, { timeout: 60_000 }).toBe(0)
      })

      test('end at their limits of rows, bytes and time, on the cluster too, and leave nothing', async () => {
        const { limits } = stage.t.app.config
        const was = { ...limits }
        const refused = async (name: string, sql: string, problem: RegExp): Promise<void> => {
          await expectStatus(201, create(name, sql))
          await built(name, { status: 'failed', problem: expect.stringMatching(problem) as string })
          await expect.poll(running, { timeout: 60_000 }).toBe(0)
        }
        try {
          limits.modelRows = 299
          await refused('many', 'SELECT id FROM orders', /more than 299 rows/)
          Object.assign(limits, was, { modelBytes: 2_000_000 })
          const startedMs = performance.now()
          const digests = 'sha512(to_utf8(o.note || CAST(q.id AS varchar) || CAST(p.id AS varchar))) AS note'
          await refused('wide', large.replace('o.note', digests), /more than 2000000 bytes/)
          process.stdout.write(
            `a model of too many bytes ended after ${Math.round(performance.now() - startedMs)} ms\n`,
          )
          Object.assign(limits, was, { modelTimeoutMs: 3_000 })
          await refused('slow', large.replace('q.id < 20', 'q.id < 250'), /past its limit/)
        } finally {
          Object.assign(limits, was)
        }
        await swept()
        expect(await left()).toEqual([])
      })
    })
  })
}
