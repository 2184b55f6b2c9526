import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, operatorToken, type TestApp } from '../harness/app.ts'
import { openAppWithSource, type Source } from '../harness/source.ts'
import { workbook } from '../harness/xlsx.ts'

let t: TestApp
let source: Source
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource({}, { bounds: { outboundTries: 1 } }))
})
afterAll(() => t.close())

const path = '/v1/http/test-connection'

describe('answers that are no text are shown as rows', () => {
  const rows = [
    { id: 1, name: 'Ada' },
    { id: 2, name: 'Eve' },
  ]
  const shown = async (
    bytes: Buffer | string,
    more: Record<string, unknown> = {},
    type = 'application/octet-stream',
  ) => {
    source.answer(bytes, { 'content-type': type })
    return (await expectStatus(200, t.operator.post(path, { url: source.url, method: 'GET', ...more }))).body
  }

  test('packed ones, whatever they hold', async () => {
    expect(await shown(gzipSync(JSON.stringify({ data: rows })))).toMatchObject({ success: true, data: { data: rows } })
    const inside = { responsePathExtractor: 'data' }
    expect(await shown(zstdCompressSync(JSON.stringify({ data: rows })), inside)).toMatchObject({ data: rows })
    expect(await shown(gzipSync('id,name\n1,Ada\n'), {}, 'application/gzip')).toMatchObject({
      data: 'id,name\n1,Ada\n',
    })
  })

  test('Excel by its sheet, XML by its path, Parquet', async () => {
    const book = workbook({
      Empty: [['x']],
      People: [
        ['id', 'name'],
        [1, 'Ada'],
        [2, 'Eve'],
      ],
    })
    expect(await shown(book, { responsePathExtractor: 'People' })).toMatchObject({ success: true, data: rows })
    const xml = '<?xml version="1.0"?><list><row><id>1</id></row><row><id>2</id></row></list>'
    expect(await shown(xml, { responsePathExtractor: 'list.row' }, 'application/xml')).toMatchObject({
      data: [{ id: 1 }, { id: 2 }],
    })
    const projectId = await t.project()
    const made = await t.operator.post(`/v1/projects/${projectId}/datasources`, { name: 'x', kind: 'http_api' })
    source.answer(rows)
    const config = { url: source.url, method: 'GET' }
    const spec = { name: 'x', id: 'http_api' }
    const stored = await expectStatus(
      200,
      t.operator.post('/v1/http/execute-request', {
        project_id: projectId,
        datasource_id: made.body.id,
        connect_spec: spec,
        ...config,
      }),
    )
    const url = `/v1/projects/${projectId}/data-objects/${stored.body.data_object_id}/download`
    const given = await t.http.inject({ url, headers: { authorization: `Bearer ${operatorToken}` } })
    expect(await shown(given.rawPayload, { detect: true })).toMatchObject({
      success: true,
      data: rows,
      detected: { rows: { path: '', count: 2 } },
    })
  })

  test('what cannot be read says why, and a bomb is no more than that', async () => {
    const damaged = await shown(gzipSync(JSON.stringify(rows)).subarray(0, 30))
    expect(damaged).toMatchObject({
      success: false,
      status: 200,
      data: { binary: true },
      error: { code: 'not_tabular' },
    })
    const lies = Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(100), Buffer.from('PAR1')])
    expect((await shown(lies)).error).toMatchObject({ code: 'not_tabular' })
    // Members of a file follow each other: forty of them are made for the price of one.
    const member = gzipSync(Buffer.alloc(10_000_000, 0x20))
    const bomb = await shown(Buffer.concat(Array.from({ length: 40 }, () => member)))
    expect(bomb.error).toMatchObject({
      code: 'not_tabular',
      message: expect.stringContaining('unpacks to more') as string,
    })
  })

  test('of many rows the first are shown', async () => {
    const many = Array.from({ length: 60_000 }, (_, id) => ({ id, text: 'x'.repeat(30) }))
    const answer = await shown(gzipSync(many.map((row) => JSON.stringify(row)).join('\n')), {}, 'application/x-ndjson')
    expect(answer).toMatchObject({ success: true, truncated: true })
    expect(answer.data.length).toBeGreaterThan(1_000)
    expect(answer.data.length).toBeLessThan(60_000)
  })
})
