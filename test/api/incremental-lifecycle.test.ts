import { writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { sweepFiles } from '../../server/data/index.ts'
import { expectStatus, operatorToken, type TestApp } from '../harness/app.ts'
import type { Source } from '../harness/source.ts'
import { byId, merge, stageIncremental } from './incremental-stage.ts'

const stage = stageIncremental()
const { config, merged, loads } = stage
let t: TestApp
let source: Source
let projectId: string
beforeEach(() => void ({ t, source, projectId } = stage.parts()))

describe('what else happens meanwhile', () => {
  test('a refresh and a full load at once take turns, and the table is what the last of them makes it', async () => {
    const table = await merged()
    await loads(table, [{ id: 1, at: 1 }])
    source.answer([{ id: 2, at: 2 }])
    const asked = await Promise.all([
      t.operator.post(`${table.path}/refresh`),
      t.operator.post(`${table.path}/refresh`, { full: true }),
    ])
    expect(asked.map(({ status }) => status)).toEqual([201, 201])
    await table.settled()
    const [first] = await table.versions()
    const isFull = (await table.rows()).length === 1
    expect(first?.row_count).toBe(isFull ? 1 : 2)
    expect(byId(await table.rows()).at(-1)).toEqual({ id: 2, at: 2 })
  })

  test('another request, mode or key begins anew; a renamed column goes on under its new name', async () => {
    const table = await merged()
    await loads(table, [{ id: 1, at: 1, Amt: 5 }])
    await expectStatus(
      200,
      t.operator.patch(`${table.path}/schema`, { columns: [{ source_name: 'Amt', name: 'amount' }] }),
    )
    await loads(table, [{ id: 2, at: 2, Amt: 6 }])
    expect(byId(await table.rows())).toEqual([
      { id: 1, at: 1, amount: 5 },
      { id: 2, at: 2, amount: 6 },
    ])
    await expectStatus(200, t.operator.patch(table.path, { load: { ...merge, primary_key: ['id', 'at'] } }))
    await loads(table, [{ id: 3, at: 3, Amt: 7 }])
    expect(await table.rows()).toEqual([{ id: 3, at: 3, amount: 7 }])
    expect(source.requests.map(({ url }) => new URL(url, 'http://x').searchParams.get('since'))).toEqual([
      null,
      '1',
      null,
    ])
  })

  test('checks and contracts look at what comes, and a version that is held leaves the cursor where it was', async () => {
    const table = await merged()
    await loads(table, [{ id: 1, at: 1, n: 1 }])
    const checks = [
      { type: 'row_count_share', min: 0.5, max: 2 },
      { type: 'not_null', column: 'n' },
    ]
    await expectStatus(200, t.operator.patch(`${table.path}/schema`, { checks }))
    source.answer([{ id: 2, at: 2, n: null }])
    expect(await table.refresh()).toMatchObject({ status: 'succeeded' })
    expect(await table.versions()).toMatchObject([
      { version: 2, status: 'held', held_because: { reason: 'check_failed' } },
      { version: 1, status: 'live', last_value: '1' },
    ])
    await loads(table, [{ id: 2, at: 2, n: 5 }])
    expect(await table.rows()).toHaveLength(2)
    await expectStatus(200, t.operator.patch(`${table.path}/schema`, { checks: [], on_mismatch: 'hold' }))
    await loads(table, [{ id: 3, at: 3, n: 'many' }])
    expect((await table.versions())[0]).toMatchObject({ status: 'held', held_because: { reason: 'type_mismatch' } })
    const served = await expectStatus(200, t.operator.post(`${table.path}/versions/4/activate`))
    expect(served.body).toMatchObject({ status: 'live', last_value: '3' })
    expect(byId(await table.rows()).map(({ n }) => n)).toEqual(['1', '5', 'many'])
  })

  test('parts are put together, versions let go, and files that nobody names are swept; queries never notice', async () => {
    const table = await merged(merge, { keep_versions: 2 })
    await loads(
      table,
      Array.from({ length: 100 }, (_, id) => ({ id, at: id, name: `first ${id}` })),
    )
    const path = `/v1/projects/${projectId}/queries`
    const sql = 'select count(*) as n, count(distinct id) as ids from orders'
    await expectStatus(
      201,
      t.operator.post(path, {
        name: 'counted',
        description: 'Orders',
        sql,
        slots: { type: 'object', properties: {} },
        examples: [],
      }),
    )
    const seen: unknown[] = []
    for (let load = 1; load <= 6; load += 1) {
      await loads(table, [
        { id: load, at: 100 + load, name: `again ${load}` },
        { id: 100 + load, at: 100 + load, name: `new ${load}` },
      ])
      seen.push((await expectStatus(200, t.operator.post(`${path}/counted/preview`, { parameters: {} }))).body.data[0])
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6].map((load) => ({ n: 100 + load, ids: 100 + load })))
    await table.settled()
    const versions = await table.versions()
    expect(versions).toMatchObject([{ version: 7, row_count: 106, loads: [1, 2, 3, 4, 5, 6, 7] }, { version: 6 }])
    expect(versions[0]?.['parts']).toBeLessThanOrEqual(2)
    const lineage = await expectStatus(
      200,
      t.operator.get(`/v1/projects/${projectId}/data-objects/${versions[0]?.data_object_id}/lineage`),
    )
    expect(lineage.body.nodes.map(({ kind }: { kind: string }) => kind)).toContain('load')
    const { db } = t.app.store
    const parts = await db.selectFrom('dataParts').selectAll().where('datasourceId', '=', table.id).execute()
    const named = await db
      .selectFrom('versionParts')
      .select('partId')
      .where(
        'partId',
        'in',
        parts.map(({ id }) => id),
      )
      .execute()
    expect(new Set(named.map(({ partId }) => partId)).size).toBe(parts.length)
    t.advance(25 * 60 * 60 * 1000)
    expect(await sweepFiles(t.app)).toBeGreaterThan(0)
    expect(await table.rows()).toHaveLength(106)
    const headers = { authorization: `Bearer ${operatorToken}` }
    const download = await t.http.inject({
      url: `/v1/projects/${projectId}/data-objects/${versions[0]?.data_object_id}/download`,
      headers,
    })
    expect(download.rawPayload.subarray(0, 4).toString()).toBe('PAR1')
  })

  test('a damaged part is not served, and the next load is a full one', async () => {
    const table = await merged()
    await loads(table, [{ id: 1, at: 1 }], [{ id: 2, at: 2 }])
    await table.settled()
    const part = await t.app.store.db
      .selectFrom('dataParts')
      .select('fileHash')
      .where('datasourceId', '=', table.id)
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
    await writeFile(t.app.files.pathOf({ hash: part.fileHash, format: 'parquet' }), 'broken')
    source.requests.length = 0
    await loads(table, [
      { id: 1, at: 1 },
      { id: 2, at: 2 },
      { id: 3, at: 3 },
    ])
    expect(source.requests.map(({ url }) => new URL(url, 'http://x').searchParams.get('since'))).toEqual([null])
    expect(await table.rows()).toHaveLength(3)
  })
})

test('400 for a load that cannot work, said before the first refresh', async () => {
  const post = (body: object) =>
    t.operator.post(`/v1/projects/${projectId}/datasources`, { name: 'X', kind: 'http_api', ...body })
  const bad: Array<[object, string]> = [
    [{ load: { mode: 'merge' } }, 'primary_key'],
    [{ load: { mode: 'append', delete_marker: { field: 'x', value: 1 } } }, 'delete_marker'],
    [{ load: { mode: 'merge', primary_key: ['id', 'id'] } }, 'primary_key'],
    [{ load: { mode: 'append', cursor: { field: 'at', look_back: 'long' } } }, 'look_back'],
    [{ config: config() }, 'load.cursor.field'],
    [
      {
        config: { url: `${source.url}?since={{last_value}}`, method: 'GET' },
        load: { mode: 'append', cursor: { field: 'at' } },
      },
      'initial_value',
    ],
  ]
  for (const [body, word] of bad) {
    const answer = await post(body)
    expect(answer.status, word).toBe(400)
    expect(JSON.stringify(answer.body)).toContain(word)
  }
  expect((await expectStatus(201, post({ load: { mode: 'full' } }))).body.load).toEqual({ mode: 'replace' })
})
