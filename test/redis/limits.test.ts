import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { openMemoryBuckets } from '../../server/access/limits/buckets.ts'
import { type Policy, ratePolicy, spend, waitMicros } from '../../server/access/limits/policies.ts'
import { openRedisBuckets, type SharedBuckets } from '../../server/access/limits/redis.ts'
import type { Observation } from '../../server/observe.ts'
import { openTestApp } from '../harness/app.ts'

const url = process.env['TEST_REDIS_URL'] ?? ''
const binary = process.env['TEST_REDIS_SERVER'] ?? 'redis-server'
const opened: SharedBuckets[] = []
afterAll(async () => {
  for (const each of opened) await each.close()
})

async function open(at = url, observations: Observation[] = [], timeoutMs = 2_000): Promise<SharedBuckets> {
  const alone = openMemoryBuckets(Date.now)
  const observe = (event: Observation) => void observations.push(event)
  const buckets = await openRedisBuckets({ url: at, timeoutMs, alone, observe })
  opened.push(buckets)
  return buckets
}

let keys = 0
const newKey = () => `key_test_${(keys += 1)}`
const slow = [ratePolicy('default', { perMinute: 1, burst: 3 })]

describe('buckets in Redis', () => {
  test('judge as the rules in this process do, call by call', async () => {
    const buckets = await open()
    const policy = fc.oneof(
      fc
        .record({ perMinute: fc.integer({ min: 1, max: 999_999 }), burst: fc.integer({ min: 1, max: 20 }) })
        .map((rate) => ratePolicy('default', rate)),
      fc
        .integer({ min: 1, max: 20 })
        .map((quota): Policy => ({ kind: 'day', name: 'daily', quota, windowSeconds: 86_400 })),
    )
    const policies = fc.uniqueArray(policy, { minLength: 1, maxLength: 2, selector: ({ name }) => name })
    await fc.assert(
      fc.asyncProperty(policies, fc.integer({ min: 1, max: 40 }), async (list, calls) => {
        const keyId = newKey()
        let states = list.map(() => 0)
        for (let call = 0; call < calls; call += 1) {
          const taken = await buckets.take(keyId, list)
          const waits = list.map((each, at) => waitMicros(each, states[at] ?? 0, taken.nowMicros))
          const isFree = waits.every((wait) => wait === 0)
          if (isFree) states = list.map((each, at) => spend(each, states[at] ?? 0, taken.nowMicros))
          expect(taken.waits).toEqual(waits)
          // A bucket whose time is past has gone, which is the same as one that says nothing.
          for (const [at, state] of taken.states.entries()) {
            expect(Math.max(state, taken.nowMicros)).toBe(Math.max(states[at] ?? 0, taken.nowMicros))
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  test('are shared: three clients together let through what one would', async () => {
    const clients = [await open(), await open(), await open()]
    const keyId = newKey()
    const taken = await Promise.all(Array.from({ length: 60 }, async (_, at) => clients[at % 3]?.take(keyId, slow)))
    expect(taken.filter((each) => each?.waits[0] === 0).length).toBe(3)
  })
})

describe('while Redis is away', () => {
  test('calls are served and limited here, /readyz says so, and counting together comes back', async () => {
    const port = await freePort()
    let server = await start(port)
    onTestFinished(() => stop(server))
    const t = await openTestApp({ SLUICE_REDIS_URL: `redis://127.0.0.1:${port}` }, { bounds: { redisTimeoutMs: 1000 } })
    onTestFinished(() => t.close())
    const permissions = [{ project_id: await t.project(), environments: '*' }]
    const rate_limit = { per_minute: 1, burst: 2 }
    const make = async () => (await t.operator.post('/v1/api-keys', { name: 'x', permissions, rate_limit })).body.secret
    const [one, two, three] = [await make(), await make(), await make()]
    const statuses = async (secret: string) => {
      const key = t.withToken(secret)
      return [await key.get('/v1/key'), await key.get('/v1/key'), await key.get('/v1/key')].map(({ status }) => status)
    }
    const redis = async () => (await t.anonymous.get('/readyz')).body.checks.redis
    await expect.poll(redis, { timeout: 5_000 }).toEqual({ ok: true, optional: true })
    expect(await statuses(one)).toEqual([200, 200, 429])
    await stop(server)
    await expect.poll(redis, { timeout: 5_000 }).toMatchObject({ ok: false, optional: true })
    expect(await t.anonymous.get('/readyz')).toMatchObject({ status: 200, body: { ready: true } })
    // What was counted together counts on.
    expect(await statuses(one)).toEqual([429, 429, 429])
    expect(await statuses(two)).toEqual([200, 200, 429])
    server = await start(port)
    await expect.poll(redis, { timeout: 10_000 }).toEqual({ ok: true, optional: true })
    expect(await statuses(three)).toEqual([200, 200, 429])
    expect(t.observations.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['redis-lost', 'redis-recovered']))
  })

  test('a Redis that hangs costs a few waits, and then none', async () => {
    const port = await freePort()
    const server = await start(port)
    onTestFinished(() => stop(server))
    const observations: Observation[] = []
    const buckets = await open(`redis://127.0.0.1:${port}`, observations, 50)
    await expect.poll(() => buckets.isShared(), { timeout: 5_000 }).toBe(true)
    server.kill('SIGSTOP')
    const startedAt = performance.now()
    for (let call = 0; call < 200; call += 1)
      await buckets.take('key_hung', [ratePolicy('default', { perMinute: 60, burst: 50 })])
    expect(performance.now() - startedAt).toBeLessThan(2_000)
    expect(buckets.isShared()).toBe(false)
    server.kill('SIGCONT')
    const back = async () => {
      await buckets.take('key_hung', slow)
      return buckets.isShared()
    }
    await expect.poll(back, { timeout: 10_000 }).toBe(true)
    expect(observations.map(({ kind }) => kind)).toEqual(['redis-lost', 'redis-recovered'])
  })

  test('a server that is not there does not keep the app from starting', async () => {
    const startedAt = performance.now()
    const buckets = await open(`redis://127.0.0.1:${await freePort()}`)
    expect(performance.now() - startedAt).toBeLessThan(3_000)
    expect((await buckets.take('key_any', slow)).waits).toEqual([0])
    expect(buckets.isShared()).toBe(false)
  })
})

async function start(port: number): Promise<ChildProcess> {
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn(binary, options, { stdio: 'ignore', cwd: '/tmp' })
  await once(child, 'spawn')
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const stopped = once(child, 'exit')
  child.kill('SIGKILL')
  await stopped
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
