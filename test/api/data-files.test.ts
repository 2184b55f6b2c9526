import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweepFiles } from '../../server/data/index.ts'
import { expectStatus, operatorToken, type TestApp } from '../harness/app.ts'
import { execute, openAppWithSource, type Source } from '../harness/source.ts'

let t: TestApp
let source: Source
let projectId: string
beforeAll(async () => {
  ;({ t, source } = await openAppWithSource())
  projectId = await t.project()
  source.answer([{ region: 'north', total: 1 }])
})
afterAll(() => t.close())

test('the download is the stored file, whole and under its name', async () => {
  const made = await expectStatus(200, execute(t.operator, { projectId, datasourceId: 'ds_down', url: source.url }))
  const path = `/v1/projects/${projectId}/data-objects/${made.body.data_object_id}`
  const headers = { authorization: `Bearer ${operatorToken}` }
  const answer = await t.http.inject({ url: `${path}/download`, headers })
  const { body: described } = await expectStatus(200, t.operator.get(path))
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['content-disposition']).toBe('attachment; filename="ds_down-1.parquet"')
  expect(answer.rawPayload.length).toBe(described.size_bytes)
  const hash = createHash('sha256').update(answer.rawPayload).digest('hex')
  const stored = await t.app.store.db
    .selectFrom('dataObjects')
    .select('fileHash')
    .where('id', '=', made.body.data_object_id)
    .executeTakeFirstOrThrow()
  expect(hash).toBe(stored.fileHash)
  await expectStatus(404, t.operator.get(`/v1/projects/${projectId}/data-objects/obj_none/download`))

  // In parts, as readers of Parquet ask: its end, then what that names.
  const ask = (more: Record<string, string>, method: 'GET' | 'HEAD' = 'GET') =>
    t.http.inject({ method, url: `${path}/download`, headers: { ...headers, ...more } })
  const size = answer.rawPayload.length
  const etag = `"${hash}"`
  expect(answer.headers).toMatchObject({ 'accept-ranges': 'bytes', etag, 'content-length': String(size) })
  const head = await ask({}, 'HEAD')
  expect([head.statusCode, head.headers['content-length'], head.rawPayload.length]).toEqual([200, String(size), 0])
  const end = await ask({ range: 'bytes=-4' })
  expect([end.statusCode, end.payload, end.headers['content-range']]).toEqual([
    206,
    'PAR1',
    `bytes ${size - 4}-${size - 1}/${size}`,
  ])
  const middle = await ask({ range: 'bytes=2-5', 'if-range': etag })
  expect(middle.rawPayload).toEqual(answer.rawPayload.subarray(2, 6))
  expect((await ask({ range: 'bytes=2-5', 'if-range': '"another"' })).rawPayload.length).toBe(size)
  const beyond = await ask({ range: `bytes=${size}-` })
  expect([beyond.statusCode, beyond.headers['content-range']]).toEqual([416, `bytes */${size}`])
  expect((await ask({ 'if-none-match': etag })).statusCode).toBe(304)
  const shown = await t.http.inject({ url: `${path}/download?format=csv`, headers: { ...headers, range: 'bytes=0-1' } })
  expect([shown.statusCode, shown.headers['accept-ranges']]).toEqual([200, undefined])
})

test('what a crash left behind is swept; what is named or may yet be stays', async () => {
  await expectStatus(200, execute(t.operator, { projectId, datasourceId: 'ds_swept', url: source.url }))
  const dir = join(t.app.config.dataDir, 'files')
  const rows = await t.app.store.db.selectFrom('dataObjects').select(['fileHash', 'format']).execute()
  const named = rows.map(({ fileHash: hash, format }) => t.app.files.pathOf({ hash, format }))
  const orphan = t.app.files.pathOf({ hash: 'ab'.repeat(32), format: 'parquet' })
  const young = t.app.files.pathOf({ hash: 'cd'.repeat(32), format: 'parquet' })
  const unfinished = join(dir, 'unfinished', 'half.ndjson')
  const longAgo = new Date(t.app.now() - 25 * 60 * 60 * 1000)
  for (const path of [orphan, young, unfinished]) {
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, 'x')
  }
  for (const path of [orphan, unfinished, ...named]) await utimes(path, longAgo, longAgo)
  expect(await sweepFiles(t.app)).toBe(2)
  expect([orphan, unfinished].map((path) => existsSync(path))).toEqual([false, false])
  expect([young, ...named].every((path) => existsSync(path))).toBe(true)
})
