import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { certificate, privateKey } from './tls.ts'

/** An external API with good and hostile manners, over real sockets. Routes are named for what they do. */

export type Answer = (request: IncomingMessage, response: ServerResponse, url: URL) => unknown
export type Routes = Record<string, Answer>
export type Upstream = {
  /** `http://127.0.0.1:1234` */
  origin: string
  host: string
  port: number
  /** Connections opened so far, and requests by path. */
  connections: () => number
  requests: (path?: string) => number
  close: () => Promise<void>
}

const json = { 'content-type': 'application/json' }
const rows = [
  { id: 1, name: 'Ada' },
  { id: 2, name: 'Łukasz' },
]
export const rowsText = JSON.stringify(rows)

function encoded(encoding: string, encode: (text: Buffer) => Buffer): Answer {
  return (_request, response) => {
    response.writeHead(200, { ...json, 'content-encoding': encoding }).end(encode(Buffer.from(rowsText)))
  }
}

function fixed(body: string | Buffer, headers: Record<string, string> = json): Answer {
  return (_request, response) => void response.writeHead(200, headers).end(body)
}

/** Sends a piece again and again until the caller has had enough. */
function forever(piece: Buffer, everyMs: number): Answer {
  return (_request, response) => {
    response.writeHead(200, json)
    const timer = setInterval(() => response.write(piece), everyMs)
    response.on('close', () => clearInterval(timer))
  }
}

const megabyte = Buffer.alloc(1_048_576, 0x20)

export const hostileRoutes: Routes = {
  '/rows': fixed(rowsText),
  '/gzip': encoded('gzip', gzipSync),
  '/x-gzip': encoded('x-gzip', gzipSync),
  '/deflate': encoded('deflate', deflateSync),
  '/deflate-raw': encoded('deflate', deflateRawSync),
  '/br': encoded('br', brotliCompressSync),
  '/zstd': encoded('zstd', zstdCompressSync),
  '/stacked': encoded('gzip, gzip', (text) => gzipSync(gzipSync(text))),
  '/unknown-encoding': encoded('rot13', (text) => text),
  '/bomb': fixed(gzipSync(Buffer.alloc(50_000_000)), { ...json, 'content-encoding': 'gzip' }),
  '/cut-gzip': fixed(gzipSync(Buffer.from(rowsText)).subarray(0, 20), { ...json, 'content-encoding': 'gzip' }),
  '/not-gzip': fixed(rowsText, { ...json, 'content-encoding': 'gzip' }),
  '/slow-headers': () => {},
  '/drip': forever(Buffer.from(' '), 20),
  '/endless': forever(megabyte, 1),
  '/short-body': (request, response) => {
    response.writeHead(200, { ...json, 'content-length': '1000' })
    response.write('[{"id":1}')
    setImmediate(() => request.socket.destroy())
  },
  '/truncated': fixed('[{"id":1},{"id":'),
  '/deep': fixed('['.repeat(100_000) + ']'.repeat(100_000)),
  '/bom': fixed(`\uFEFF${rowsText}`),
  '/invalid-utf8': fixed(Buffer.from('5b7b2261223a22ff227d5d', 'hex')),
  '/html': fixed('<!doctype html><title>Sign in</title>'),
  '/text': fixed('Hello', { 'content-type': 'text/plain; charset=utf-8' }),
  '/latin1': fixed(Buffer.from('"é"', 'latin1'), { 'content-type': 'application/json; charset=iso-8859-1' }),
  '/binary': fixed(Buffer.from('89504e470d0a1a0a0000000d', 'hex'), { 'content-type': 'image/png' }),
  '/empty': (_request, response) => void response.writeHead(204).end(),
  '/close': (request) => void request.socket.destroy(),
  '/loop': (_request, response) => void response.writeHead(302, { location: '/loop' }).end(),
  '/redirect': (_request, response, url) => {
    const status = Number(url.searchParams.get('status') ?? 302)
    response.writeHead(status, { location: url.searchParams.get('to') ?? '/rows' }).end('moved')
  },
  '/status': (_request, response, url) => {
    const after = url.searchParams.get('after')
    response.writeHead(Number(url.searchParams.get('code')), {
      ...json,
      ...(after === null ? {} : { 'retry-after': after }),
    })
    response.end('{"message":"no"}')
  },
  '/echo': async (request, response, url) => {
    const body = await buffer(request)
    const { method, rawHeaders } = request
    const headers = request.headers
    response
      .writeHead(200, json)
      .end(JSON.stringify({ method, path: url.pathname + url.search, headers, rawHeaders, body: body.toString() }))
  },
}

/** A real HTTP (or HTTPS) server on loopback. `routes` add to or replace the ones above. */
export async function openUpstream(routes: Routes = {}, { tls = false }: { tls?: boolean } = {}): Promise<Upstream> {
  const all: Routes = { ...hostileRoutes, ...routes }
  const seen = new Map<string, number>()
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://upstream')
    seen.set(url.pathname, (seen.get(url.pathname) ?? 0) + 1)
    const answer = all[url.pathname]
    if (answer === undefined) response.writeHead(404, json).end('{"message":"no such route"}')
    else void answer(request, response, url)
  }
  const server = tls ? createHttpsServer({ cert: certificate, key: privateKey }, handle) : createHttpServer(handle)
  const { port, connections, close } = await listen(server, '127.0.0.1')
  const count = (path?: string) =>
    path === undefined ? [...seen.values()].reduce((sum, each) => sum + each, 0) : (seen.get(path) ?? 0)
  const host = `127.0.0.1:${port}`
  return { origin: `${tls ? 'https' : 'http'}://${host}`, host, port, connections, requests: count, close }
}

/** A server that speaks bytes, for answers that are no HTTP. */
export async function openRawUpstream(reply: (socket: Socket) => void, address = '127.0.0.1'): Promise<Upstream> {
  const { port, connections, close } = await listen(createTcpServer(reply), address)
  const host = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
  return { origin: `http://${host}`, host, port, connections, requests: () => 0, close }
}

async function listen(server: Server, address: string) {
  const sockets = new Set<Socket>()
  let opened = 0
  server.on('connection', (socket: Socket) => {
    opened += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, address, resolve)
  })
  const close = () => {
    for (const socket of sockets) socket.destroy()
    return new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
  }
  return { port: (server.address() as AddressInfo).port, connections: () => opened, close }
}
