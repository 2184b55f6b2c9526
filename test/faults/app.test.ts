import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { makeDataDir } from '../harness/data-dir.ts'
import { operatorToken } from '../harness/app.ts'
import { isAlive, processTree, runService, startService, type ServiceProcess } from '../harness/process.ts'
import { openUpstream } from '../harness/upstream.ts'

const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' }

let dataDir: string
let running: ServiceProcess[]
beforeEach(async () => {
  running = []
  dataDir = await makeDataDir()
})
afterEach(async () => {
  for (const service of running) {
    service.kill('SIGTERM')
    await service.exited
  }
  // A test that fails between a kill and the next start leaves its database running.
  const postmaster = await postmasterOf(dataDir).catch(() => undefined)
  if (postmaster !== undefined && isAlive(postmaster)) process.kill(postmaster, 'SIGKILL')
  await rm(dataDir, { recursive: true, force: true })
})

async function start(environment: Record<string, string> = {}): Promise<ServiceProcess> {
  const service = await startService(dataDir, environment)
  running = [service]
  return service
}

describe('kill -9 of one process, while the others go on', () => {
  test('a service whose database is killed serves again by itself', async () => {
    const service = await start()
    await killOne(service, 'PostgreSQL')
    expect(await until(async () => (await post(service, 'after')) === 201)).toBe(true)
  })

  test('a service whose executors are killed is ready again by itself', async () => {
    const service = await start()
    await killOne(service, 'an executor')
    expect(await until(async () => (await fetch(`${service.url}/readyz`)).status === 200)).toBe(true)
  })
})

describe('starts and stops', () => {
  test('a second process on one data folder refuses with a clear message; the first goes on', async () => {
    const service = await start()
    const second = await runService({ SLUICE_DATA_DIR: dataDir, PORT: '0' })
    expect(second.code).toBe(1)
    expect(second.output).toMatch(new RegExp(`Sluice cannot start: .*${service.pid}`))
    expect(await post(service, 'still there')).toBe(201)
  })

  test('a wrong setting stops the start with one line that names it', async () => {
    const refused = await runService({ SLUICE_DATA_DIR: dataDir, PORT: 'no', SLUICE_BODY_BYTES: '1' })
    expect(refused.code).toBe(1)
    expect(refused.output).toMatch(/^Configuration: PORT .+\nConfiguration: SLUICE_BODY_BYTES .+\n$/)
  })

  test('a stop finishes what is in flight and leaves no process behind', async () => {
    const service = await start()
    const tree = processTree(service.pid)
    const inFlight = Array.from({ length: 20 }, (_, index) => post(service, `flight ${index}`))
    service.kill('SIGTERM')
    const statuses = await Promise.all(inFlight.map((call) => call.catch(() => 0)))
    expect(await service.exited).toBe(0)
    // A call either arrived before the listener closed and was answered, or was never taken.
    expect(new Set(statuses)).not.toContain(500)
    await expect.poll(() => tree.filter(isAlive), { timeout: 15_000 }).toEqual([])
    running = []
    const again = await start()
    const names = await projectNames(again)
    expect(names.length).toBe(statuses.filter((status) => status === 201).length)
  })

  test('a start by npm ends when the shell is gone that npm ran it in, as any stop does', async () => {
    const upstream = await openUpstream()
    onTestFinished(upstream.close)
    const environment = {
      npm_lifecycle_event: 'start',
      SLUICE_OUTBOUND_ALLOW: upstream.host,
      SLUICE_TEST_TIMEOUT_MS: '4000',
      // Far beyond what is awaited below: nothing but the call is waited for.
      SLUICE_SHUTDOWN_TIMEOUT_MS: '60000',
    }
    const script = ['-c', '"$0" scripts/start.mjs; exit $?', process.execPath]
    const service = await startService(dataDir, environment, script, 'sh')
    const tree = [...processTree(service.pid), ...processTree(await postmasterOf(dataDir))]
    onTestFinished(() => {
      for (const pid of tree.filter(isAlive)) process.kill(pid, 'SIGKILL')
    })
    // The shell, the script, the service, an executor and PostgreSQL at the least.
    expect(tree.length).toBeGreaterThanOrEqual(5)
    // In flight for longer than the script waits between two looks at its parent.
    const body = JSON.stringify({ url: `${upstream.origin}/slow-headers`, method: 'GET' })
    const inFlight = fetch(`${service.url}/v1/http/test-connection`, { method: 'POST', headers, body })
    await until(() => upstream.requests() > 0)
    service.kill('SIGKILL')
    await service.exited
    expect(await (await inFlight).json()).toMatchObject({ success: false, error: { code: 'timeout' } })
    await expect.poll(() => tree.filter(isAlive), { timeout: 20_000 }).toEqual([])
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow('fetch failed')
  })

  test('a terminal that closes ends the service as any stop does, though nothing can be written there any more', async () => {
    // A session of its own, as a terminal's; its output takes nothing.
    const script = ['-c', 'exec setsid "$0" scripts/start.mjs >/dev/full 2>&1', process.execPath]
    const service = await startService(dataDir, { SLUICE_LOG_LEVEL: 'debug' }, script, 'sh')
    const tree = [...processTree(service.pid), ...processTree(await postmasterOf(dataDir))]
    onTestFinished(() => {
      for (const pid of tree.filter(isAlive)) process.kill(pid, 'SIGKILL')
    })
    expect(await post(service, 'unheard')).toBe(201)
    // To all of them at once, as the kernel does.
    process.kill(-service.pid, 'SIGHUP')
    expect(await service.exited).toBe(0)
    await expect.poll(() => tree.filter(isAlive), { timeout: 15_000 }).toEqual([])
    expect(await projectNames(await start())).toEqual(['unheard'])
  })

  test('the log of a run holds no secret', async () => {
    const service = await start({ SLUICE_LOG_LEVEL: 'debug' })
    await post(service, 'x')
    await fetch(`${service.url}/v1/session`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ email: 'a@example.org', password: 'planted-password' }),
    })
    const token = (await (
      await fetch(`${service.url}/v1/management-tokens`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name: 'CI', role: 'viewer' }),
      })
    ).json()) as { secret: string }
    await fetch(`${service.url}/v1/projects`, { headers: { authorization: `Bearer ${token.secret}` } })
    expect(service.output()).toContain('request-answered')
    // The first line printed for a person is the sign-in link; the log lines are the JSON ones.
    const log = service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .join('\n')
    for (const secret of [operatorToken, 'planted-password', token.secret, 'slc_link_'])
      expect(log).not.toContain(secret)
  })
})

async function post(service: ServiceProcess, name: string): Promise<number> {
  const body = JSON.stringify({ name })
  const signal = AbortSignal.timeout(10_000)
  return (await fetch(`${service.url}/v1/projects`, { method: 'POST', headers, body, signal })).status
}

async function projectNames(service: ServiceProcess): Promise<string[]> {
  const names: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const answer = await fetch(`${service.url}/v1/projects?limit=200${cursor && `&cursor=${cursor}`}`, { headers })
    const page = (await answer.json()) as { data: Array<{ name: string }>; next_cursor: string | null }
    names.push(...page.data.map((project) => project.name))
    cursor = page.next_cursor
  }
  return names
}

async function killOne(service: ServiceProcess, victim: 'PostgreSQL' | 'an executor'): Promise<void> {
  const postmaster = await postmasterOf(dataDir)
  const executors = processTree(service.pid).filter((pid) => pid !== service.pid && pid !== postmaster)
  const chosen = {
    PostgreSQL: [postmaster],
    'an executor': executors.slice(0, 1),
  }[victim]
  expect(chosen.length).toBeGreaterThan(0)
  for (const pid of chosen) {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  }
}

async function postmasterOf(folder: string): Promise<number> {
  return Number((await readFile(join(folder, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
}

/** Awaits a condition, with a deadline. */
async function until(condition: () => boolean | Promise<boolean>): Promise<true> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline;) {
    if (await Promise.resolve(condition()).catch(() => false)) return true
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('the condition was not met in 30 s')
}
