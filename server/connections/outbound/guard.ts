import { lookup } from 'node:dns/promises'
import { BlockList, isIP, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import { within } from '../../flow/index.ts'

/** The address guard: no connection opens to an address that is not globally reachable, unless it is allowed by name. */

export type IpAddress = { address: string; family: 4 | 6 }
export type Resolver = (hostname: string) => Promise<IpAddress[]>

/** Special-purpose ranges of IPv4 (RFC 6890 and its registry). */
const blockedV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/**
 * Only 2000::/3 is handed out as global unicast, so all else is blocked whole: `::/3` holds loopback, IPv4-mapped,
 * IPv4-compatible and NAT64 forms, `8000::/1` unique-local, link-local and multicast. Inside 2000::/3 remain Teredo,
 * ORCHID and benchmarking (2001::/23), documentation, and 6to4, which embeds an IPv4 address.
 */
const blockedV6 = ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

function listOf(ranges: string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits = ''] = range.split('/')
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

const blocked = listOf([...blockedV4, ...blockedV6])

/** Whether an IP address may be called without being allowed by name. */
function isGlobal(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && !blocked.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** The exemptions: hosts as written (with a port where given) and CIDRs of resolved addresses. */
export type Allow = { hosts: Set<string>; ranges: BlockList }

/** Reads the entries of `SLUICE_OUTBOUND_ALLOW`; an entry that is none is named. */
export function parseAllow(entries: string[]): Allow {
  const hosts = new Set<string>()
  const ranges: string[] = []
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/')
    if (bits !== undefined) {
      const most = isIP(address) === 6 ? 128 : 32
      if (isIP(address) === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > most) throw badEntry(entry)
      ranges.push(entry)
      continue
    }
    const written = isIP(entry) === 6 ? `[${entry}]` : entry
    const port = /:(\d{1,5})$/.exec(written.replace(/^\[.*?\]/, ''))?.[1]
    const host = port === undefined ? written : written.slice(0, -port.length - 1)
    if (!URL.canParse(`http://${host}/`)) throw badEntry(entry)
    const { hostname } = new URL(`http://${host}/`)
    hosts.add(port === undefined ? hostname : `${hostname}:${port}`)
  }
  return { hosts, ranges: listOf(ranges) }
}

function badEntry(entry: string): Error {
  return new Error(`${JSON.stringify(entry)} is no host, host:port or CIDR`)
}

/** Thrown by the connector, and known again where undici hands it on. */
export type GuardError = Error & { guard: 'blocked' | 'dns'; address?: string }

export function isGuardError(error: unknown): error is GuardError {
  return error instanceof Error && 'guard' in error
}

function guardError(
  guard: GuardError['guard'],
  message: string,
  extra: { cause?: unknown; address?: string },
): GuardError {
  const { cause, ...rest } = extra
  return Object.assign(new Error(message, { cause }), { guard, ...rest })
}

export async function resolveBySystem(hostname: string): Promise<IpAddress[]> {
  const answers = await lookup(hostname, { all: true, verbatim: true })
  return answers.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

export type GuardOptions = {
  allow: Allow
  resolver: Resolver
  connectTimeoutMs: number
  ca?: string | undefined
  /** By which the client is known. */
  certificate?: { cert: string; key: string } | undefined
}

/**
 * A connector for undici. It checks addresses written as such, for which no look-up ever happens; resolves a name to
 * all its answers and refuses if any is blocked; connects to those same answers, so that a second look-up cannot give
 * another; and checks once more where the socket has arrived.
 */
export function guardedConnector(options: GuardOptions): buildConnector.connector {
  return (target, callback) => void connectAndTell(target, options, callback)
}

async function connectAndTell(
  target: buildConnector.Options,
  options: GuardOptions,
  callback: buildConnector.Callback,
): Promise<void> {
  let socket: Socket
  try {
    socket = await connectGuarded(target, options)
  } catch (error) {
    callback(error instanceof Error ? error : new Error(String(error)), null)
    return
  }
  callback(null, socket)
}

type Target = Pick<buildConnector.Options, 'hostname' | 'port' | 'protocol'>

/** The addresses behind a name, if every one of them may be reached; else throws. */
export async function resolveGuarded(
  target: Target,
  options: GuardOptions,
): Promise<{ hostname: string; answers: IpAddress[]; mayReach: (address: string) => boolean }> {
  const hostname = target.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = target.port === '' ? (target.protocol === 'https:' ? '443' : '80') : target.port
  const mayReach = permits(options.allow, { hostname, port })
  const answers = await answersFor(hostname, options)
  for (const { address } of answers) {
    if (!mayReach(address)) throw guardError('blocked', `${hostname} is ${address}`, { address })
  }
  return { hostname, answers, mayReach }
}

async function connectGuarded(target: buildConnector.Options, options: GuardOptions): Promise<Socket> {
  const { hostname, answers, mayReach } = await resolveGuarded(target, options)
  const socket = await open(target, answers, options)
  const arrived = socket.remoteAddress ?? ''
  const isAnswer = answers.some(({ address }) => sameAddress(address, arrived))
  if (isAnswer && mayReach(arrived)) return socket
  socket.destroy()
  throw guardError('blocked', `${hostname} led to ${arrived}`, { address: arrived })
}

/** Whether an address may be reached under this name: allowed as written, allowed by range, or global. */
function permits(allow: Allow, { hostname, port }: { hostname: string; port: string }): (address: string) => boolean {
  const written = isIP(hostname) === 6 ? `[${hostname}]` : hostname
  const isAllowed = allow.hosts.has(written) || allow.hosts.has(`${written}:${port}`)
  return (address) =>
    isAllowed || isGlobal(address) || allow.ranges.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

const loopback: IpAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

async function answersFor(hostname: string, { resolver, connectTimeoutMs }: GuardOptions): Promise<IpAddress[]> {
  const family = isIP(hostname)
  if (family !== 0) return [{ address: hostname, family: family === 6 ? 6 : 4 }]
  // These names mean this machine whatever a name server says (RFC 6761, 6.3).
  if (/(^|\.)localhost\.?$/i.test(hostname)) return loopback
  try {
    const answers = await within(connectTimeoutMs, resolver(hostname), unanswered)
    if (answers.length > 0) return answers
  } catch (cause) {
    throw guardError('dns', `${hostname} does not resolve`, { cause })
  }
  throw guardError('dns', `${hostname} has no address`, {})
}

/** A look-up has no time limit of its own. */
function unanswered(): never {
  throw new Error('no answer in time')
}

function sameAddress(left: string, right: string): boolean {
  const list = new BlockList()
  list.addAddress(left, isIP(left) === 6 ? 'ipv6' : 'ipv4')
  return isIP(right) !== 0 && list.check(right, isIP(right) === 6 ? 'ipv6' : 'ipv4')
}

function open(target: buildConnector.Options, answers: IpAddress[], options: GuardOptions): Promise<Socket> {
  const connect = buildConnector({
    timeout: options.connectTimeoutMs,
    allowH2: false,
    autoSelectFamily: true,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    ...options.certificate,
    lookup: (_hostname, wanted, done) => {
      const [first] = answers
      if (wanted.all === true || first === undefined) done(null, answers)
      else done(null, first.address, first.family)
    },
  })
  return new Promise((resolve, reject) => {
    connect(target, (error, socket) => {
      if (error === null) resolve(socket)
      else reject(error)
    })
  })
}
