import { Agent, type Dispatcher } from 'undici'
import { setTimeout as wait } from 'node:timers/promises'
import type { Failure } from '../../failure.ts'
import { tableTooLarge, trinoAway, trinoFailure, type TrinoError } from './failures.ts'
import { readPage, type TrinoColumn, type TrinoPage } from './pages.ts'

export type TrinoClientOptions = {
  url: string
  user: string
  password?: string | undefined
  catalog: string
  /** Longest wait for the answer to one request. Trino holds each for a second at most. */
  timeoutMs: number
  /** Requests at once. */
  connections: number
}

export type TrinoStatement = {
  sql: string
  /** User to run it as; absent: the service itself. */
  user?: string
  schema?: string
  session?: Record<string, string>
  /** The statement that `EXECUTE`, `DESCRIBE INPUT` and `DESCRIBE OUTPUT` know as `s`. */
  prepared?: string
  /** Bytes that its workers may write; more ends it. */
  maxWrittenBytes?: number
  signal?: AbortSignal | undefined
}

export type TrinoResult = {
  /** Trino's name of the query, known before its first row. */
  id: string
  columns: TrinoColumn[]
  /** Rows as they come, a page at a time; the next page is asked for when this one was taken. Leaving ends the query. */
  pages: AsyncGenerator<unknown[][]>
}

export type TrinoClient = {
  run(statement: TrinoStatement): Promise<TrinoResult>
  /** All rows of something small. */
  rows(statement: TrinoStatement): Promise<unknown[][]>
  /** Whether the coordinator answers, and is ready to be asked. */
  isReached(): Promise<boolean>
  close(): Promise<void>
}

/** The name of a prepared statement. */
export const preparedName = 's'
/** Pages of about this size: what one reader holds of its result. */
const pageSize = '4MB'
/** No page is larger, whatever a server sends. */
const maxPageBytes = 134_217_728
const maxAttempts = 5
const pauseMs = 100
const cancelTimeoutMs = 5_000
/** Statuses of a coordinator that is busy for a moment; the protocol asks to come again. */
const busyStatuses = new Set([429, 502, 503, 504])

type Request = Omit<Dispatcher.RequestOptions, 'origin' | 'signal'> & { signal?: AbortSignal }

/** The client protocol of Trino: a statement is posted, and each answer names where the next one is. */
// Over 70 lines: the requests of one statement share its headers and its place.
export function openTrinoClient(options: TrinoClientOptions): TrinoClient {
  const { timeoutMs } = options
  const base = new URL(options.url)
  const agent = new Agent({
    connections: options.connections,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: Math.min(timeoutMs, 3_000) },
  })

  async function send(request: Request): Promise<string> {
    for (let attempt = 1; ; attempt += 1) {
      const { statusCode, body } = await agent.request({ origin: base.origin, ...request }).catch((error: unknown) => {
        request.signal?.throwIfAborted()
        throw trinoAway(error)
      })
      const text = await textOf(body).catch((error: unknown) => {
        request.signal?.throwIfAborted()
        throw trinoAway(error)
      })
      if (statusCode === 200 || statusCode === 204) return text
      if (statusCode === 400) throw unparsed(text) ?? trinoAway(new Error(`Trino answered 400: ${text.slice(0, 500)}`))
      const error = new Error(`Trino answered ${request.method} with ${statusCode}: ${text.slice(0, 500)}`)
      if (!busyStatuses.has(statusCode) || attempt === maxAttempts) throw trinoAway(error)
      await wait(pauseMs * attempt)
    }
  }

  /** Where an answer says to go on: on the server that was asked, whatever name it gives itself. */
  const placeOf = (uri: string): string => {
    const { pathname, search } = new URL(uri)
    const sized = new URLSearchParams(search)
    sized.set('targetResultSize', pageSize)
    return `${pathname}?${sized.toString()}`
  }

  async function start(
    statement: TrinoStatement,
  ): Promise<{ first: TrinoPage; go: (uri: string) => Promise<TrinoPage> }> {
    const headers = headersOf(options, statement)
    const signal = statement.signal
    const path = `${base.pathname.replace(/\/$/, '')}/v1/statement`
    const text = await send({ method: 'POST', path, headers, body: statement.sql, ...(signal && { signal }) })
    const { maxWrittenBytes } = statement
    return {
      first: checked(readPage(text)),
      go: async (uri) => {
        const page = await send({ method: 'GET', path: placeOf(uri), headers, ...(signal && { signal }) })
        return checked(readPage(page), maxWrittenBytes)
      },
    }
  }

  /** Told in a request of its own, which the signal that ended the statement does not end. */
  async function cancel(uri: string | undefined, user: string): Promise<void> {
    if (uri === undefined) return
    const headers = headersOf(options, { sql: '', user })
    const signal = AbortSignal.timeout(cancelTimeoutMs)
    await send({ method: 'DELETE', path: placeOf(uri), headers, signal }).catch(() => undefined)
  }

  async function run(statement: TrinoStatement): Promise<TrinoResult> {
    const user = statement.user ?? options.user
    const { first, go } = await start(statement)
    let page = first
    const ending = async <Value>(work: () => Promise<Value>): Promise<Value> => {
      try {
        return await work()
      } catch (error) {
        await cancel(page.nextUri, user)
        throw error
      }
    }
    await ending(async () => {
      while (page.columns === undefined && page.nextUri !== undefined) page = await go(page.nextUri)
    })
    async function* pages(): AsyncGenerator<unknown[][]> {
      let isOver = false
      try {
        for (;;) {
          if (page.data !== undefined && page.data.length > 0) yield page.data
          if (page.nextUri === undefined) break
          page = await go(page.nextUri)
        }
        isOver = true
      } finally {
        if (!isOver) await cancel(page.nextUri, user)
      }
    }
    return { id: first.id, columns: page.columns ?? [], pages: pages() }
  }

  return {
    run,
    async rows(statement) {
      const { pages } = await run(statement)
      const rows: unknown[][] = []
      for await (const page of pages) rows.push(...page)
      return rows
    },
    async isReached() {
      try {
        const signal = AbortSignal.timeout(Math.min(timeoutMs, 2_000))
        const text = await send({ method: 'GET', path: '/v1/info', signal })
        return (JSON.parse(text) as { starting?: boolean }).starting === false
      } catch {
        return false
      }
    },
    close: () => agent.close(),
  }
}

function checked(page: TrinoPage & { error?: TrinoError }, maxWrittenBytes = Number.POSITIVE_INFINITY): TrinoPage {
  if (page.error !== undefined) throw trinoFailure(page.error)
  if ((page.stats?.physicalWrittenBytes ?? 0) > maxWrittenBytes) throw tableTooLarge(`${maxWrittenBytes} bytes`)
  return page
}

/** Trino parses a prepared statement with the headers of its request, and refuses the request where it cannot. */
function unparsed(text: string): Failure | undefined {
  const [, line, column, message] = /line (\d+):(\d+): ([^\n]+)/.exec(text) ?? []
  if (message === undefined) return undefined
  const errorLocation = { lineNumber: Number(line), columnNumber: Number(column) }
  return trinoFailure({ errorName: 'SYNTAX_ERROR', errorType: 'USER_ERROR', message, errorLocation })
}

async function textOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const parts: Buffer[] = []
  let sizeBytes = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    sizeBytes += part.length
    if (sizeBytes > maxPageBytes) throw new Error(`a page is larger than ${maxPageBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function headersOf(options: TrinoClientOptions, statement: TrinoStatement): Record<string, string> {
  const { user, password, catalog } = options
  const session = Object.entries(statement.session ?? {})
  return {
    'content-type': 'text/plain; charset=utf-8',
    'x-trino-user': statement.user ?? user,
    'x-trino-source': 'sluice',
    'x-trino-catalog': catalog,
    'x-trino-time-zone': 'UTC',
    // Without it times lose their microseconds on the way.
    'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
    ...(statement.schema !== undefined && { 'x-trino-schema': statement.schema }),
    ...(session.length > 0 && {
      'x-trino-session': session.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join(','),
    }),
    ...(statement.prepared !== undefined && {
      'x-trino-prepared-statement': `${preparedName}=${encodeURIComponent(statement.prepared)}`,
    }),
    ...(password !== undefined && {
      authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
    }),
  }
}
