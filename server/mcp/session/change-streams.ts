import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import { permittedQueries, type KeyCaller } from '../../access/index.ts'
import { Failure } from '../../failure.ts'
import type { Deployments, EnvironmentPlace } from '../../queries/index.ts'
import type { McpConnection } from './connection.ts'

/** Clients that wait to hear of releases: a bounded number, and of each key among them. */
export type ChangeStreams = {
  /** Throws where there is no room for another one of this key. */
  requireRoom(caller: KeyCaller): void
  /** What one client hears: changes to what it sees, as long as its key is good. `end` is how its stream is ended. */
  busFor(listener: Listener): ServerEventBus
  endAll(): void
}

type Listener = {
  connection: McpConnection
  isStillGood: () => boolean
  end: () => void
}

/** A release of fifty queries is one change to a client. */
const settleMs = 100
/** How long a key that is no longer good may still be listened with, when nothing changes. */
const checkMs = 15_000
/** After this the client subscribes again. */
const maxMs = 900_000

export function openChangeStreams(
  app: { deployments: Deployments },
  { most, each }: { most: number; each: () => number },
): ChangeStreams {
  const ends = new Set<() => void>()
  const held = new Map<string, number>()

  const hold = (keyId: string): (() => void) => {
    held.set(keyId, (held.get(keyId) ?? 0) + 1)
    return () => {
      const left = (held.get(keyId) ?? 1) - 1
      if (left === 0) held.delete(keyId)
      else held.set(keyId, left)
    }
  }

  return {
    requireRoom({ key }) {
      const maxEach = each()
      if ((held.get(key.id) ?? 0) >= maxEach) {
        const message = `This API key has ${maxEach} subscriptions open. Close one first.`
        throw new Failure('rate_limit_exceeded', { message, retryAfterSeconds: 5 })
      }
      if (ends.size >= most) {
        throw new Failure('overloaded', { message: 'Too many subscriptions are open.', retryAfterSeconds: 5 })
      }
    },
    busFor: ({ connection, isStillGood, end }) => ({
      // Everything that is said comes from the deployments.
      publish: () => undefined,
      subscribe(listener) {
        const leave = hold(connection.caller.key.id)
        let settling: NodeJS.Timeout | undefined
        const tell = (): void => {
          settling = undefined
          if (!isStillGood()) return end()
          for (const kind of changed) listener({ kind })
        }
        const stop = app.deployments.onChange((place) => {
          if (place !== null && !sees(connection, place)) return
          settling ??= setTimeout(tell, settleMs)
        })
        const checks = setInterval(() => isStillGood() || end(), checkMs)
        const life = setTimeout(end, maxMs)
        ends.add(end)
        let isOpen = true
        return () => {
          if (!isOpen) return
          isOpen = false
          ends.delete(end)
          leave()
          stop()
          for (const timer of [settling, checks, life]) clearTimeout(timer)
        }
      },
    }),
    endAll() {
      for (const end of ends) end()
    },
  }
}

const changed: Array<Extract<ServerEvent['kind'], `${string}_list_changed`>> = [
  'tools_list_changed',
  'resources_list_changed',
]

/** Whether a release there may change what the client can call. */
function sees({ caller, projectId, environment }: McpConnection, place: EnvironmentPlace): boolean {
  if (place.environment !== environment || (projectId ?? place.projectId) !== place.projectId) return false
  const names = permittedQueries(caller.key.permissions, place)
  return names === null || names.length > 0
}

/**
 * The stream of clients of the protocols before 2026, which listen by GET and are told everything: the same changes, as
 * notifications that belong to no request.
 */
export function notificationStream(bus: ServerEventBus, onEnd: (end: () => void) => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let leave = (): void => undefined
  return new ReadableStream({
    start(controller) {
      const write = (text: string): void => controller.enqueue(encoder.encode(text))
      const unsubscribe = bus.subscribe(({ kind }) => {
        const method = `notifications/${kind.replace('_list_changed', '/list_changed')}`
        write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method })}\n\n`)
      })
      const pings = setInterval(() => write(': ping\n\n'), checkMs)
      leave = () => {
        clearInterval(pings)
        unsubscribe()
      }
      onEnd(() => {
        leave()
        controller.close()
      })
      // Whoever waits for the first byte knows that it is listening.
      write(': listening\n\n')
    },
    cancel: () => leave(),
  })
}
