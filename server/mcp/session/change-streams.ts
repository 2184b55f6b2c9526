import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import { permittedQueries } from '../../access/index.ts'
import { Failure } from '../../failure.ts'
import { openGate } from '../../flow/index.ts'
import type { Place } from '../../ids.ts'
import type { Deployments } from '../../queries/index.ts'
import { holderOf, type McpConnection } from './connection.ts'

/** Clients that wait to hear of releases: so many of each key, and a fair share for each project and each person. */
export type ChangeStreams = {
  /** Throws where there is no room for another one of this key or its project. */
  requireRoom(connection: McpConnection): void
  /** Events for one client: changes to what it sees, as long as its key is good. `end` ends its stream. */
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
  const [projects, people] = [openGate({ room: most, isShared: true }), openGate({ room: most, isShared: true })]

  const hold = (connection: McpConnection): (() => void) => {
    const keyId = connection.caller.key.id
    held.set(keyId, (held.get(keyId) ?? 0) + 1)
    const { ofProject, ofPerson } = holders(connection)
    const leaves = [projects.hold(ofProject, 1), people.hold(ofPerson, 1)]
    return () => {
      for (const leave of leaves) leave()
      const left = (held.get(keyId) ?? 1) - 1
      if (left === 0) held.delete(keyId)
      else held.set(keyId, left)
    }
  }

  return {
    requireRoom(connection) {
      const keyId = connection.caller.key.id
      const maxEach = each()
      if ((held.get(keyId) ?? 0) >= maxEach) {
        const message = `This API key has ${maxEach} subscriptions open. Close one first.`
        throw new Failure('rate_limit_exceeded', { message, retryAfterSeconds: 5 })
      }
      const { ofProject, ofPerson } = holders(connection)
      requireShare(projects.tryEnter(ofProject), 'This project has')
      requireShare(people.tryEnter(ofPerson), 'The person who made this API key has')
    },
    busFor: ({ connection, isStillGood, end }) => ({
      // Everything that is said comes from the deployments.
      publish: () => undefined,
      subscribe(listener) {
        const leave = hold(connection)
        let settling: NodeJS.Timeout | undefined
        const announce = (): void => {
          settling = undefined
          if (!isStillGood()) return end()
          for (const kind of changed) listener({ kind })
        }
        const stop = app.deployments.onChange((place) => {
          if (place !== null && !sees(connection, place)) return
          settling ??= setTimeout(announce, settleMs)
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

/** The stream itself is counted from when it is open. */
function requireShare(leave: (() => void) | undefined, who: string): void {
  if (leave !== undefined) return leave()
  const message = `${who} a fair share of the subscriptions open. Close one first.`
  throw new Failure('overloaded', { message, retryAfterSeconds: 5 })
}

/** A person with many projects has one share; a project of many people has one, too. */
function holders(connection: McpConnection) {
  const { key } = connection.caller
  const project = holderOf(connection)
  return { ofProject: [project, key.id], ofPerson: [key.maker ?? project, project] } as const
}

const changed: Array<Extract<ServerEvent['kind'], `${string}_list_changed`>> = [
  'tools_list_changed',
  'resources_list_changed',
]

/** Whether a release there may change what the client can call. */
function sees({ caller, projectId, environment }: McpConnection, place: Place): boolean {
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
      // The first byte tells the client that the stream is open.
      write(': listening\n\n')
    },
    cancel: () => leave(),
  })
}
