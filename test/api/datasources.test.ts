import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { execute, openAppWithSource, rowsOf, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource())
  await t.app.jobs.start()
})
afterAll(() => t.close())
beforeEach(async () => {
  projectId = await t.project()
  source.answer([{ region: 'north', total: 1 }])
})

const path = () => `/v1/projects/${projectId}/datasources`

async function jobOf(id: string): Promise<{ status: string; error: unknown }> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline;) {
    const { body } = await t.operator.get(`/v1/jobs/${id}`)
    if (['succeeded', 'failed', 'cancelled'].includes(body.status)) return body
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`job ${id} did not end`)
}

describe('datasources', () => {
  test('201 makes a table name from the name, free and fit for SQL', async () => {
    const names: string[] = []
    for (const name of ['Sales (EU)', 'sales eu', 'Order', '2024', 'Łódź']) {
      names.push((await expectStatus(201, t.operator.post(path(), { name, kind: 'http_api' }))).body.table_name)
    }
    expect(names).toEqual(['sales_eu', 'sales_eu_2', 'order_data', 'table_2024', 'lodz'])
  })

  test('409 for a table name that is taken, 400 for a word of SQL', async () => {
    const body = { name: 'x', kind: 'http_api', table_name: 'orders' }
    await expectStatus(201, t.operator.post(path(), body))
    expect(await t.operator.post(path(), body)).toMatchObject({ status: 409, body: { reason: 'name_taken' } })
    expect((await t.operator.post(path(), { ...body, table_name: 'select' })).status).toBe(400)
  })

  test('refresh fetches again as a job, and the data is prepared after it', async () => {
    const config = { url: source.url, method: 'GET' }
    const made = await expectStatus(201, t.operator.post(path(), { name: 'Orders', kind: 'http_api', config }))
    const job = await expectStatus(201, t.operator.post(`${path()}/${made.body.id}/refresh`))
    expect(job.body).toMatchObject({ job_type: 'refresh_datasource', source_id: made.body.id })
    expect(await jobOf(job.body.id)).toMatchObject({ status: 'succeeded' })
    const jobs = await t.operator.get(`/v1/projects/${projectId}/jobs`)
    const dataline = jobs.body.data.find((each: { job_type: string }) => each.job_type.startsWith('build_dataline'))
    expect(await jobOf(dataline.id)).toMatchObject({ status: 'succeeded' })
    const objects = await t.operator.get(`/v1/projects/${projectId}/data-objects?datasource_id=${made.body.id}`)
    const kinds = objects.body.data.map((each: { kind: string }) => each.kind)
    expect(kinds.toSorted()).toEqual(['request_config', 'response_data'])
    const rows = objects.body.data.find((each: { kind: string }) => each.kind === 'response_data')
    const described = await t.operator.get(`/v1/projects/${projectId}/data-objects/${rows.id}`)
    expect(described.body.profile.columns.map((each: { name: string }) => each.name)).toEqual(['region', 'total'])
    const [table] = (await t.app.catalogs.get(projectId)).tables
    expect(table?.copy?.format).toBe('duckdb')
    const values = await t.app.store.db.selectFrom('columnValues').selectAll().execute()
    expect(values).toMatchObject([{ columnName: 'region', value: 'north', occurrences: 1 }])
  })

  test('executes and refreshes of one datasource take turns; a refresh that waits already is not joined by another', async () => {
    let turn = 0
    let open = 0
    let most = 0
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    source.handle((_request, response) => {
      turn += 1
      most = Math.max(most, (open += 1))
      const body = JSON.stringify([{ fetched: turn }])
      void gates[turn - 1]?.promise.then(() => {
        open -= 1
        return response.writeHead(200, { 'content-type': 'application/json' }).end(body)
      })
    })
    const refresh = async () =>
      (await t.operator.post(`${path()}/ds_turns/refresh`)).body as { id: string; status: string }
    gates[0]?.resolve()
    await expectStatus(200, execute(t.operator, { projectId, datasourceId: 'ds_turns', url: source.url }))
    const running = await refresh()
    await expect.poll(() => turn, { timeout: 60_000 }).toBe(2)
    const waiting = await refresh()
    expect([waiting.id === running.id, waiting.status]).toEqual([false, 'queued'])
    expect(await Promise.all([refresh(), refresh()])).toMatchObject([{ id: waiting.id }, { id: waiting.id }])
    const executed = execute(t.operator, { projectId, datasourceId: 'ds_turns', url: source.url })
    gates[1]?.resolve()
    gates[2]?.resolve()
    gates.push(gates[1] as (typeof gates)[number])
    await expectStatus(200, executed)
    expect(await jobOf(running.id)).toMatchObject({ status: 'succeeded' })
    expect(await jobOf(waiting.id)).toMatchObject({ status: 'succeeded' })
    const objects = await t.operator.get(`/v1/projects/${projectId}/data-objects?datasource_id=ds_turns&limit=200`)
    const rows = objects.body.data.filter((each: { kind: string }) => each.kind === 'response_data')
    const fetched = await Promise.all(
      rows.map(async (each: { id: string; version: number }) => [
        each.version,
        ...(await rowsOf(t.operator, projectId, each.id)),
      ]),
    )
    expect(fetched.toSorted()).toEqual([1, 2, 3, 4].map((version) => [version, { fetched: version }]))
    expect(most).toBe(1)
    expect(await t.app.store.db.selectFrom('leases').selectAll().execute()).toEqual([])
  })

  test('keeps as many versions as it is told', async () => {
    const made = await execute(t.operator, { projectId, datasourceId: 'ds_old', url: source.url })
    await jobOf(made.body.jobs[0].id)
    await expectStatus(200, t.operator.patch(`${path()}/ds_old`, { keep_versions: 2 }))
    for (let round = 0; round < 3; round += 1) {
      const { body } = await execute(t.operator, { projectId, datasourceId: 'ds_old', url: source.url })
      await jobOf(body.jobs[0].id)
    }
    const objects = await t.operator.get(`/v1/projects/${projectId}/data-objects?datasource_id=ds_old`)
    const versions = new Set(objects.body.data.map((each: { version: number }) => each.version))
    expect([...versions].toSorted()).toEqual([3, 4])
  })

  test('a schedule names its next run; a wrong one is refused', async () => {
    const made = await expectStatus(201, t.operator.post(path(), { name: 'a', kind: 'http_api' }))
    const change = (body: Record<string, unknown>) => t.operator.patch(`${path()}/${made.body.id}`, body)
    const hourly = await expectStatus(200, change({ schedule: '0 * * * *', schedule_time_zone: 'Europe/Berlin' }))
    expect(hourly.body.next_refresh_at).toMatch(/:00:00\.000Z$/)
    expect((await change({ schedule: 'every day' })).status).toBe(400)
    expect((await change({ schedule: '0 * * * *', schedule_time_zone: 'Mars/Base' })).status).toBe(400)
    expect((await expectStatus(200, change({ schedule: null }))).body.next_refresh_at).toBeNull()
  })

  test('204 deletes it with its data', async () => {
    await expectStatus(200, execute(t.operator, { projectId, datasourceId: 'ds_gone', url: source.url }))
    expect((await t.operator.delete(`${path()}/ds_gone`)).status).toBe(204)
    expect((await t.operator.get(`/v1/projects/${projectId}/data-objects`)).body.data).toEqual([])
    expect((await t.app.catalogs.get(projectId)).tables).toEqual([])
  })

  test('a viewer reads and changes nothing', async () => {
    const viewer = await t.member(projectId, 'viewer')
    expect((await viewer.get(path())).status).toBe(200)
    expect((await viewer.post(path(), { name: 'x', kind: 'http_api' })).status).toBe(403)
  })
})

describe('secrets', () => {
  const planted = ['planted-token-1', 'planted-key-2', 'planted-cookie-3', 'planted-parameter-4', 'planted-user-5']
  const config = () => ({
    url: source.url,
    method: 'GET',
    headers: { 'X-Api-Key': planted[1], Cookie: planted[2] },
    parameters: { access_token: { value: planted[3], required: true } },
    authType: 'Bearer Token',
    auth: { token: planted[0] },
  })

  test('are sent, and are nowhere else: not in an answer, the files, the database or the log', async () => {
    const executed = await execute(t.operator, {
      projectId,
      datasourceId: 'ds_secret',
      url: source.url,
      config: config(),
    })
    const sent = source.requests.at(-1)
    expect([sent?.headers.authorization, sent?.headers['x-api-key']]).toEqual([`Bearer ${planted[0]}`, planted[1]])
    await jobOf(executed.body.jobs[0].id)
    source.answer({}, {}, 500)
    const failing = { projectId, datasourceId: 'ds_secret', url: source.url, config: { ...config(), method: 'POST' } }
    const failed = await execute(t.operator, failing)
    // A key in the address, and a job that fails with all of it.
    const basic = { authType: 'Basic Auth', auth: { username: planted[4], password: planted[0] } }
    const keyed = { url: `${source.url}?api_key=${planted[1]}`, method: 'GET', ...basic }
    const made = await t.operator.post(path(), { name: 'Keyed', kind: 'http_api', config: keyed })
    source.answer({}, {}, 404)
    const refresh = await expectStatus(201, t.operator.post(`${path()}/${made.body.id}/refresh`))
    await vi.waitUntil(async () => (await t.operator.get(`${path()}/${made.body.id}`)).body.last_error !== null, {
      timeout: 60_000,
    })
    const job = (await t.operator.get(`/v1/jobs/${refresh.body.id}`)).body
    const shown = await t.operator.get(`${path()}/ds_secret`)
    const audit = await t.operator.get(`/v1/audit?project_id=${projectId}`)
    const everything = [
      JSON.stringify([executed.body, failed.body, made.body, job, shown.body, audit.body, t.observations]),
      ...globSync('**/*', { cwd: t.app.config.dataDir, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')),
      ...(await databaseText()),
    ]
    expect(everything.some((text) => text.includes('Keyed'))).toBe(true)
    for (const secret of planted) {
      expect(everything.filter((text) => text.includes(secret)).map((text) => text.slice(0, 200))).toEqual([])
    }
    expect(shown.body.config).toMatchObject({ auth: { token: '***' }, headers: { 'X-Api-Key': '***' } })
  })

  test('*** keeps the stored one for the same address, and only for that', async () => {
    await execute(t.operator, { projectId, datasourceId: 'ds_keep', url: source.url, config: config() })
    const shown = (await t.operator.get(`${path()}/ds_keep`)).body.config
    const moved = { ...shown, url: shown.url.replace('127.0.0.1', 'attacker.example') }
    const stolen = await t.operator.patch(`${path()}/ds_keep`, { config: moved })
    expect(stolen).toMatchObject({ status: 400, body: { reason: 'invalid_field' } })
    await expectStatus(200, t.operator.patch(`${path()}/ds_keep`, { config: { ...shown, parameters: {} } }))
    const tested = await t.operator.post('/v1/http/test-connection', {
      ...shown,
      project_id: projectId,
      datasource_id: 'ds_keep',
      parameters: {},
    })
    expect(tested.body.success).toBe(true)
    expect(source.requests.at(-1)?.headers.authorization).toBe(`Bearer ${planted[0]}`)
  })

  /** Every row of every table. */
  async function databaseText(): Promise<string[]> {
    const { pool } = t.app.store
    const tables = await pool.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema')`,
    )
    const texts = tables.rows.map(async ({ name }) => {
      const { rows } = await pool.query<{ row: string }>(`select each::text as row from ${name} each`)
      return `${name}\n${rows.map(({ row }) => row).join('\n')}`
    })
    return Promise.all(texts)
  }
})
