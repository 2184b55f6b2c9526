import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openInstallation, type Installation } from '../harness/installation.ts'
import { serverCommand } from '../harness/process.ts'
import { mayMount } from './mounts.ts'

/**
 * A service whose machine asks a name server of an attacker: its answers live for no second and change as it likes. A
 * folder of mounts of its own lets the service see another resolv.conf; how it looks names up is the system's own.
 */
const nameServer = '127.9.9.9'
/** May be called; where the attacker's page answers from, and where what is to stay hidden listens. */
const [allowed, hidden] = ['127.8.8.8', '127.7.7.7']

/** Where each name leads, by turns: the answer to its first question, its second, and so on; the last one stays. */
const leads = new Map<string, string[]>()
const asked = new Map<string, number>()
const dns = createSocket('udp4')
/** Who was called on the hidden address. */
const reached: string[] = []
const inside = createServer((request, response) => {
  reached.push(request.url ?? '')
  response.writeHead(200, { 'content-type': 'application/json' }).end('[{"secret":1}]')
})
const outside = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://x')
  const to = searchParams.get('to')
  if (to !== null) {
    response.writeHead(302, { location: to }).end()
    return
  }
  const next = searchParams.get('next')
  const headers = { 'content-type': 'application/json', ...(next !== null && { link: `<${next}>; rel="next"` }) }
  // Each call has a connection of its own, and with it a look-up.
  response.writeHead(200, { ...headers, connection: 'close' }).end('[{"open":1}]')
})
let port = 0
let installation: Installation
let projectId: string
let folder: string

beforeAll(async () => {
  if (!mayMount) return
  dns.on('message', (question, from) => dns.send(answerTo(question), from.port, from.address))
  dns.bind(53, nameServer)
  await once(dns, 'listening')
  outside.listen(0, allowed)
  await once(outside, 'listening')
  port = (outside.address() as AddressInfo).port
  inside.listen(port, hidden)
  await once(inside, 'listening')
  folder = await mkdtemp(join(tmpdir(), 'sluice-names-'))
  const resolv = join(folder, 'resolv.conf')
  await writeFile(resolv, `nameserver ${nameServer}\noptions timeout:1 attempts:1\n`)
  const run = `mount --bind '${resolv}' /etc/resolv.conf && exec "$@"`
  const command = ['--mount', 'bash', '-c', run, 'bash', process.execPath, ...(await serverCommand())]
  const environment = { SLUICE_OUTBOUND_ALLOW: `${allowed}/32`, http_proxy: `http://${hidden}:${port}` }
  const proxies = {
    HTTP_PROXY: `http://${hidden}:${port}`,
    ALL_PROXY: `http://${hidden}:${port}`,
    NODE_USE_ENV_PROXY: '1',
  }
  installation = await openInstallation({ environment: { ...environment, ...proxies }, program: 'unshare', command })
  projectId = String((await installation.manage('POST', '/v1/projects', { name: 'Names' }))['id'])
})
afterAll(async () => {
  if (!mayMount) return
  await installation.close()
  dns.close()
  inside.close()
  outside.close()
  await rm(folder, { recursive: true, force: true })
})

/** One IPv4 address, or one IPv6 address where that is asked for and given; its time to live is zero. */
function answerTo(question: Buffer): Buffer {
  const end = question.indexOf(0, 12)
  const labels: string[] = []
  for (let at = 12; at < end; at += (question[at] ?? 0) + 1)
    labels.push(question.subarray(at + 1, at + 1 + (question[at] ?? 0)).toString())
  const name = labels.join('.').toLowerCase()
  const type = question.readUInt16BE(end + 1)
  const turns = leads.get(name) ?? []
  const isSix = type === 28
  const own = turns.filter((address) => address.includes(':') === isSix)
  const count = asked.get(`${name} ${type}`) ?? 0
  asked.set(`${name} ${type}`, count + 1)
  const address = own[Math.min(count, own.length - 1)]
  const bytes = address === undefined ? null : isSix ? sixOf(address) : Buffer.from(address.split('.').map(Number))
  const flags = turns.length === 0 ? 0x83 : 0x80
  const head = Buffer.from([
    question[0] ?? 0,
    question[1] ?? 0,
    0x81,
    flags,
    0,
    1,
    0,
    bytes === null ? 0 : 1,
    0,
    0,
    0,
    0,
  ])
  const asking = question.subarray(12, end + 5)
  if (bytes === null) return Buffer.concat([head, asking])
  const record = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length])
  return Buffer.concat([head, asking, record, bytes])
}

function sixOf(address: string): Buffer {
  const v4 = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)?.slice(1).map(Number)
  const prefix = address.startsWith('::ffff:')
    ? [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]
    : [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]
  return Buffer.from([...prefix, ...(v4 ?? [127, 0, 0, 1])])
}

async function load(url: string, more: object = {}): Promise<string> {
  const request = { url, method: 'GET', ...more }
  try {
    const body = {
      project_id: projectId,
      datasource_id: `ds_${Math.random()}`,
      connect_spec: { name: `t${asked.size}`, id: 'http_api', config: request },
      ...request,
    }
    await installation.manage('POST', '/v1/http/execute-request', body)
    return 'loaded'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const at = (name: string, path = '') => `http://${name}:${port}/${path}`

test.skipIf(!mayMount)(
  'a name that changes its address between two questions leads nowhere else',
  async () => {
    // The look-up works, so that a refusal means what it says.
    leads.set('steady.example', [allowed])
    expect(await load(at('steady.example'))).toBe('loaded')
    for (let turn = 0; turn < 8; turn += 1) {
      const name = `turns${turn}.example`
      // From its second question on, or from a later one, it is the hidden one.
      leads.set(name, [...Array.from({ length: turn }, () => allowed), hidden])
      for (let call = 0; call < 4; call += 1) {
        const outcome = await load(at(name))
        if (outcome !== 'loaded') expect(outcome).toContain('url_not_allowed')
      }
    }
    expect(reached).toEqual([])
  },
  120_000,
)

test.skipIf(!mayMount)(
  'neither do redirects, pages, mapped and embedded addresses, nor a proxy of the environment',
  async () => {
    leads.set('inner.example', [hidden])
    leads.set('second.example', [allowed, allowed, hidden])
    leads.set('mapped.example', [`::ffff:${hidden}`])
    leads.set('embedded.example', [`64:ff9b::${hidden}`])
    leads.set('both.example', [allowed, `::ffff:${hidden}`])
    const start = (query: string) => at('steady.example', `?${query}`)
    const pagination = { pagination: { type: 'link_header', max_pages: 3 } }
    const [a, b, c, d] = hidden.split('.').map(Number)
    const whole = (((a ?? 0) * 256 + (b ?? 0)) * 256 + (c ?? 0)) * 256 + (d ?? 0)
    const spellings = [
      hidden,
      String(whole),
      `0x${whole.toString(16)}`,
      `0${a?.toString(8)}.7.7.7`,
      `[::ffff:${hidden}]`,
    ]
    const tries = [
      ...['inner', 'mapped', 'embedded', 'both'].map((name) => load(at(`${name}.example`))),
      ...spellings.map((host) => load(at(host))),
      ...spellings.map((host) => load(start(`to=${encodeURIComponent(at(host))}`))),
      load(start(`to=${encodeURIComponent(at('inner.example'))}`)),
      load(start(`to=${encodeURIComponent(`//inner.example:${port}/`)}`)),
      load(start(`to=${encodeURIComponent('file:///etc/passwd')}`)),
      load(start(`next=${encodeURIComponent(at('inner.example'))}`), pagination),
      load(start(`next=${encodeURIComponent(at('second.example'))}`), pagination),
    ]
    const outcomes = await Promise.all(tries)
    expect(
      outcomes.slice(0, 4 + spellings.length * 2 + 2).filter((each) => !/url_not_allowed|which is blocked/.test(each)),
    ).toEqual([])
    expect(reached).toEqual([])
    // The hidden one listens, and would have been heard.
    await fetch(`http://${hidden}:${port}/heard`)
    expect(reached).toEqual(['/heard'])
  },
  120_000,
)
