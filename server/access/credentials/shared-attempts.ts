import { createHash, randomUUID } from 'node:crypto'
import type { Database } from '../../store/index.ts'
import { openAttempts, type Attempts } from './attempts.ts'

type SharedAttempts<Name extends string> = { attempts: Record<Name, Attempts>; close(): void }

/** Message between processes: its sender, and how often each key failed. */
type Message = { from: string; failures: Array<[name: string, key: string, count: number]> }

const channel = 'attempts_failed'
/** Failures of one moment are told together: a flood of them is a few notifications a second. */
const publishMs = 100
/** A notification holds 8000 bytes; a failure takes less than 70. */
const maxReported = 100

/**
 * Attempts that every process on the database counts: each decides by itself, at once, and tells the others of failures,
 * which they count as their own a moment later. Those that are not heard, while the database is away, count here alone.
 */
export async function openSharedAttempts<Name extends string>(
  store: Database,
  perMinute: Record<Name, number>,
  now: () => number,
): Promise<SharedAttempts<Name>> {
  const self = randomUUID()
  const names = Object.keys(perMinute) as Name[]
  const counted = new Map<string, Attempts>(names.map((name) => [name, openAttempts(perMinute[name], now)]))
  const unreported = new Map<string, Message['failures'][number]>()
  let publishing: NodeJS.Timeout | undefined

  const stop = await store.listen(channel, (payload) => {
    const { from, failures } = JSON.parse(payload) as Message
    if (from === self) return
    for (const [name, key, count] of failures) {
      for (let times = 0; times < count; times += 1) counted.get(name)?.recordFailure(key)
    }
  })

  const publish = (): void => {
    publishing = undefined
    const failures = [...unreported.values()]
    unreported.clear()
    for (let at = 0; at < failures.length; at += maxReported) {
      const message: Message = { from: self, failures: failures.slice(at, at + maxReported) }
      void store.notify(store.db, channel, JSON.stringify(message)).catch(() => undefined)
    }
  }

  const note = (name: string, key: string): void => {
    const known = unreported.get(`${name} ${key}`)
    if (known === undefined) unreported.set(`${name} ${key}`, [name, key, 1])
    else known[2] += 1
    publishing ??= setTimeout(publish, publishMs).unref()
  }

  const shared = (name: Name): Attempts => ({
    waitSeconds: (key) => counted.get(name)?.waitSeconds(shortOf(key)) ?? 0,
    recordFailure(key) {
      counted.get(name)?.recordFailure(shortOf(key))
      note(name, shortOf(key))
    },
  })
  return {
    attempts: Object.fromEntries(names.map((name) => [name, shared(name)])) as Record<Name, Attempts>,
    close() {
      clearTimeout(publishing)
      stop()
    },
  }
}

/** A name of fixed length that holds no address or e-mail. */
function shortOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 22)
}
