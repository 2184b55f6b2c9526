import { existsSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { openAppWithSource, rowsOf, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource({ SLUICE_EXECUTE_TIMEOUT_MS: '4000' }, { bounds: { outboundTries: 1 } }))
  await t.app.jobs.start()
})
afterAll(() => t.close())
beforeEach(async () => {
  projectId = await t.project()
})

type Job = { id: string; status: string; attempt: number; details: unknown; error: { message: string } | null }

async function refreshed(datasourceId: string): Promise<Job> {
  const job = await expectStatus(201, t.operator.post(`/v1/projects/${projectId}/datasources/${datasourceId}/refresh`))
  const read = async () => (await t.operator.get(`/v1/jobs/${job.body.id}`)).body as Job
  await expect.poll(async () => (await read()).status, { timeout: 30_000 }).toMatch(/succeeded|failed/)
  return read()
}

async function datasource(pagination: object): Promise<string> {
  const config = { url: source.url, method: 'GET' }
  const body = { name: 'Orders', kind: 'http_api', config, pagination }
  return (await expectStatus(201, t.operator.post(`/v1/projects/${projectId}/datasources`, body))).body.id
}

/** Ten pages of two rows; `upset` may refuse one, and `held` keeps those after the third waiting. */
function pages(upset: (page: number) => boolean = () => false, held?: Promise<void>): Map<number, number> {
  const asked = new Map<number, number>()
  source.handle((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page'))
    asked.set(page, (asked.get(page) ?? 0) + 1)
    const rows = page > 10 ? [] : [{ id: page * 2 }, { id: page * 2 + 1 }]
    const status = upset(page) ? 500 : 200
    const answer = () => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(rows))
    if (held !== undefined && page > 3) void held.then(answer)
    else answer()
  })
  return asked
}

async function ids(datasourceId: string): Promise<number[]> {
  const objects = await t.operator.get(`/v1/projects/${projectId}/data-objects?datasource_id=${datasourceId}`)
  const { id } = objects.body.data.find(({ kind }: { kind: string }) => kind === 'response_data')
  return ((await rowsOf(t.operator, projectId, id)) as { id: number }[]).map((row) => row.id)
}

const every = Array.from({ length: 20 }, (_, index) => index + 2)

describe('a load in the background', () => {
  test('goes on where it stopped, asks for no page twice, and brings every row once', async () => {
    let failures = 0
    const asked = pages((page) => page === 6 && ++failures === 1)
    const id = await datasource({ type: 'page' })
    expect(await refreshed(id)).toMatchObject({ status: 'succeeded', attempt: 2, details: { pages: 10, rows: 20 } })
    expect(await ids(id)).toEqual(every)
    expect([...asked].filter(([, count]) => count > 1)).toEqual([[6, 2]])
    const left = await t.app.store.db.selectFrom('loadCheckpoints').selectAll().where('datasourceId', '=', id).execute()
    expect(left).toEqual([])
  })

  test('begins anew where the request is another, or what it had is gone', async () => {
    const asked = pages((page) => page === 3)
    const id = await datasource({ type: 'page' })
    expect(await refreshed(id)).toMatchObject({ status: 'failed' })
    const kept = await t.app.store.db
      .selectFrom('loadCheckpoints')
      .select('rowsPath')
      .where('datasourceId', '=', id)
      .executeTakeFirstOrThrow()
    expect(existsSync(kept.rowsPath)).toBe(true)
    expect(asked.get(1)).toBe(1)
    const again = pages()
    expect(await refreshed(id)).toMatchObject({ status: 'succeeded' })
    expect(again.get(1)).toBe(1)
    expect(await ids(id)).toEqual(every)
    expect(existsSync(kept.rowsPath)).toBe(false)
  })

  test('a repeated job goes on from the one it repeats', async () => {
    pages((page) => page === 9)
    const id = await datasource({ type: 'page' })
    const failed = await refreshed(id)
    const asked = pages()
    const retried = await expectStatus(201, t.operator.post(`/v1/jobs/${failed.id}/retry`))
    const status = async () => (await t.operator.get(`/v1/jobs/${retried.body.id}`)).body.status as string
    await expect.poll(status, { timeout: 30_000 }).toBe('succeeded')
    expect(await ids(id)).toEqual(every)
    expect([...asked.keys()].toSorted((left, right) => left - right)).toEqual([9, 10, 11])
  })

  test('tells of every page, the last one too, where the answer says that it is the last', async () => {
    source.handle((request, response) => {
      const from = Number(new URL(request.url ?? '', 'http://x').searchParams.get('cursor') ?? 0)
      const body = { rows: [{ id: from }, { id: from + 1 }], next: from === 4 ? null : from + 2 }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    const config = { url: source.url, method: 'GET', responsePathExtractor: 'rows' }
    const pagination = { type: 'cursor', path: 'next', parameter: 'cursor' }
    const body = { name: 'Few', kind: 'http_api', config, pagination }
    const made = await expectStatus(201, t.operator.post(`/v1/projects/${projectId}/datasources`, body))
    expect(await refreshed(made.body.id)).toMatchObject({ status: 'succeeded', details: { pages: 3, rows: 6 } })
  })

  test('has a limit of its own; an execute says what took too long and where to go', async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
    pages(undefined, held)
    const id = await datasource({ type: 'page' })
    const executed = await t.operator.post('/v1/http/execute-request', {
      project_id: projectId,
      datasource_id: id,
      connect_spec: { name: 'Orders', id: 'http_api' },
      url: source.url,
      method: 'GET',
    })
    letGo()
    expect(executed).toMatchObject({ status: 504, body: { error: 'upstream_timeout' } })
    expect(executed.body.message).toMatch(/3 pages were fetched.*Refresh the datasource/)
    expect(await refreshed(id)).toMatchObject({ status: 'succeeded' })
    expect(await ids(id)).toEqual(every)
  })
})
