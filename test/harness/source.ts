import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expectStatus, openTestApp, type Answer, type Client, type TestApp, type TestOptions } from './app.ts'

/** An external API whose answers a test sets as it goes. */
export type Source = {
  url: string
  host: string
  /** Requests so far, as they came. */
  requests: Array<{ method: string; url: string; headers: IncomingMessage['headers'] }>
  answer(body: unknown, headers?: Record<string, string>, status?: number): void
  handle(handler: (request: IncomingMessage, response: ServerResponse) => void): void
  /** From now on takes calls and answers none of them until it is told to. */
  hold(): Held
  close(): Promise<void>
}

/** Calls that wait for their answer. */
export type Held = {
  asked: () => number
  /** How many of them were given up by their caller. */
  dropped: () => number
  letGo: (body: unknown) => void
}

export async function openSource(): Promise<Source> {
  let handler: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => response.end('[]')
  const requests: Source['requests'] = []
  const server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers })
    handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `http://${host}/data`,
    host,
    requests,
    handle: (next) => void (handler = next),
    answer(body, headers = { 'content-type': 'application/json' }, status = 200) {
      const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
      handler = (_request, response) => void response.writeHead(status, headers).end(text)
    },
    hold() {
      const waiting: ServerResponse[] = []
      handler = (_request, response) => void waiting.push(response)
      return {
        asked: () => waiting.length,
        dropped: () => waiting.filter(({ closed, writableFinished }) => closed && !writableFinished).length,
        letGo(body) {
          for (const response of waiting) {
            response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
          }
        },
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** An app that may call one external API; both are closed with it. */
export async function openAppWithSource(
  environment: Record<string, string> = {},
  options: TestOptions = {},
): Promise<{ t: TestApp; source: Source }> {
  const source = await openSource()
  const t = await openTestApp({ SLUICE_OUTBOUND_ALLOW: source.host, ...environment }, options)
  const close = async (): Promise<void> => {
    await t.close()
    await source.close()
  }
  return { t: { ...t, close }, source }
}

/** Executes a request for a datasource, as the specification says. */
export function execute(
  client: Client,
  input: { projectId: string; datasourceId: string; url: string; config?: Record<string, unknown>; name?: string },
  headers: Record<string, string> = {},
): Promise<Answer> {
  const { projectId, datasourceId, url, config = {}, name = datasourceId } = input
  return client.post(
    '/v1/http/execute-request',
    {
      project_id: projectId,
      datasource_id: datasourceId,
      connect_spec: { name, id: 'http_api', config: { url, method: 'GET', ...config } },
      url,
      method: 'GET',
    },
    headers,
  )
}

/** Executes and gives the rows that can be read afterwards. */
export async function rowsOf(client: Client, projectId: string, objectId: string): Promise<unknown[]> {
  const path = `/v1/projects/${projectId}/data-objects/${objectId}/rows?limit=1000`
  return (await expectStatus(200, client.get(path))).body.data
}
