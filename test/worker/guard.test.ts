import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { Resolver as DnsResolver } from 'node:dns/promises'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildRequest } from '../../server/connections/request/build-request.ts'
import { type IpAddress, type Resolver } from '../../server/connections/outbound/guard.ts'
import { memorySink } from '../../server/connections/outbound/receive.ts'
import { openOutbound, type Outbound } from '../../server/connections/outbound/send.ts'
import { openRawUpstream, openUpstream, type Upstream } from '../harness/upstream.ts'

/** Listeners that must hear nothing: one on every loopback address that the spellings below mean. */
let listeners: Upstream[]
let port: number
let outbound: Outbound
const opened: Outbound[] = []

function open(allow: string[], resolver?: Resolver): Outbound {
  const made = openOutbound({
    allow,
    connectTimeoutMs: 2000,
    connectionsPerOrigin: 4,
    backoffBaseMs: 1,
    backoffMaxMs: 1,
    ...(resolver === undefined ? {} : { resolver }),
  })
  opened.push(made)
  return made
}

async function call(made: Outbound, url: string) {
  const limits = { maxWireBytes: 1e6, maxDecodedBytes: 1e6, beyond: 'fail', redirects: 0, retries: 0 } as const
  const request = buildRequest({ url, method: 'GET' })
  const answer = await made.send(request, { timeoutMs: 3000, sink: memorySink(), ...limits })
  return answer.ok ? answer.status : answer.error.code
}

beforeAll(async () => {
  const first = await openUpstream()
  port = first.port
  listeners = [first, await openRawUpstream((socket) => void socket.end(), '::1')]
  outbound = open([])
})
afterAll(async () => {
  await Promise.all(opened.map((each) => each.close()))
  await Promise.all(listeners.map((each) => each.close()))
})

const spellings = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.0x0.0x0.0x1',
  '0177.0.0.1',
  '017700000001',
  '0177.0x0.1',
  '127.0.0.1.',
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '0.0.0.0',
  '0',
  '0x0',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'ｌｏｃａｌｈｏｓｔ',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2002:a00:1::1]',
  '[2001:0:7f00:1::]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[5f00::1]',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '[::ffff:169.254.169.254]',
  '100.64.0.1',
  '100.127.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
]

test(`${spellings.length} spellings of private addresses reach nobody`, async () => {
  const codes = await Promise.all(
    spellings.map(async (host) => [host, await call(outbound, `http://${host}:${port}/`)]),
  )
  expect(codes).toEqual(spellings.map((host) => [host, 'url_not_allowed']))
  expect(listeners.map((listener) => listener.connections())).toEqual([0, 0])
})

describe('names', () => {
  const answering = (...addresses: string[]): Resolver => {
    const answers = addresses.map((address): IpAddress => ({ address, family: address.includes(':') ? 6 : 4 }))
    return () => Promise.resolve(answers)
  }

  test.each([
    ['a private address', ['10.0.0.7']],
    ['loopback', ['127.0.0.1']],
    ['a public and a private one', ['93.184.216.34', '127.0.0.1']],
    ['an embedded one', ['::ffff:127.0.0.1']],
    ['IPv6 loopback', ['::1']],
  ])('that answer with %s are refused', async (_what, addresses) => {
    expect(await call(open([], answering(...addresses)), `http://api.example:${port}/`)).toBe('url_not_allowed')
    expect(listeners.map((listener) => listener.connections())).toEqual([0, 0])
  })

  test('are resolved once for a connection: what was checked is what is connected to', async () => {
    let asked = 0
    const rebinding: Resolver = async () => {
      asked += 1
      return [{ address: asked === 1 ? '127.0.0.1' : '10.9.9.9', family: 4 }]
    }
    const target = await openUpstream()
    expect(await call(open(['127.0.0.1/32'], rebinding), `http://rebind.example:${target.port}/rows`)).toBe(200)
    expect(asked).toBe(1)
    await target.close()
  })

  test('without any address are said to be unknown', async () => {
    expect(await call(open([], answering()), 'http://nothing.example/')).toBe('dns_error')
  })

  test('from a real name server on loopback are checked all the same', async () => {
    const server = await openNameServer('127.0.0.1')
    const dns = new DnsResolver({ timeout: 1000, tries: 1 })
    dns.setServers([`127.0.0.1:${server.address().port}`])
    const resolver: Resolver = async (hostname) =>
      (await dns.resolve4(hostname)).map((address): IpAddress => ({ address, family: 4 }))
    expect(await call(open([], resolver), `http://intranet.example:${port}/`)).toBe('url_not_allowed')
    expect(listeners.map((listener) => listener.connections())).toEqual([0, 0])
    server.close()
  })
})

describe('allowed', () => {
  test.each([
    ['127.0.0.1', 200],
    ['127.0.0.1:PORT', 200],
    ['127.0.0.0/8', 200],
    ['127.0.0.1:1', 'url_not_allowed'],
    ['localhost', 'url_not_allowed'],
    ['10.0.0.0/8', 'url_not_allowed'],
  ])('%s: %s', async (entry, outcome) => {
    const target = await openUpstream()
    const made = open([entry.replace('PORT', String(target.port))])
    expect(await call(made, `${target.origin}/rows`)).toBe(outcome)
    expect(target.connections()).toBe(outcome === 200 ? 1 : 0)
    await target.close()
  })

  test('an entry that is none is named', () => {
    for (const entry of ['10.0.0.0/33', 'not a host', '::1/129', 'x/8']) expect(() => open([entry])).toThrow(entry)
  })
})

/** A name server that answers every question with one IPv4 address. */
async function openNameServer(address: string): Promise<UdpSocket> {
  const socket = createSocket('udp4')
  socket.on('message', (question, from) => {
    const name = question.subarray(12, question.indexOf(0, 12) + 5)
    const head = Buffer.from([question[0] ?? 0, question[1] ?? 0, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
    const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)])
    socket.send(Buffer.concat([head, name, record]), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}
