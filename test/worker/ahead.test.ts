import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fetchRows } from '../../server/connections/fetch/fetch-rows.ts'
import { createTokenSource, openOutbound, type Outbound } from '../../server/connections/index.ts'
import type { ConvertCall, Converted } from '../../server/engine/index.ts'
import { openUpstream, type Routes, type Upstream } from '../harness/upstream.ts'
import { openFixture, type Fixture } from './engine-fixture.ts'

const rowCount = 100_000
const csv = `id,name\n${Array.from({ length: rowCount }, (_, id) => `${id},"name, ${id}"\n`).join('')}`
const bodies = {
  csv,
  json: JSON.stringify({ rows: Array.from({ length: rowCount }, (_, id) => ({ id, name: `näme ${id}` })) }),
  packed: gzipSync(csv, { level: 0 }),
}
const types = { csv: 'text/csv', json: 'application/json', packed: 'text/csv' }
type Kind = keyof typeof bodies

let begun = Promise.withResolvers<void>()
let over = Promise.withResolvers<void>()
let ended: 'not begun' | 'failed' | Converted = 'not begun'
beforeEach(() => {
  begun = Promise.withResolvers()
  over = Promise.withResolvers()
  ended = 'not begun'
})

/** The first three quarters, and the rest when `then` says so: nothing but a reader ahead lets that happen in time. */
async function inTwo(response: ServerResponse, kind: Kind, then: () => Promise<void>): Promise<void> {
  const body = Buffer.from(bodies[kind])
  const cut = Math.floor(body.length * 0.75)
  response.writeHead(200, { 'content-type': types[kind] }).write(body.subarray(0, cut))
  await then()
  response.end(body.subarray(cut))
}

const kindIn = (url: URL): Kind => url.searchParams.get('kind') as Kind
let breaks = 0
const routes: Routes = {
  '/in-two': (_request, response, url) => inTwo(response, kindIn(url), () => begun.promise),
  '/stalls': (_request, response, url) => inTwo(response, kindIn(url), () => over.promise),
  '/breaks-once': (_request, response, url) =>
    inTwo(response, kindIn(url), async () => {
      await begun.promise
      breaks += 1
      if (breaks === 1) response.destroy()
    }),
  '/breaks': (_request, response, url) =>
    inTwo(response, kindIn(url), async () => {
      await begun.promise
      response.destroy()
    }),
  '/refuses': (_request, response) => void response.writeHead(500, { 'content-type': 'text/csv' }).end(bodies.csv),
}

let folder: string
let fixture: Fixture
let upstream: Upstream
let outbound: Outbound
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-ahead-'))
  ;[fixture, upstream] = await Promise.all([openFixture(), openUpstream(routes)])
  const waits = { connectTimeoutMs: 5_000, backoffBaseMs: 1, backoffMaxMs: 5 }
  outbound = openOutbound({ allow: [upstream.host], connectionsPerOrigin: 8, ...waits })
})
afterAll(async () => {
  await outbound.close()
  await Promise.all([fixture.close(), upstream.close(), rm(folder, { recursive: true })])
})

const parquetPath = () => join(fixture.dir, 'ahead.parquet')
const limits = { tryTimeoutMs: 5_000, timeoutMs: 20_000, responseBytes: 1e8, redirects: 0, retries: 1, maxDepth: 64 }

async function load(path: string, bytesPerMs = 0) {
  const convert = async (source: ConvertCall['source'], signal = new AbortController().signal) =>
    fixture.engine.convert('project', { source, parquetPath: parquetPath(), contract: null }, { signal })
  const found = await fetchRows(
    { url: upstream.origin + path, method: 'GET', responsePathExtractor: path.includes('json') ? 'rows' : undefined },
    {
      outbound,
      tokens: createTokenSource(outbound, Date.now),
      limits,
      bodyPath: join(folder, 'body'),
      rowsPath: join(folder, 'rows'),
      appendPage: () => Promise.reject(new Error('one answer has no pages')),
      pageValues: () => Promise.reject(new Error('one answer has no pages')),
      ahead: {
        fromBytes: 300_000,
        bytesPerMs,
        convert(source, signal) {
          begun.resolve()
          const converting = convert(source, signal)
          const end = (how: typeof ended) => {
            ended = how
            over.resolve()
          }
          converting.then(end, () => end('failed'))
          return converting
        },
      },
    },
  )
  if (found === null) throw new Error('nothing has changed')
  const { columns, rowCount: count } = found.converted ?? (await convert(found.source))
  const tables = [{ name: 't', parquetPath: parquetPath(), columns }]
  const sql = 'SELECT count(*) AS n, sum(id) AS ids, max(length(name)) AS longest FROM t'
  const input = { sql, slots: [], maxRows: 1, maxBytes: 1_000 }
  const { bytes } = await fixture.engine.read('ahead', { version: `${path} ${breaks}`, tables }, input)
  return { converted: found.converted, count, rows: JSON.parse(bytes.toString()) as unknown }
}

const whole = [{ n: rowCount, ids: (rowCount * (rowCount - 1)) / 2, longest: 11 }]

test.each(['csv', 'json'])('%s is looked at while it arrives', async (kind) => {
  const { converted, count, rows } = await load(`/in-two?kind=${kind}`)
  expect(ended).toBe(converted)
  expect({ count, rows: JSON.stringify(rows) }).toEqual({
    count: rowCount,
    rows: JSON.stringify(kind === 'csv' ? whole : [{ ...whole[0], longest: 10 }]),
  })
  expect((await readdir(folder)).filter((name) => name.includes('whole'))).toEqual([])
})

test('an answer that stops coming is looked at once it is whole', async () => {
  expect(await load('/stalls?kind=csv')).toMatchObject({ converted: null, count: rowCount })
  expect(ended).toBe('failed')
})

test('an answer that breaks off and comes again is looked at once it is whole', async () => {
  expect(await load('/breaks-once?kind=csv')).toMatchObject({ converted: null, count: rowCount })
  expect(ended).toBe('failed')
})

test('an answer that breaks off leaves nothing behind', async () => {
  await expect(load('/breaks?kind=csv')).rejects.toMatchObject({ code: 'upstream_error' })
  expect(ended).toBe('failed')
  expect(await readdir(folder)).toEqual([])
})

test('what is packed is looked at once it is whole', async () => {
  expect(await load('/in-two?kind=packed')).toMatchObject({ converted: null, count: rowCount })
  expect(ended).toBe('failed')
})

test('neither a refusal nor what comes slowly is looked at ahead', async () => {
  await expect(load('/refuses')).rejects.toMatchObject({ reason: 'status' })
  begun.resolve()
  expect(await load('/in-two?kind=csv', Infinity)).toMatchObject({ converted: null, count: rowCount })
  expect(ended).toBe('not begun')
})
