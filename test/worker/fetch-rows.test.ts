import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HttpConfiguration, type Pagination, pagination } from '../../api/connections.ts'
import { fetchRows } from '../../server/connections/fetch/fetch-rows.ts'
import { openOutbound } from '../../server/connections/index.ts'
import { appendPage as writePage } from '../../server/engine/executor/convert/convert.ts'
import { pageValues } from '../../server/engine/executor/convert/page-values.ts'
import type { AnswerBody, RowsPageCall } from '../../server/engine/index.ts'
import type { ExecutorSettings } from '../../server/engine/executor/socket/protocol.ts'
import { normalise } from '../../server/rows/index.ts'
import { openUpstream, rowsText } from '../harness/upstream.ts'
import { items, openConnections, type Connections } from './connections-fixture.ts'

let c: Connections
beforeAll(async () => {
  c = await openConnections()
})
afterAll(() => c.close())

/** Only a page of Parquet asks the engine, and none of these is one. */
const executorSettings = { memoryBytes: 1, threads: 1, tempDir: '' } as ExecutorSettings

describe('rows', () => {
  const limits = {
    tryTimeoutMs: 500,
    timeoutMs: 1500,
    responseBytes: 5_000_000,
    redirects: 5,
    retries: 1,
    maxDepth: 64,
  }
  const paths = () => ({ bodyPath: join(c.folder, 'body'), rowsPath: join(c.folder, 'rows') })
  const toRows = ({ path, contentType, extractor, maxDepth }: AnswerBody, more: object = {}) =>
    normalise(path, paths().rowsPath, { contentType, path: extractor, maxDepth, ...more })
  const appendPage = (page: RowsPageCall) => writePage(executorSettings, { cancelled: false, interrupt: null }, page)
  const fetched = async (path: string, more: Partial<HttpConfiguration> = {}, rule?: object) => {
    const setting: Pagination | undefined = rule === undefined ? undefined : pagination.parse(rule)
    const result = await fetchRows(c.configuration(path, more), {
      ...c,
      limits,
      ...paths(),
      appendPage,
      pageValues,
      pagination: setting,
    })
    if (result === null) throw new Error('nothing has changed')
    const { source } = result
    try {
      const format = source.kind === 'answer' ? (await toRows(source)).format : source.kind
      const text = await readFile(paths().rowsPath, 'utf8')
      const lines = text.split('\n').slice(0, -1)
      return { ...result, format, rows: format === 'csv' ? text : lines.map((line) => JSON.parse(line) as unknown) }
    } finally {
      await Promise.all(Object.values(paths()).map((path) => rm(path, { force: true })))
    }
  }

  test.each(['/rows', '/gzip', '/br', '/bom'])('%s', async (path) => {
    expect(await fetched(path)).toMatchObject({
      rows: JSON.parse(rowsText) as unknown,
      pages: 1,
      truncated: false,
    })
  })

  test('from GeoJSON, a stringified envelope and CSV', async () => {
    expect((await fetched('/geo', { responsePathExtractor: 'features' })).rows).toEqual([
      { type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2] } },
    ])
    expect((await fetched('/stringified', { responsePathExtractor: 'body.rows' })).rows).toHaveLength(2)
    expect(await fetched('/csv')).toMatchObject({ format: 'csv', rows: 'a,b\n1,2\n' })
  })

  test.each([
    ['/status?code=404', 'upstream_error', 'status'],
    ['/status?code=503', 'upstream_error', 'status'],
    ['/slow-headers', 'upstream_timeout', undefined],
    ['/drip', 'upstream_timeout', undefined],
    ['/endless', 'upstream_error', 'too_large'],
    ['/bomb', 'upstream_error', 'too_large'],
    ['/short-body', 'upstream_error', 'transfer_error'],
    ['/truncated', 'upstream_error', 'transfer_error'],
    ['/stacked', 'upstream_error', 'transfer_error'],
    ['/deep', 'upstream_error', 'not_tabular'],
    ['/invalid-utf8', 'upstream_error', 'not_tabular'],
    ['/html', 'upstream_error', 'not_tabular'],
    ['/text', 'upstream_error', 'not_tabular'],
    ['/binary', 'upstream_error', 'not_tabular'],
    ['/empty', 'upstream_error', 'not_tabular'],
    ['/close', 'upstream_error', 'connect_error'],
    ['/loop', 'upstream_error', 'too_many_redirects'],
    ['/redirect?to=http://10.0.0.1/', 'upstream_error', 'blocked'],
    ['http://10.0.0.1/', 'invalid_request', 'url_not_allowed'],
  ])('%s leaves nothing behind: %s %s', async (path, code, reason) => {
    await expect(fetched(path)).rejects.toMatchObject({ code, reason })
    expect(await readdir(c.folder)).toEqual([])
  })

  test('a status of the API is handed on as a field', async () => {
    await expect(fetched('/status?code=404')).rejects.toMatchObject({ fields: { upstream_status: 404 } })
  })

  test.each([
    ['/pages/page', { type: 'page' }, 4],
    ['/pages/stuck', { type: 'page' }, 4],
    ['/pages/django', { type: 'page' }, 3],
    ['/pages/offset', { type: 'offset', limit: 3 }, 3],
    ['/pages/few', { type: 'offset', limit: 100 }, 3],
    ['/pages/cursor', { type: 'cursor', path: 'next', parameter: 'after' }, 3],
  ])('%s: all pages', async (path, rule, pages) => {
    const found = await fetched(path, { responsePathExtractor: 'items' }, rule)
    expect(found).toMatchObject({ rows: items, pages, truncated: false })
  })

  test('pages by the Link header', async () => {
    expect(await fetched('/pages/link', {}, { type: 'link_header' })).toMatchObject({
      rows: items,
      pages: 3,
      truncated: false,
    })
  })

  test('pages of CSV: one header, columns by name, and one that comes later', async () => {
    const found = await fetched('/pages/csv', {}, { type: 'page' })
    expect(found).toMatchObject({
      source: { kind: 'csv', columns: ['id', 'name', 'city'] },
      pages: 4,
      truncated: false,
    })
    expect(found.rows).toBe('id,name\n1,Ada\n2,Grace\n3,Eve,Bern\n')
  })

  test.each(['json', 'csv'])('%s: an API that ignores the page is found out', async (kind) => {
    await expect(fetched(`/pages/ignored?as=${kind}`, {}, { type: 'page' })).rejects.toMatchObject({
      code: 'upstream_error',
      reason: 'repeated_page',
    })
  })

  test.each<[string, object]>([
    ['graphql', { type: 'cursor', in: 'body', path: 'data.items.pageInfo.endCursor', parameter: 'variables.after' }],
    ['from', { type: 'offset', in: 'body', parameter: 'from', limit_parameter: 'size', limit: 3 }],
    ['page', { type: 'page', in: 'body', parameter: 'paging.number' }],
    ['search_after', { type: 'cursor', in: 'body', from: 'last_row', path: 'sort', parameter: 'search_after' }],
  ])('pages in the body: %s brings every row once', async (kind, rule) => {
    const extractors: Record<string, string> = { graphql: 'data.items.nodes', search_after: 'hits.hits' }
    const more: Partial<HttpConfiguration> = {
      method: 'POST',
      responsePathExtractor: extractors[kind] ?? 'items',
      body: kind === 'graphql' ? { type: 'graphql', content: '{ items { nodes } }' } : { query: { match: 'all' } },
    }
    const found = await fetched(`/pages/body/${kind}`, more, rule)
    expect(found.truncated).toBe(false)
    expect((found.rows as { id: number }[]).map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6])
  })

  test('a cap and a circle are owned up to', async () => {
    const cursor = { type: 'cursor', path: 'next', parameter: 'after' }
    expect(
      await fetched('/pages/cursor', { responsePathExtractor: 'items' }, { ...cursor, max_pages: 2 }),
    ).toMatchObject({ rows: items.slice(0, 6), truncated: true })
    const window = await fetched('/pages/window', { responsePathExtractor: 'items' }, { type: 'offset', limit: 3 })
    expect(window).toMatchObject({ rows: items.slice(0, 6), pages: 2, truncated: true })
    const circle = await fetched('/pages/circle', { responsePathExtractor: 'items' }, cursor)
    expect(circle.truncated).toBe(true)
    expect(circle.rows).toHaveLength(3)
  })

  test('a key in the query goes with every page of the origin, and with none beyond it', async () => {
    const more: Partial<HttpConfiguration> = {
      responsePathExtractor: 'items',
      authType: 'API Key',
      auth: { key: 'appid', value: 'k1', in: 'query' },
    }
    const rule = { type: 'next_link', path: 'next' }
    expect((await fetched('/pages/keyed', more, rule)).rows).toEqual([
      { key: 'k1', at: 'first' },
      { key: 'k1', at: 'second' },
    ])
    const away = `/pages/away?to=${encodeURIComponent('http://10.0.0.1/')}`
    await expect(fetched(away, more, rule)).rejects.toMatchObject({ code: 'upstream_error', reason: 'blocked' })
  })

  test('all pages share one deadline', async () => {
    const slow = await openUpstream({
      '/slow': (_request, response, url) =>
        void setTimeout(
          () => response.writeHead(200, { 'content-type': 'application/json' }).end(`[{"at":"${url.search}"}]`),
          150,
        ),
    })
    const patient = openOutbound({
      allow: [slow.host],
      connectTimeoutMs: 1000,
      connectionsPerOrigin: 1,
      backoffBaseMs: 1,
      backoffMaxMs: 1,
    })
    const options = {
      outbound: patient,
      tokens: c.tokens,
      limits: { ...limits, timeoutMs: 500 },
      ...paths(),
      appendPage,
      pageValues,
      pagination: pagination.parse({ type: 'page' }),
    }
    await expect(fetchRows(c.configuration(`${slow.origin}/slow`), options)).rejects.toMatchObject({
      code: 'upstream_timeout',
    })
    await patient.close()
    await slow.close()
  })
})
