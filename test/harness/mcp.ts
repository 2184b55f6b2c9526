import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const info = { name: 'test', version: '1' }

type Options = ClientOptions & { headers?: Record<string, string>; search?: string }

/** A client of the protocol of 2026. */
export async function connectMcp(
  origin: string,
  secret: string,
  { headers = {}, search = '', ...options }: Options = {},
): Promise<Client> {
  const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } }, ...options })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`/mcp${search}`, origin), {
      requestInit: { headers: { authorization: `Bearer ${secret}`, ...headers } },
    }),
  )
  return client
}

/** A client of the protocols before it, by the SDK that most clients are built with. */
export async function connectOlderMcp(origin: string, secret: string): Promise<OlderClient> {
  const client = new OlderClient(info)
  const transport = new OlderTransport(new URL('/mcp', origin), {
    requestInit: { headers: { authorization: `Bearer ${secret}` } },
  })
  await client.connect(transport)
  return client
}
