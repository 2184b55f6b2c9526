import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectStatus, openTestApp, operatorToken, type TestApp } from '../harness/app.ts'
import { execute, openSource, type Source } from '../harness/source.ts'
import { workbook } from '../harness/xlsx.ts'

let t: TestApp
let api: Source
let projectId: string
beforeAll(async () => {
  api = await openSource()
  t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: '127.0.0.1', SLUICE_EXECUTE_RESPONSE_BYTES: '2000000' })
  await t.app.jobs.start()
})
afterAll(async () => {
  await t.close()
  await api.close()
})
beforeEach(async () => {
  projectId = await t.project()
})

const rows = [
  {
    id: 1,
    price: 12.5,
    name: 'é',
    at: '2026-01-01T10:00:00Z',
    tags: ['a', 'b'],
    of: { a: 1 },
    big: '12345678901234567890',
  },
  { id: 2, price: null, name: 'x', at: '2026-01-02T10:00:00Z', tags: [], of: { a: 2 }, big: '1' },
]
const load = (name: string, config: Record<string, unknown> = {}) =>
  execute(t.operator, { projectId, datasourceId: `ds_${projectId}_${name}`, name, url: api.url, config })
async function objectOf(id: string): Promise<{ columns: Array<{ name: string; type: string }>; row_count: number }> {
  return (await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/data-objects/${id}`))).body
}
async function rowsOf(id: string): Promise<unknown[]> {
  return (await expectStatus(200, t.operator.get(`/v1/projects/${projectId}/data-objects/${id}/rows`))).body.data
}

describe('an answer in another format', () => {
  test('Parquet comes back with its values and types, also packed', async () => {
    api.answer(rows)
    const first = (await expectStatus(200, load('json'))).body.data_object_id
    const file = await t.http.inject({
      url: `/v1/projects/${projectId}/data-objects/${first}/download`,
      headers: { authorization: `Bearer ${operatorToken}` },
    })
    expect(file.rawPayload.subarray(0, 4).toString()).toBe('PAR1')
    for (const [name, bytes] of Object.entries({ plain: file.rawPayload, packed: zstdCompressSync(file.rawPayload) })) {
      api.answer(bytes, { 'content-type': 'application/octet-stream' })
      const again = (await expectStatus(200, load(name))).body.data_object_id
      expect(await rowsOf(again), name).toEqual(await rowsOf(first))
      expect((await objectOf(again)).columns, name).toEqual((await objectOf(first)).columns)
    }
    const lying = Buffer.from(file.rawPayload)
    lying.writeUInt32LE(0x7f_ff_ff_ff, lying.length - 8)
    api.answer(lying, {})
    expect(await load('lying')).toMatchObject({ status: 502, body: { reason: 'not_tabular' } })
    for (const at of [5, 60, Math.floor(lying.length / 2), lying.length - 40]) {
      const broken = Buffer.from(file.rawPayload)
      broken.fill(0xff, at, at + 30)
      api.answer(broken, {})
      // Whatever the damage does to the process that reads it, the next load works.
      expect([200, 502, 503, 500]).toContain((await load(`broken_${at}`)).status)
    }
    api.answer(rows)
    await expectStatus(200, load('after'))
  })

  test('Excel, XML and packed CSV become tables', async () => {
    api.answer(
      workbook({
        A: [
          ['id', 'day'],
          [1, { date: 46_023 }],
          [2, { date: 46_024 }],
        ],
      }),
      {},
    )
    const sheet = (await expectStatus(200, load('sheet'))).body.data_object_id
    expect(await rowsOf(sheet)).toEqual([
      { id: 1, day: '2026-01-01' },
      { id: 2, day: '2026-01-02' },
    ])
    expect((await objectOf(sheet)).columns).toEqual([
      { name: 'id', type: 'BIGINT' },
      { name: 'day', type: 'DATE' },
    ])
    api.answer('<rows><row><id>1</id></row><row><id>2</id></row></rows>', { 'content-type': 'application/xml' })
    expect(await rowsOf((await expectStatus(200, load('xml'))).body.data_object_id)).toEqual([{ id: 1 }, { id: 2 }])
    api.answer(gzipSync('id;name\n1;a\n2;b\n'), { 'content-type': 'application/gzip' })
    expect(await rowsOf((await expectStatus(200, load('csv'))).body.data_object_id)).toEqual([
      { id: 1, name: 'a' },
      { id: 2, name: 'b' },
    ])
    api.answer(workbook({ A: [['id']] }), {})
    expect((await objectOf((await expectStatus(200, load('empty'))).body.data_object_id)).row_count).toBe(0)
  })

  test('502 for what unpacks to more than a load may bring', async () => {
    api.answer(gzipSync(Buffer.alloc(5_000_000, 'a,b\n')), { 'content-type': 'text/csv' })
    expect(await load('bomb')).toMatchObject({ status: 502, body: { reason: 'too_large' } })
  })
})
