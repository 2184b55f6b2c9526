import { createHash } from 'node:crypto'
import { createClient } from '@redis/client'
import { within } from '../../flow/index.ts'
import type { Observe } from '../../observe.ts'
import type { Buckets, MemoryBuckets, Taken } from './buckets.ts'
import type { Policy } from './policies.ts'

export type SharedBuckets = Buckets & {
  /** Whether calls are counted together with the other processes right now. */
  isShared(): boolean
  close(): Promise<void>
}

type Options = {
  url: string
  /** Longest wait for an answer before a call is counted here. */
  timeoutMs: number
  /** Counts while Redis is away, from where Redis was. */
  alone: MemoryBuckets
  observe: Observe
}

/** The rules of `gcra.ts` once more, by the clock of Redis, which is the only one that all replicas share. */
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ends = now - now % 86400000000 + 86400000000
local reply, spent, free = { now }, {}, true
for i = 1, #KEYS do
  local kind, most, spacing = ARGV[i * 3 - 2], tonumber(ARGV[i * 3 - 1]), tonumber(ARGV[i * 3])
  local state = tonumber(redis.call('GET', KEYS[i]) or '0')
  local wait
  if kind == 'day' then
    local used = math.max(0, state - ends)
    wait = used < most and 0 or ends - now
    spent[i] = ends + used + 1
  else
    spent[i] = math.max(state, now) + spacing
    wait = math.max(0, spent[i] - now - most * spacing)
  end
  if wait > 0 then free = false end
  reply[i * 2], reply[i * 2 + 1] = wait, state
end
if free then
  for i = 1, #KEYS do
    redis.call('SET', KEYS[i], string.format('%.0f', spent[i]), 'PX', math.ceil((spent[i] - now) / 1000))
    reply[i * 2 + 1] = spent[i]
  end
end
return reply`
const scriptHash = createHash('sha1').update(script).digest('hex')

/** How long the first connection may keep the start waiting. */
const firstConnectionMs = 1_000
/** After so long without an answer Redis counts as lost; one late answer is only late. */
const lostAfterMs = 500
/** Once it is lost, only one call in this time tries it again. */
const probePauseMs = 1_000
const maxReconnectMs = 2_000
/** More calls than this waiting for an answer, and the rest are counted here. */
const maxWaiting = 10_000

/** Buckets in Redis. While it does not answer, calls are served and counted by this process alone. */
export async function openRedisBuckets({ url, timeoutMs, alone, observe }: Options): Promise<SharedBuckets> {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: maxWaiting,
    socket: { connectTimeout: 5_000, reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, maxReconnectMs) },
  })
  let lost = false
  let probeAt = 0
  let answeredAt = performance.now()

  const lose = (error: unknown): void => {
    probeAt = performance.now() + probePauseMs
    if (!lost) observe({ kind: 'redis-lost', error })
    lost = true
  }
  const recover = (): void => {
    answeredAt = performance.now()
    if (lost) observe({ kind: 'redis-recovered' })
    lost = false
  }
  client.on('error', lose)
  client.on('ready', recover)
  const connected = client.connect().catch(lose)
  await within(firstConnectionMs, connected, () => undefined)

  const mayAsk = (): boolean => {
    if (!client.isReady) return false
    if (!lost) return true
    if (performance.now() < probeAt) return false
    probeAt = performance.now() + probePauseMs
    return true
  }

  /** Whenever it comes: late for its own call, an answer still tells how things stand. */
  const ask = async (keyId: string, policies: readonly Policy[]): Promise<Taken | undefined> => {
    try {
      const taken = await evaluate(client, keyId, policies)
      recover()
      alone.follow(keyId, policies, taken)
      return taken
    } catch (error) {
      lose(error)
      return undefined
    }
  }

  return {
    isShared: () => client.isReady && !lost,
    async take(keyId, policies) {
      if (!mayAsk()) return alone.take(keyId, policies)
      const taken = await within(timeoutMs, ask(keyId, policies), () => undefined)
      if (taken !== undefined) return taken
      if (performance.now() - answeredAt > lostAfterMs) lose(new Error('Redis does not answer.'))
      return alone.take(keyId, policies)
    },
    close: async () => client.destroy(),
  }
}

async function evaluate(
  client: Pick<ReturnType<typeof createClient>, 'evalSha' | 'eval'>,
  keyId: string,
  policies: readonly Policy[],
): Promise<Taken> {
  const call = {
    // The braces keep the buckets of one key on one node of a cluster.
    keys: policies.map(({ name }) => `sluice:limit:{${keyId}}:${name}`),
    arguments: policies.flatMap((policy) =>
      policy.kind === 'day'
        ? ['day', String(policy.quota), '0']
        : ['rate', String(policy.burst), String(policy.spacingMicros)],
    ),
  }
  const reply = await client.evalSha(scriptHash, call).catch((error: unknown) => {
    if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return client.eval(script, call)
    throw error
  })
  const [nowMicros = 0, ...rest] = Array.isArray(reply) ? reply.map(Number) : []
  return {
    nowMicros,
    waits: rest.filter((_, at) => at % 2 === 0),
    states: rest.filter((_, at) => at % 2 === 1),
  }
}
