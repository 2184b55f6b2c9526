import type { FastifyReply } from 'fastify'
import { PassThrough } from 'node:stream'
import type { App } from '../../app.ts'
import { personOf, type Caller } from '../../access/index.ts'
import { Failure } from '../../failure.ts'
import { checkedWrites } from './checked-writes.ts'
import type { Http } from '../request/http.ts'

type Sender = {
  send: (event: string, data: unknown) => void
  end: () => void
}

/** How a stream is filled, and whether its reader may still read it. */
export type Subscription = {
  caller: Caller
  /** Is given a sender and answers how to unsubscribe. */
  subscribe: (sender: Sender) => Promise<() => void>
  /** Throws once the reader's credential or role is gone. */
  stillMay: () => Promise<unknown>
}

export type EventStreams = {
  answer(reply: FastifyReply, subscription: Subscription): Promise<FastifyReply>
}

/** Proxies end connections that are silent for longer. */
const pingMs = 15_000
/** After this the client connects again. */
const maxMs = 900_000
/** A client that reads more slowly than events come is let go rather than kept in memory. */
const maxWaitingBytes = 1_048_576

/**
 * Server-sent events: a bounded number of streams, and of each person's among them; all of them end as soon as the
 * server begins to close.
 */
export function openEventStreams(
  http: Http,
  app: Pick<App, 'now'>,
  { most, each }: { most: number; each: () => number },
): EventStreams {
  const streams = new Set<PassThrough>()
  const held = new Map<string, number>()
  http.addHook('preClose', async () => {
    for (const stream of streams) stream.end()
  })
  return {
    async answer(reply, { caller, subscribe, stillMay }) {
      const holder = holderOf(caller)
      const ofHolder = held.get(holder) ?? 0
      const maxEach = each()
      if (ofHolder >= maxEach) {
        const message = `You have ${maxEach} event streams open. Close one first.`
        throw new Failure('rate_limit_exceeded', { message, retryAfterSeconds: 5 })
      }
      if (streams.size >= most) {
        throw new Failure('overloaded', { message: 'Too many event streams are open.', retryAfterSeconds: 5 })
      }
      const stream = new PassThrough()
      streams.add(stream)
      held.set(holder, ofHolder + 1)
      const write = (text: string) => {
        if (stream.writableEnded || stream.destroyed) return
        if (stream.writableLength > maxWaitingBytes) stream.destroy()
        else stream.write(text)
      }
      const end = () => void stream.end()
      const checked = checkedWrites({ write, stillMay, end, now: app.now, maxWaitingBytes })
      const timers = [setInterval(() => checked(': ping\n\n'), pingMs), setTimeout(end, maxMs)]
      let unsubscribe = () => {}
      // A stream that ends by itself closes when its last byte is read; one whose client left closes at once.
      stream.once('close', () => {
        for (const timer of timers) clearInterval(timer)
        streams.delete(stream)
        leave(held, holder)
        unsubscribe()
      })
      write('retry: 1000\n\n')
      try {
        unsubscribe = await subscribe({
          send: (event, data) => checked(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
          end,
        })
      } catch (error) {
        stream.destroy()
        throw error
      }
      if (stream.destroyed) unsubscribe()
      return (
        reply
          .type('text/event-stream; charset=utf-8')
          .header('cache-control', 'no-store')
          // The connection ends with the stream: kept alive, it would hold up a server that closes.
          .header('connection', 'close')
          // Nginx would collect events before it passes them on.
          .header('x-accel-buffering', 'no')
          .send(stream)
      )
    },
  }
}

/** A person's tokens count as the person: else one more token would be room for more streams. */
function holderOf(caller: Caller): string {
  return personOf(caller) ?? (caller.kind === 'token' ? caller.tokenId : caller.kind)
}

function leave(held: Map<string, number>, holder: string): void {
  const left = (held.get(holder) ?? 1) - 1
  if (left === 0) held.delete(holder)
  else held.set(holder, left)
}
