import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { openUpstream, type Upstream } from './upstream.ts'

export type Received = { path: string; headers: Record<string, string>; body: string }

export type Receiver = Upstream & {
  received: Received[]
  /** What `/hook` answers from now on. */
  answer(status: number): void
}

/** A receiver of webhooks: `/hook` and `/slack` take everything, the other routes have the manners of their names. */
export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let status = 204
  const take: Parameters<typeof openUpstream>[0] = {
    '/hook': async (request, response) => {
      const body = (await buffer(request)).toString()
      received.push({ path: '/hook', headers: request.headers as Record<string, string>, body })
      response.writeHead(status).end()
    },
    '/slack': async (request, response) => {
      const body = (await buffer(request)).toString()
      received.push({ path: '/slack', headers: request.headers as Record<string, string>, body })
      response.writeHead(200).end('ok')
    },
  }
  const upstream = await openUpstream(take)
  return { ...upstream, received, answer: (next) => void (status = next) }
}

export type MailServer = { url: string; mails: string[]; close(): Promise<void> }

/** A real mail server on loopback that keeps what it takes. */
export async function openMailServer(): Promise<MailServer> {
  const mails: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    // There is nobody to ask, and the greeting would wait for the answer.
    disableReverseLookup: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      const pieces: Buffer[] = []
      stream.on('data', (piece: Buffer) => pieces.push(piece))
      stream.on('end', () => {
        mails.push(Buffer.concat(pieces).toString())
        done()
      })
    },
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve())
  })
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
      }),
  }
}
