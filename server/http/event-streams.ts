import type { FastifyReply } from 'fastify'
import { PassThrough } from 'node:stream'
import { Failure } from '../failure.ts'
import type { Http } from './http.ts'

type Sender = {
  send: (event: string, data: unknown) => void
  end: () => void
}

export type EventStreams = {
  /** `subscribe` is given a sender and answers how to unsubscribe. */
  answer(reply: FastifyReply, subscribe: (sender: Sender) => Promise<() => void>): Promise<FastifyReply>
}

/** Proxies end connections that are silent for longer. */
const pingMs = 15_000
/** After this the client connects again, and what it may see is checked again. */
const longestMs = 900_000
/** A client that reads more slowly than events come is let go rather than kept in memory. */
const mostWaitingBytes = 1_048_576

/** Server-sent events: a bounded number of streams, all of which end as soon as the server begins to close. */
export function openEventStreams(http: Http, most: number): EventStreams {
  const streams = new Set<PassThrough>()
  http.addHook('preClose', async () => {
    for (const stream of streams) stream.end()
  })
  return {
    async answer(reply, subscribe) {
      if (streams.size >= most) {
        throw new Failure('overloaded', { message: 'Too many event streams are open.', retryAfterSeconds: 5 })
      }
      const stream = new PassThrough()
      streams.add(stream)
      const write = (text: string) => {
        if (stream.writableEnded || stream.destroyed) return
        if (stream.writableLength > mostWaitingBytes) stream.destroy()
        else stream.write(text)
      }
      const end = () => void stream.end()
      const timers = [setInterval(() => write(': ping\n\n'), pingMs), setTimeout(end, longestMs)]
      let unsubscribe = () => {}
      // A stream that ends by itself closes when its last byte is read; one whose client left closes at once.
      stream.once('close', () => {
        for (const timer of timers) clearInterval(timer)
        streams.delete(stream)
        unsubscribe()
      })
      write('retry: 1000\n\n')
      try {
        unsubscribe = await subscribe({
          send: (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
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
