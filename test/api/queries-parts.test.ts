import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openQueryProject, type QueryProject } from '../harness/queries.ts'

let t: TestApp
let q: QueryProject
let url: string
beforeAll(async () => {
  t = await openTestApp()
  url = await t.listen()
  q = await openQueryProject(t)
  await q.deploy({
    name: 'many',
    sql: "SELECT i AS n, 'row ' || i AS t FROM range(50000) r(i) WHERE i < $count ORDER BY n",
  })
  await q.deploy({
    name: 'breaks',
    sql: "SELECT CASE WHEN i < 90000 THEN i ELSE CAST('x' || i AS BIGINT) END AS n FROM range(99000) r(i)",
  })
})
afterAll(() => t.close())

function get(search: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  return fetch(`${url}/v1/queries/${search}`, { method, headers: { authorization: `Bearer ${q.secret}`, ...headers } })
}
const bytesOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer())
const file = 'many?format=parquet&count=50000'
const executions = () =>
  t.observations.filter((each) => each.kind === 'query-answered' && each.query === 'many' && each.cache !== 'hit')
    .length

describe('parts of a file', () => {
  test('a whole Parquet file says its length', async () => {
    const answer = await get(file)
    const bytes = await bytesOf(answer)
    expect(answer.headers.get('content-length')).toBe(String(bytes.length))
    expect(answer.headers.get('accept-ranges')).toBe('bytes')
    // Told after the last byte: the tests below count from here.
    await expect.poll(executions).toBe(1)
  })

  test('HEAD and ranges are of one file, which one execution made', async () => {
    const before = executions()
    const head = await get(file, {}, 'HEAD')
    const size = Number(head.headers.get('content-length'))
    expect([head.status, head.headers.get('accept-ranges'), size > 1_000]).toEqual([200, 'bytes', true])
    const etag = head.headers.get('etag') ?? ''
    const part = await get(file, { range: 'bytes=0-3' })
    expect([part.status, part.headers.get('content-range'), part.headers.get('etag')]).toEqual([
      206,
      `bytes 0-3/${size}`,
      etag,
    ])
    expect((await bytesOf(part)).toString()).toBe('PAR1')
    const end = await get(file, { range: 'bytes=-4' })
    expect((await bytesOf(end)).toString()).toBe('PAR1')
    const rest = await get(file, { range: 'bytes=4-' })
    expect(Buffer.concat([Buffer.from('PAR1'), await bytesOf(rest)])).toHaveLength(size)
    await expect.poll(() => executions() - before).toBe(1)
    expect((await get(file, { 'if-none-match': etag })).status).toBe(304)
    const other = await get(file, { range: 'bytes=0-3', 'if-range': '"another"' })
    expect([other.status, (await bytesOf(other)).length]).toEqual([200, size])
  })

  test('416 beyond the end, and the whole for what is no single range', async () => {
    const beyond = await get(file, { range: 'bytes=999999999-' })
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([
      416,
      expect.stringMatching(/^bytes \*\/\d+$/),
    ])
    for (const range of ['bytes=0-1,4-5', 'rows=0-1', 'bytes=5-1', 'bytes=-']) {
      expect((await get(file, { range })).status).toBe(200)
    }
  })

  test('also of CSV and of a workbook; JSON has no parts', async () => {
    const csv = await get('many?format=csv&count=3', { range: 'bytes=0-3' })
    expect([csv.status, (await bytesOf(csv)).toString()]).toEqual([206, 'n,t\r'])
    expect((await get('many?format=xlsx&count=3', {}, 'HEAD')).headers.get('content-length')).toMatch(/^\d+$/)
    expect((await get('many?format=json&count=3', { range: 'bytes=0-3' })).status).toBe(200)
  })

  test('a query that fails has no file', async () => {
    const answer = await get('breaks?format=parquet', { range: 'bytes=0-3' })
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_query' }])
    expect((await get('many?format=parquet&count=x', { range: 'bytes=0-3' })).status).toBe(400)
  })
})
