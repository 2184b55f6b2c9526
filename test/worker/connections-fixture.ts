import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { HttpConfiguration } from '../../api/connections.ts'
import { createTokenSource, openOutbound, type Outbound, type TokenSource } from '../../server/connections/index.ts'
import type { ProbeOptions } from '../../server/connections/probe.ts'
import { previewOf } from '../../server/rows/index.ts'
import { openUpstream, type Routes, rowsText, type Upstream } from '../harness/upstream.ts'

const json = { 'content-type': 'application/json' }

function answering(
  answer: (url: URL) => unknown,
  headers: (url: URL) => Record<string, string> = () => ({}),
): Routes[string] {
  return (_request, response, url) =>
    void response.writeHead(200, { ...json, ...headers(url) }).end(JSON.stringify(answer(url)))
}

/** Answers by what the JSON of the body says. */
function posted(answer: (body: Record<string, unknown>) => unknown): Routes[string] {
  return async (request, response) => {
    const body = JSON.parse(await text(request)) as Record<string, unknown>
    response.writeHead(200, json).end(JSON.stringify(answer(body)))
  }
}

/** Seven rows, in pages of two or three. */
export const items = Array.from({ length: 7 }, (_, id) => ({ id }))
const numberOf = (url: URL, name: string, otherwise: number) => Number(url.searchParams.get(name) ?? otherwise)
const slice = (from: number, size = 3) => items.slice(from, from + size)

const routes: Routes = {
  '/stringified': answering(() => ({ body: JSON.stringify({ rows: JSON.parse(rowsText) as unknown }) })),
  '/big-number': (_request, response) =>
    void response.writeHead(200, json).end('[{"id":12345678901234567890,"x":0.5}]'),
  '/geo': answering(() => ({
    type: 'FeatureCollection',
    features: [{ type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2] } }],
  })),
  '/csv': (_request, response) => void response.writeHead(200, { 'content-type': 'text/csv' }).end('a,b\n1,2\n'),
  '/pages/page': answering((url) => ({ items: slice((numberOf(url, 'page', 1) - 1) * 3) })),
  '/pages/stuck': answering((url) => ({
    page: url.searchParams.get('page'),
    items: slice(Math.min(numberOf(url, 'page', 1) - 1, 2) * 3),
  })),
  '/pages/django': (_request, response, url) => {
    const number = numberOf(url, 'page', 1)
    const body = number > 3 ? { detail: 'Invalid page.' } : { items: slice((number - 1) * 3) }
    response.writeHead(number > 3 ? 404 : 200, json).end(JSON.stringify(body))
  },
  '/pages/few': answering((url) => ({ items: slice(numberOf(url, 'offset', 0), 3) })),
  '/pages/window': (_request, response, url) => {
    const from = numberOf(url, 'offset', 0)
    const isTooFar = from > 3
    const body = isTooFar ? { message: 'offset is too large' } : { items: slice(from, 3) }
    response.writeHead(isTooFar ? 400 : 200, json).end(JSON.stringify(body))
  },
  '/pages/offset': answering((url) => ({ items: slice(numberOf(url, 'offset', 0), numberOf(url, 'limit', 100)) })),
  '/pages/cursor': answering((url) => {
    const from = numberOf(url, 'after', 0)
    return { items: slice(from), next: from + 3 < 7 ? from + 3 : null }
  }),
  '/pages/circle': answering((url) => ({
    items: [{ id: url.searchParams.get('after') }],
    next: url.searchParams.get('after') === 'a' ? 'b' : 'a',
  })),
  '/pages/link': answering(
    (url) => slice(numberOf(url, 'from', 0)),
    (url): Record<string, string> => {
      const next = numberOf(url, 'from', 0) + 3
      return next < 7 ? { link: `</pages/link?from=${next}>; rel="next"` } : {}
    },
  ),
  '/pages/keyed': answering((url) => ({
    items: [{ key: url.searchParams.get('appid'), at: url.searchParams.get('at') ?? 'first' }],
    next: url.searchParams.has('at') ? null : '/pages/keyed?at=second',
  })),
  '/pages/csv': (_request, response, url) =>
    void response
      .writeHead(200, { 'content-type': 'text/csv' })
      .end(['id,name\n1,Ada\n', 'name,id\nGrace,2\n', 'id,city,name\n3,Bern,Eve\n'][numberOf(url, 'page', 1) - 1]),
  '/pages/ignored': (_request, response, url) => {
    const isCsv = url.searchParams.get('as') === 'csv'
    response.writeHead(200, isCsv ? { 'content-type': 'text/csv' } : json)
    response.end(isCsv ? 'id,name\n1,Ada\n2,Grace\n' : JSON.stringify(items))
  },
  '/pages/body/graphql': posted(({ variables = {} }) => {
    const from = Number((variables as { after?: string }).after ?? 0)
    const endCursor = from + 3 < 7 ? String(from + 3) : null
    return { data: { items: { nodes: slice(from), pageInfo: { endCursor } } } }
  }),
  '/pages/body/from': posted(({ from, size }) => ({ items: slice(Number(from), Number(size)) })),
  '/pages/body/page': posted(({ paging }) => {
    return { items: slice(((paging as { number: number }).number - 1) * 3) }
  }),
  '/pages/body/search_after': posted(({ search_after: after }) => {
    const from = after === undefined ? 0 : Number((after as number[])[0]) + 1
    return { hits: { hits: slice(from).map(({ id }) => ({ id, sort: [id] })) } }
  }),
  '/slow-token': (_request, response) =>
    void setTimeout(() => response.writeHead(200, json).end('{"access_token":"late"}'), 400),
  '/pages/away': answering((url) => ({ items: [{ a: 1 }], next: url.searchParams.get('to') })),
}

/** Gives tokens to one client and counts them. */
function tokenRoute(count: () => number): Routes[string] {
  return (request, response) => {
    const number = count()
    const isKnown = request.headers.authorization === `Basic ${Buffer.from('client:s3cret').toString('base64')}`
    response
      .writeHead(isKnown ? 200 : 401, json)
      .end(
        JSON.stringify(
          isKnown
            ? { access_token: `t${number}`, expires_in: 3600 }
            : { error: 'invalid_client', error_description: 'No client has the secret wr0ng' },
        ),
      )
  }
}

export type Connections = {
  folder: string
  upstream: Upstream
  outbound: Outbound
  tokens: TokenSource
  tokenCalls: number
  /** The clock that tokens expire by. */
  nowMs: number
  configuration: (path: string, more?: Partial<HttpConfiguration>) => HttpConfiguration
  /** As an executor does it, in this process. */
  peek: ProbeOptions['peek']
  close: () => Promise<void>
}

/** An API with lists in pages of every kind, and what calls it. */
export async function openConnections(): Promise<Connections> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-connections-'))
  const upstream = await openUpstream({ ...routes, '/token': tokenRoute(() => (opened.tokenCalls += 1)) })
  const outbound = openOutbound({
    allow: [upstream.host],
    connectTimeoutMs: 5000,
    connectionsPerOrigin: 8,
    backoffBaseMs: 1,
    backoffMaxMs: 5,
  })
  const opened: Connections = {
    folder,
    upstream,
    outbound,
    tokens: createTokenSource(outbound, () => opened.nowMs),
    tokenCalls: 0,
    nowMs: 0,
    configuration: (path, more = {}) => ({
      url: path.startsWith('http') ? path : upstream.origin + path,
      method: 'GET',
      ...more,
    }),
    peek: async (bytes, asked) => previewOf(bytes, asked),
    async close() {
      await outbound.close()
      await upstream.close()
      await rm(folder, { recursive: true })
    },
  }
  return opened
}
