import { SdkHttpError, StreamableHTTPClientTransport, type JSONRPCMessage } from '@modelcontextprotocol/client'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

type Service = {
  url: URL
  headers: Record<string, string>
  /** Messages for the person who reads the client's log; standard output is the protocol's. */
  note: (text: string) => void
}

/** JSON-RPC's code for what is wrong on the server's side, outside the protocol. */
const serverError = -32000

/**
 * Hands every message of a client on standard input to the service and everything back. It understands no more of them
 * than HTTP needs: which protocol was agreed on, and which call is cancelled. Ends when the client closes its side.
 */
export async function bridgeMcp({ url, headers, note }: Service): Promise<void> {
  const client = new StdioServerTransport()
  const service = new StreamableHTTPClientTransport(url, { requestInit: { headers } })
  /** Calls without an answer so far, each with how to hang up. */
  const open = new Map<string | number, AbortController>()

  const answer = (id: string | number, message: string): void => {
    if (!open.delete(id)) return
    note(message)
    void client.send({ jsonrpc: '2.0', id, error: { code: serverError, message } })
  }

  const forward = async (message: JSONRPCMessage): Promise<void> => {
    const id = 'method' in message && 'id' in message ? message.id : undefined
    const hangUp = new AbortController()
    if (id !== undefined) open.set(id, hangUp)
    const lost = (why: string): void => (id === undefined ? note(why) : answer(id, why))
    try {
      await service.send(message, {
        requestSignal: hangUp.signal,
        onRequestStreamEnd: () => lost(`${url.origin} ended the answer before it was complete.`),
      })
    } catch (error) {
      lost(reasonOf(error, url))
    }
  }

  service.onmessage = (message) => {
    if ('id' in message && message.id !== undefined && !('method' in message)) open.delete(message.id)
    const agreed = initialized.safeParse(message)
    if (agreed.success) service.setProtocolVersion(agreed.data.result.protocolVersion)
    void client.send(message)
  }
  // A failed message is reported where it is sent; this is a stream of changes that broke off.
  service.onerror = () => undefined
  client.onmessage = (message) => {
    const cancelled = cancellation.safeParse(message)
    void forward(message)
    if (!cancelled.success) return
    const { requestId } = cancelled.data.params
    open.get(requestId)?.abort()
    open.delete(requestId)
  }
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve
    process.stdin.once('end', resolve)
  })
  await service.start()
  await client.start()
  await closed
  await service.close()
  await client.close()
}

/** Only the answer to `initialize` has one. */
const initialized = z.object({ result: z.object({ protocolVersion: z.string(), serverInfo: z.object({}) }) })

const cancellation = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
})

/** The message of the service, else the reason why it could not be reached. */
function reasonOf(error: unknown, url: URL): string {
  if (error instanceof SdkHttpError) {
    const envelope = refusal.safeParse(parsed(error.data.text))
    const words = envelope.success
      ? (envelope.data.message ?? envelope.data.error)
      : (error.statusText ?? 'no more than that')
    return `${url.origin} answered ${error.status}: ${typeof words === 'string' ? words : words.message}`
  }
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return `${url.origin} cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`
}

/** The envelope of every refusal, or the one of JSON-RPC. */
const refusal = z.object({
  error: z.union([z.string(), z.object({ message: z.string() })]),
  message: z.string().optional(),
})

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return null
  }
}
