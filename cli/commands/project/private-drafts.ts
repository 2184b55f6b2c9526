import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { z } from 'zod'
import type { DefinedQuery } from '../../../api/definition.ts'
import type { previewAnswer } from '../../../api/queries.ts'
import type { Context } from '../../context/context.ts'
import { readDefinition, readFiles } from '../../context/files.ts'
import { messageInFile } from '../../project/index.ts'
import type { Manage } from '../../service/manage.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { countText } from '../../terminal/texts.ts'
import { typedValues } from '../call/values.ts'

type Answer = z.output<typeof previewAnswer>
type Drafts = { manage: Manage; path: string; queries: DefinedQuery[] }

const bodyBytes = 1_048_576
const loopback = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/

/**
 * Queries as the files have them, run by the service and answered here: nothing is saved or deployed, so nobody else
 * sees them. `reload` reads the files again and says which queries do not run.
 */
export async function servePrivately(
  context: Context,
  port: number,
): Promise<{ reload(): Promise<void>; address: string; close(): void }> {
  const drafts: Drafts = {
    manage: await context.manage(),
    path: `/v1/projects/${await context.projectId()}/queries`,
    queries: [],
  }
  // Loaded here: it brings a second HTTP client, which is a third of a start.
  const { createServer } = await import('node:http')
  const server = createServer((request, response) => {
    void answer(drafts, request)
      .catch((error: unknown) => refusal(error))
      .then((answered) => write(response, answered))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: unknown) => {
    throw new CommandFailure('usage', `Port ${port} cannot be opened.`, { hint: '--port takes another.', cause: error })
  })
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async reload() {
      const seen = new Map(drafts.queries.map((query) => [query.name, JSON.stringify(query)]))
      drafts.queries = (await readDefinition(context)).definition.queries ?? []
      const changed = drafts.queries.filter((query) => seen.get(query.name) !== JSON.stringify(query))
      for (const query of changed) await check(context, drafts, query)
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function check(context: Context, { manage, path }: Drafts, { name, sql, slots }: DefinedQuery): Promise<void> {
  const { json, print, style } = context
  try {
    const body = { sql, ...(slots !== undefined && { slots }) }
    const { columns } = await manage.send<{ columns: unknown[] }>('POST', `${path}/inspect`, body)
    if (json) process.stdout.write(`${JSON.stringify({ query: name, columns: columns.length })}\n`)
    else print(`${style.good('✓')} ${name}${style.dim(`  ${countText(columns.length, 'column')}`)}`)
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.exit === 'credentials') throw error
    const message = messageInFile(await readFiles(context.folder), name, error.message)
    if (json) process.stderr.write(`${JSON.stringify({ query: name, message })}\n`)
    else context.note(`${context.noteStyle.bad('✗')} ${message}`)
  }
}

type Answered = { status: number; body: unknown }

/** `GET` with values in the address or `POST` with them in the body, as at the service. */
async function answer({ manage, path, queries }: Drafts, request: IncomingMessage): Promise<Answered> {
  const { host = '', origin } = request.headers
  // A page of another site may reach this port by a name of its own.
  if (!loopback.test(host) || (origin !== undefined && !loopback.test(URL.parse(origin)?.host ?? '')))
    return refused(403, 'permission_denied', 'Only programs of this machine are answered.')
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
  const named = /^\/v1\/queries\/([a-z0-9_]+)$/.exec(pathname)?.[1]
  const query = queries.find(({ name }) => name === named)
  if (query === undefined) {
    const there = queries.map(({ name }) => `/v1/queries/${name}`).join(', ')
    return refused(404, 'not_found', `There is: ${there === '' ? 'no query in the files' : there}.`)
  }
  const { sql, slots } = query
  const given =
    request.method === 'GET' ? typedValues([...searchParams], slots?.properties ?? {}) : await readBody(request)
  const body = { sql, parameters: given, ...(slots !== undefined && { slots }) }
  return { status: 200, body: await manage.send<Answer>('POST', `${path}/run`, body) }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > bodyBytes) throw new CommandFailure('failed', 'The body is longer than 1 MB.')
    parts.push(part)
  }
  const text = Buffer.concat(parts).toString()
  return text === '' ? {} : (JSON.parse(text) as unknown)
}

function refusal(error: unknown): Answered {
  if (error instanceof CommandFailure) {
    return { status: 400, body: { error: 'invalid_request', message: error.message, ...error.fields } }
  }
  return refused(400, 'invalid_request', error instanceof Error ? error.message : String(error))
}

function refused(status: number, error: string, message: string): Answered {
  return { status, body: { error, message } }
}

function write(response: ServerResponse, { status, body }: Answered): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  response.end(`${JSON.stringify(body)}\n`)
}
