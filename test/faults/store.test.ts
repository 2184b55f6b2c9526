import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

type Event = { kind: string; number?: number; numbers?: number[]; pid?: number; adopted?: boolean }
type Writer = { child: ChildProcess; events: Event[]; complaint: () => string }

const isRoot = process.getuid?.() === 0
const server = { uid: 65_534, gid: 65_534 }
let folder: string
let dataDir: string
let writers: Writer[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-faults-'))
  await chmod(folder, 0o711)
  dataDir = join(folder, 'data')
  await mkdir(join(folder, 'migrations'))
  await writeFile(join(folder, 'migrations', '0001_a.sql'), 'create table acknowledged (number bigint primary key);')
})

afterEach(async () => {
  for (const { child } of writers) child.kill('SIGKILL')
  writers = []
  const home = homeOf()
  const shortSockets = join(tmpdir(), `sluice-${readFileSync(join(dataDir, 'folder-id'), 'utf8').trim()}`)
  killAll(serverProcesses())
  await vi.waitUntil(() => serverProcesses().length === 0, { timeout: 10_000 })
  for (const path of [folder, home, shortSockets]) await rm(path, { recursive: true, force: true })
})

/** Where the cluster is: the data folder, or what is recorded there. */
function homeOf(): string {
  const record = join(dataDir, 'postgres-home')
  return existsSync(record) ? readFileSync(record, 'utf8').trim() : dataDir
}

/** Every process that stands in the cluster, or in a half-made one: found without asking the code under test. */
function serverProcesses(): number[] {
  const home = homeOf()
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(join(home, 'postgres'))
      } catch {
        return false
      }
    })
    .map(Number)
}

function postmaster(): number {
  return Number.parseInt(readFileSync(join(homeOf(), 'postgres', 'postmaster.pid'), 'utf8'), 10)
}

function killAll(pids: number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended with another.
    }
  }
}

function startWriter(): Writer {
  const script = join(import.meta.dirname, 'store-writer.ts')
  const child = spawn(process.execPath, [script, dataDir, join(folder, 'migrations')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const events: Event[] = []
  createInterface({ input: child.stdout }).on('line', (line) => events.push(JSON.parse(line)))
  let complaint = ''
  child.stderr.on('data', (chunk) => (complaint += chunk))
  const writer = { child, events, complaint: () => complaint }
  writers.push(writer)
  return writer
}

async function said(writer: Writer, kind: string, more = 0): Promise<Event> {
  const wanted = () => writer.events.filter((event) => event.kind === kind)
  await vi.waitFor(
    () => {
      if (writer.child.exitCode !== null) throw new Error(`The writer ended: ${writer.complaint()}`)
      expect(wanted().length).toBeGreaterThan(more)
    },
    { timeout: 20_000, interval: 5 },
  )
  return wanted()[more] ?? { kind }
}

async function kill(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
  const exit = once(child, 'exit', { signal: AbortSignal.timeout(15_000) })
  child.kill(signal)
  await exit
  // The last lines may still be in the pipe.
  if (child.stdout?.readableEnded === false) await once(child.stdout, 'close')
}

function acknowledged(writer: Writer): number[] {
  return writer.events.flatMap(({ kind, number }) => (kind === 'acknowledged' && number !== undefined ? [number] : []))
}

test('a killed app leaves its server running, and the next app adopts it', async () => {
  const first = startWriter()
  await said(first, 'acknowledged')
  const pid = postmaster()
  await kill(first.child)
  const second = startWriter()
  expect(await said(second, 'database-started')).toMatchObject({ pid, adopted: true })
  expect((await said(second, 'ready')).numbers).toEqual(expect.arrayContaining(acknowledged(first)))
})

test('an app that is asked to stop takes its server along, also an adopted one', async () => {
  const first = startWriter()
  await said(first, 'acknowledged')
  await kill(first.child)
  const second = startWriter()
  await said(second, 'acknowledged')
  await kill(second.child, 'SIGTERM')
  expect(second.child.exitCode).toBe(0)
  expect(serverProcesses()).toEqual([])
})

test.for([
  ['its own', false],
  ['an adopted', true],
] as const)('%s server that is killed runs again while the app runs', async ([, adopt]) => {
  if (adopt) {
    const earlier = startWriter()
    await said(earlier, 'ready')
    await kill(earlier.child)
  }
  const writer = startWriter()
  await said(writer, 'acknowledged')
  killAll([postmaster()])
  await said(writer, 'database-lost')
  await said(writer, 'database-recovered')
  await said(writer, 'acknowledged', acknowledged(writer).length + 10)
  await kill(writer.child, 'SIGTERM')
  expect(writer.child.exitCode).toBe(0)
})

test('nothing that was acknowledged is lost, whatever is killed', async () => {
  const all: number[] = []
  for (let round = 0; round < 9; round += 1) {
    const writer = startWriter()
    const { numbers = [] } = await said(writer, 'ready')
    const there = new Set(numbers)
    expect(all.filter((number) => !there.has(number))).toEqual([])
    await said(writer, 'acknowledged', 20)
    if (round % 3 > 0) killAll(round % 3 === 1 ? [postmaster()] : serverProcesses())
    await kill(writer.child)
    all.push(...acknowledged(writer))
  }
  expect(all.length).toBeGreaterThan(180)
})

test('a kill while the cluster is being made leaves nothing in the way', async () => {
  const first = startWriter()
  const drafts = () => (existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name.includes('-draft-')) : [])
  await vi.waitFor(() => expect(drafts().some((name) => existsSync(join(dataDir, name, 'PG_VERSION')))).toBe(true), {
    timeout: 20_000,
    interval: 2,
  })
  await kill(first.child)
  killAll(serverProcesses())
  expect(existsSync(join(dataDir, 'postgres'))).toBe(false)
  const second = startWriter()
  await said(second, 'acknowledged')
  await vi.waitFor(() => expect(drafts()).toEqual([]), 10_000)
})

test('a second process on the folder is refused by name and does not disturb the first', async () => {
  const first = startWriter()
  await said(first, 'acknowledged')
  const pid = postmaster()
  const second = startWriter()
  await once(second.child, 'exit')
  expect(second.child.exitCode).toBe(1)
  expect(second.complaint()).toMatch(new RegExp(`is in use by Sluice, process ${first.child.pid} on .*\\.\n$`))
  await said(first, 'acknowledged', acknowledged(first).length + 10)
  expect(postmaster()).toBe(pid)
  expect(first.events.map(({ kind }) => kind)).not.toContain('database-lost')
})

test('of several processes that start together on an empty folder one wins and the others are refused', async () => {
  const rivals = [startWriter(), startWriter(), startWriter()]
  const isDone = ({ child, events }: Writer) => child.exitCode !== null || events.some(({ kind }) => kind === 'ready')
  await vi.waitFor(() => expect(rivals.every(isDone)).toBe(true), { timeout: 20_000 })
  const [winner, ...others] = rivals.filter(({ child }) => child.exitCode === null)
  const refused = rivals.filter(({ child }) => child.exitCode !== null)
  expect(others).toEqual([])
  expect(refused.map(({ complaint }) => complaint())).toEqual([
    expect.stringContaining(`is in use by Sluice, process ${winner?.child.pid} on`),
    expect.stringContaining(`is in use by Sluice, process ${winner?.child.pid} on`),
  ])
})

test('a lock file that names a process of someone else does not stop the start', async () => {
  const first = startWriter()
  await said(first, 'acknowledged')
  killAll(serverProcesses())
  await kill(first.child)
  const stranger = spawn('sleep', ['60'], isRoot ? server : {})
  try {
    await plantLock(join(dataDir, 'postgres', 'postmaster.pid'), stranger.pid)
    await plantLock(join(dataDir, 'sockets', '.s.PGSQL.5432.lock'), stranger.pid)
    const second = startWriter()
    expect((await said(second, 'ready')).numbers).toEqual(expect.arrayContaining(acknowledged(first)))
    expect(stranger.exitCode).toBeNull()
  } finally {
    stranger.kill('SIGKILL')
  }
})

async function plantLock(path: string, pid: number | undefined): Promise<void> {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(1) : [join(dataDir, 'postgres'), '0']
  await writeFile(path, [pid, ...lines].join('\n'))
  if (isRoot) await chown(path, server.uid, server.gid)
}

test.runIf(isRoot)(
  'a data folder that only root can enter keeps its cluster where the server can reach it',
  async () => {
    await chmod(folder, 0o700)
    const first = startWriter()
    await said(first, 'acknowledged')
    expect(homeOf()).not.toBe(dataDir)
    killAll(serverProcesses())
    await kill(first.child)
    const second = startWriter()
    expect((await said(second, 'ready')).numbers).toEqual(expect.arrayContaining(acknowledged(first)))
  },
)

test('a server that lost its socket file is replaced', async () => {
  const first = startWriter()
  await said(first, 'acknowledged')
  const pid = postmaster()
  await kill(first.child)
  await rm(join(dataDir, 'sockets', '.s.PGSQL.5432'))
  const second = startWriter()
  expect((await said(second, 'ready')).numbers).toEqual(expect.arrayContaining(acknowledged(first)))
  expect(postmaster()).not.toBe(pid)
})

test('an app that is asked to stop while its server is away stops, and leaves none behind', async () => {
  const writer = startWriter()
  await said(writer, 'acknowledged')
  const lost = said(writer, 'database-lost')
  killAll(serverProcesses())
  await lost
  await kill(writer.child, 'SIGTERM')
  expect(writer.child.exitCode).toBe(0)
  expect(serverProcesses()).toEqual([])
})

test('a path too long for a socket works all the same', async () => {
  dataDir = join(folder, 'd'.repeat(120), 'data')
  const writer = startWriter()
  await said(writer, 'acknowledged')
  await kill(writer.child, 'SIGTERM')
  expect(writer.child.exitCode).toBe(0)
})
