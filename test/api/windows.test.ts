import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, type TestApp } from '../harness/app.ts'
import { makeTable } from '../harness/incremental.ts'
import { openAppWithSource, type Source } from '../harness/source.ts'

const json = { 'content-type': 'application/json' }
const dayMs = 86_400_000

let t: TestApp
let source: Source
let projectId: string
/** The spans that were asked for, first and last day of each. */
let spans: string[]
let fails: (from: string) => boolean

beforeAll(async () => {
  ;({ t, source } = await openAppWithSource())
  await t.app.jobs.start()
  source.handle((request, response) => {
    const asked = new URL(request.url ?? '/', 'http://source').searchParams
    const [from, until] = [asked.get('from') ?? '', asked.get('until') ?? '']
    if (fails(from)) {
      response.writeHead(500, json).end('{}')
      return
    }
    spans.push(`${from}/${until}`)
    const rows = []
    for (let at = Date.parse(from); at < Date.parse(until); at += 5 * dayMs) {
      const day = new Date(at).toISOString()
      rows.push({ id: day.slice(0, 10), at: day })
    }
    response.writeHead(200, json).end(JSON.stringify(rows))
  })
})
afterAll(() => t.close())
beforeEach(async () => {
  projectId = await t.project()
  spans = []
  fails = () => false
})

const today = () => new Date(t.app.now()).toISOString().slice(0, 10)
const moved = (day: string, days: number) => new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)
const datasource = (load: object) => ({
  config: {
    url: source.url,
    method: 'GET',
    parameters: { from: { value: '{{window_start}}' }, until: { value: '{{window_end}}' } },
  },
  load: { mode: 'merge', primary_key: ['id'], cursor: { field: 'at' }, ...load },
})

describe('a load in windows', () => {
  test('asks for span by span from its start to today, and later from the day of the last value on', async () => {
    const start = moved(today(), -40)
    const table = await makeTable(t, projectId, datasource({ windows: { start, size: '15d' } }))
    expect(await table.refresh()).toMatchObject({ error: null, status: 'succeeded' })
    expect(spans.toSorted()).toEqual([
      `${start}/${moved(start, 15)}`,
      `${moved(start, 15)}/${moved(start, 30)}`,
      `${moved(start, 30)}/${moved(start, 41)}`,
    ])
    const rows = await table.rows()
    expect(rows).toHaveLength(9)
    spans = []
    await table.refresh()
    expect(spans).toEqual([`${moved(start, 40)}/${moved(start, 41)}`])
    expect(await table.rows()).toEqual(rows)
    // A week later there is a week to fetch, and nothing before it.
    t.advance(7 * dayMs)
    spans = []
    await table.refresh()
    expect(spans).toEqual([`${moved(start, 40)}/${moved(start, 48)}`])
    expect(await table.rows()).toHaveLength(10)
  })

  test('that is cut off goes on behind the windows that are there', async () => {
    const start = moved(today(), -99)
    fails = (from) => from >= moved(start, 60)
    const table = await makeTable(t, projectId, datasource({ windows: { start, size: '10d' } }))
    const failed = await table.refresh()
    expect(failed).toMatchObject({ status: 'failed' })
    const before = spans.length
    expect(before).toBeGreaterThanOrEqual(4)
    fails = () => false
    spans = []
    const { body: again } = await expectStatus(201, t.operator.post(`/v1/jobs/${failed.id}/retry`))
    await expect
      .poll(async () => (await t.operator.get(`/v1/jobs/${again.id}`)).body.status, { timeout: 30_000 })
      .toBe('succeeded')
    expect(spans).not.toContain(`${start}/${moved(start, 10)}`)
    expect(await table.rows()).toHaveLength(20)
  })

  test('whose start is moved back loads what lies before it, once, and goes on as before', async () => {
    const [start, earlier] = [moved(today(), -20), moved(today(), -50)]
    const table = await makeTable(t, projectId, datasource({ windows: { start, size: '15d' } }))
    await table.refresh()
    spans = []
    const { load } = datasource({ windows: { start: earlier, size: '15d' } })
    await expectStatus(200, t.operator.patch(table.path, { load }))
    expect(await table.refresh()).toMatchObject({ status: 'succeeded' })
    expect(spans.toSorted()).toEqual([
      `${earlier}/${moved(earlier, 15)}`,
      `${moved(earlier, 15)}/${start}`,
      `${today()}/${moved(today(), 1)}`,
    ])
    expect((await table.rows()).map(({ id }) => id).toSorted()[0]).toBe(earlier)
    spans = []
    await table.refresh()
    expect(spans).toEqual([`${today()}/${moved(today(), 1)}`])
  })

  test('goes by months of the calendar', async () => {
    t.advance(Date.UTC(2029, 2, 15, 12) - t.app.now())
    const config = datasource({}).config
    const windows = { start: '2028-11-30', size: '1m' }
    const table = await makeTable(t, projectId, { config, load: { mode: 'replace', windows } })
    await table.refresh()
    expect(spans.toSorted()).toEqual([
      '2028-11-30/2028-12-30',
      '2028-12-30/2029-01-30',
      '2029-01-30/2029-02-28',
      '2029-02-28/2029-03-16',
    ])
  })

  test('is refused where it cannot be, in words', async () => {
    const windows = { start: '2026-01-01', size: '1m' }
    const make = (load: object, more: object = {}) =>
      t.operator.post(`/v1/projects/${projectId}/datasources`, {
        name: 'x',
        kind: 'http_api',
        ...datasource({}),
        load,
        ...more,
      })
    expect((await make({ mode: 'append', windows })).body.message).toContain('primary_key')
    expect((await make({ mode: 'replace', windows: { ...windows, size: '1y' } })).status).toBe(400)
    expect((await make({ mode: 'replace', windows: { ...windows, start: '2026-02-30' } })).status).toBe(400)
    expect((await make({ mode: 'replace', windows }, { for_each: { table: 'orders' } })).body.message).toContain(
      'for_each',
    )
    expect((await make({ mode: 'replace' })).body.message).toContain('load.windows')
  })
})
