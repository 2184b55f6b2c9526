import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'
import { within } from '../../flow/index.ts'
import type { Observe } from '../../observe.ts'
import { isConnectionError } from './store-failure.ts'

type Listener = {
  onNotify: (payload: string) => void
  /** After a gap in which notifications were missed. */
  onReconnect: () => void
}

/** One connection kept for as long as the app runs: it holds the data folder's lock and hears notifications. */
export type StoreSession = {
  /** Whether the connection is up and the folder ours. */
  isHeld(): boolean
  listen(channel: string, listener: Listener): Promise<() => void>
  /** From now on the end of the connection is expected, and nothing starts the server again. */
  leave(): Promise<void>
  close(): Promise<void>
}

type Options = {
  /** Makes sure that the server runs. */
  ensure: (signal: AbortSignal) => Promise<void>
  connect: () => Promise<Client>
  /** Tells one data folder from another. */
  folderId: string
  dataDir: string
  observe: Observe
}

/** The backend of a process that was killed needs a moment to notice. */
const lockRetryMs = 2_000
const maxPauseMs = 2_000
const leaveLimitMs = 5_000

/**
 * Opens the session and keeps it: when the connection is lost, for whatever reason, the server is made to run again
 * (an adopted one is no child of ours, so its connection is the only sign), the lock taken and the channels heard.
 */
// Over 70 lines: connecting again, leaving and asking share the one connection.
export async function openStoreSession({
  ensure,
  connect,
  folderId,
  dataDir,
  observe,
}: Options): Promise<StoreSession> {
  const channels = new Map<string, Set<Listener>>()
  const leaving = new AbortController()
  let client: Client | undefined
  let reopening: Promise<void> | undefined
  /** Statements on one connection take turns. */
  let turn: Promise<unknown> = Promise.resolve()

  const open = async () => {
    await ensure(leaving.signal)
    const fresh = await connect()
    try {
      await takeLock(fresh, folderId, dataDir)
      for (const channel of channels.keys()) await fresh.query(`listen ${fresh.escapeIdentifier(channel)}`)
      leaving.signal.throwIfAborted()
    } catch (error) {
      await fresh.end().catch(() => undefined)
      throw error
    }
    fresh.on('notification', ({ channel, payload }) => {
      for (const { onNotify } of channels.get(channel) ?? []) guard(observe, () => onNotify(payload ?? ''))
    })
    fresh.once('end', () => {
      client = undefined
      if (!leaving.signal.aborted) reopening = reopen()
    })
    client = fresh
  }

  const reopen = async () => {
    observe({ kind: 'database-lost', error: new Error('The connection to the database was lost.') })
    for (let pauseMs = 25; !leaving.signal.aborted; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      try {
        await open()
        return announce()
      } catch (error) {
        if (leaving.signal.aborted) return
        observe({ kind: 'fault', where: 'store', error })
        await wait(pauseMs)
      }
    }
  }

  const announce = () => {
    observe({ kind: 'database-recovered' })
    for (const listeners of channels.values())
      for (const { onReconnect } of listeners) guard(observe, () => onReconnect())
  }

  /** A connection that is away, or fails at this, is opened again, and then hears every channel in the map. */
  const say = (verb: 'listen' | 'unlisten', channel: string) => {
    const speak = () => client?.query(`${verb} ${client.escapeIdentifier(channel)}`)
    turn = turn.then(speak).catch(() => void client?.end())
    return turn
  }

  await openPatiently(open)
  return {
    isHeld: () => client !== undefined,
    listen: async (channel, listener) => {
      const listeners = channels.get(channel) ?? new Set()
      channels.set(channel, listeners.add(listener))
      await say('listen', channel)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0 || channels.get(channel) !== listeners) return
        channels.delete(channel)
        void say('unlisten', channel)
      }
    },
    leave: async () => {
      leaving.abort()
      await within(leaveLimitMs, reopening ?? Promise.resolve(), () => undefined)
    },
    close: async () => {
      leaving.abort()
      await client?.end().catch(() => undefined)
    },
  }
}

/** A server that is about to be stopped by the process before us can go away between two of our steps. */
async function openPatiently(open: () => Promise<void>): Promise<void> {
  for (let triesLeft = 3; ; triesLeft -= 1) {
    try {
      return await open()
    } catch (error) {
      if (triesLeft === 0 || !isConnectionError(error)) throw error
    }
  }
}

async function takeLock(client: Client, folderId: string, dataDir: string): Promise<void> {
  const key = BigInt.asIntN(64, BigInt(`0x${folderId}`)).toString()
  const deadline = performance.now() + lockRetryMs
  for (;;) {
    const answer = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1::bigint) as taken', [key])
    if (answer.rows[0]?.taken === true) return
    if (performance.now() > deadline) break
    await wait(50)
  }
  const holders = await client.query<{ name: string }>(
    `select a.application_name as name from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.database = a.datid
        and ((l.classid::bigint << 32) | l.objid::bigint) = $1::bigint`,
    [key],
  )
  throw new Error(`The data folder ${dataDir} is in use by ${holders.rows[0]?.name ?? 'another process'}.`)
}

function guard(observe: Observe, call: () => void): void {
  try {
    call()
  } catch (error) {
    observe({ kind: 'fault', where: 'store', error })
  }
}
