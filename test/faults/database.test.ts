import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { rm } from 'node:fs/promises'
import { makeDataDir, makePassableFolder } from '../harness/data-dir.ts'
import { openInstallation, type Installation, type Project } from '../harness/installation.ts'
import { killAll, postmasterTree } from '../harness/process.ts'
import { embeddedServer } from '../../server/store/postgres/embedded.ts'
import { readFolderId } from '../../server/store/postgres/places.ts'

/** `npm test -- faults` cuts it for as long as a failover takes. */
const cutMs = process.env['FAULT_ROUNDS'] === '100' ? 30_000 : 6_000
/** A statement or a wait for a connection may take ten seconds. */
const answerLimitMs = 15_000

const queries = {
  kept: { sql: 'SELECT count(*) AS orders FROM orders', cache_seconds: 3_600 },
  run: { sql: 'SELECT count(*) AS orders FROM orders WHERE id >= 0' },
}

type Wire = { url: string; cut(): void; mend(): void; close(): void }

/** A network between the service and its database that can be cut. */
async function openWire(socketPath: string): Promise<Wire> {
  const sockets = new Set<Socket>()
  let isCut = false
  const proxy = createServer((client) => {
    const server = connect(socketPath)
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket
        .on('error', () => undefined)
        .on('close', () => {
          client.destroy()
          server.destroy()
          sockets.delete(socket)
        })
    }
    if (isCut) client.destroy()
    else client.pipe(server).pipe(client)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `postgres://sluice@127.0.0.1:${(proxy.address() as AddressInfo).port}/postgres`,
    cut() {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    mend: () => void (isCut = false),
    close: () => void proxy.close(),
  }
}

async function openDatabase(): Promise<Wire> {
  const folder = await makeDataDir()
  const observe = (): void => undefined
  const folderId = await readFolderId(folder)
  const server = await embeddedServer({ dataDir: folder, folderId, connections: 30, observe })
  await server.ensure(AbortSignal.timeout(60_000))
  const wire = await openWire(join(String(server.connection.host), '.s.PGSQL.5432'))
  onTestFinished(async () => {
    wire.close()
    await server.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  return wire
}

async function statusOf(installation: Installation, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${installation.operator}` }
  const answer = await fetch(installation.url + path, { headers, signal: AbortSignal.timeout(answerLimitMs) })
  await answer.text()
  return answer.status
}

/** Calls both queries again and again, and answers what they said and how long the slowest took. */
async function callUntil(installation: Installation, project: Project, until: AbortSignal) {
  const seen: Record<string, Record<number, number>> = { kept: {}, run: {} }
  let slowestMs = 0
  while (!until.aborted) {
    for (const [name, statuses] of Object.entries(seen)) {
      const startedMs = performance.now()
      const answer = await installation.call(project, name, {}, AbortSignal.timeout(answerLimitMs))
      await answer.text()
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      slowestMs = Math.max(slowestMs, performance.now() - startedMs)
    }
    await wait(100)
  }
  return { seen, slowestMs }
}

async function warm(installation: Installation): Promise<Project> {
  const project = await installation.project(queries)
  for (const name of Object.keys(queries)) expect((await installation.call(project, name)).status).toBe(200)
  return project
}

test(
  `a database that is cut off for ${cutMs / 1000} s: queries are answered, the rest is told to come again`,
  async () => {
    const wire = await openDatabase()
    const dataDir = await makePassableFolder()
    const environment = { SLUICE_DATABASE_URL: wire.url, SLUICE_SECRET_KEY: 'a key of this test, long enough for it' }
    const installation = await openInstallation({ dataDir, environment })
    onTestFinished(() => installation.close())
    const project = await warm(installation)
    wire.cut()
    const over = AbortSignal.timeout(cutMs)
    const calling = callUntil(installation, project, over)
    const managed = new Set<number>()
    while (!over.aborted) {
      managed.add(await statusOf(installation, '/v1/projects'))
      await wait(200)
    }
    const { seen, slowestMs } = await calling
    expect([...managed]).toEqual([503])
    expect(Object.keys(seen['kept'] ?? {})).toEqual(['200'])
    expect(Object.keys(seen['run'] ?? {})).toEqual(['200'])
    expect(seen['run']?.[200]).toBeGreaterThan(10)
    expect(slowestMs).toBeLessThan(5_000)
    wire.mend()
    await expect.poll(() => statusOf(installation, '/v1/projects'), { timeout: 60_000, interval: 200 }).toBe(200)
    await expect.poll(() => statusOf(installation, '/readyz'), { timeout: 60_000, interval: 200 }).toBe(200)
    // What was called meanwhile is in the log, once it could be written.
    const made = (seen['kept']?.[200] ?? 0) + (seen['run']?.[200] ?? 0)
    await expect
      .poll(() => requestCount(installation, project), { timeout: 60_000 })
      .toBe(made + Object.keys(queries).length)
  },
  cutMs + 120_000,
)

async function requestCount(installation: Installation, { projectId }: Project): Promise<number> {
  const { totals } = await installation.manage('GET', `/v1/projects/${projectId}/metrics`)
  return (totals as { requests: number }).requests
}

test('a database that is stopped and started again: no call of a query fails, and changes work at once', async () => {
  const installation = await openInstallation({ dataDir: await makeDataDir() })
  onTestFinished(() => installation.close())
  const project = await warm(installation)
  const over = new AbortController()
  const calling = callUntil(installation, project, over.signal)
  for (let time = 0; time < 3; time += 1) {
    const [postmaster = 0] = postmasterTree(installation.dataDir)
    // As an administrator does: sessions are ended, and the server stops in order. The service starts its own again.
    process.kill(postmaster, 'SIGINT')
    await expect
      .poll(
        async () => postmasterOf(installation.dataDir) !== postmaster && (await statusOf(installation, '/v1/projects')),
        {
          timeout: 60_000,
        },
      )
      .toBe(200)
    await installation.manage('POST', '/v1/projects', { name: `after ${time}` })
  }
  over.abort()
  const { seen } = await calling
  expect(seen).toEqual({ kept: { 200: expect.any(Number) }, run: { 200: expect.any(Number) } })
}, 180_000)

test('a database that hangs: queries are answered, the rest is refused in time, and it goes on where it was', async () => {
  const environment = { SLUICE_DATABASE_TIMEOUT_MS: '2000' }
  const installation = await openInstallation({ dataDir: await makeDataDir(), environment })
  onTestFinished(() => installation.close())
  const project = await warm(installation)
  const database = postmasterTree(installation.dataDir)
  onTestFinished(() => killAll(database, 'SIGCONT'))
  killAll(database, 'SIGSTOP')
  const over = AbortSignal.timeout(6_000)
  const calling = callUntil(installation, project, over)
  const managed = new Set<number>()
  while (!over.aborted) managed.add(await statusOf(installation, '/v1/projects'))
  const { seen } = await calling
  killAll(database, 'SIGCONT')
  expect([...managed]).toEqual([503])
  expect(seen).toEqual({ kept: { 200: expect.any(Number) }, run: { 200: expect.any(Number) } })
  await expect.poll(() => statusOf(installation, '/v1/projects'), { timeout: 60_000, interval: 200 }).toBe(200)
}, 120_000)

function postmasterOf(dataDir: string): number {
  try {
    return Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10)
  } catch {
    return 0
  }
}
