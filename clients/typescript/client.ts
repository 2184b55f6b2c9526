import { errorOf, type ErrorBody, type Unexpressed } from './errors.ts'
import { openTransport, type Transport, type TransportOptions } from './transport.ts'

/** What is deployed: `sluice types` writes one. Without it every name, parameter and column is allowed. */
export type Contract = { [query: string]: { parameters: object; row: object } }
type AnyContract = { [query: string]: { parameters: Record<string, unknown>; row: Record<string, unknown> } }

export type ClientOptions = Omit<TransportOptions, 'secret' | 'headers'> & {
  /** An API key, `slc_live_…` or `slc_test_…`. */
  key: string
  /** Questions need it, and so do calls whose key reaches several projects that have the query. */
  project?: string
  /** The key's only one, else `production`, unless given. */
  environment?: string
}

export type Column = { name: string; type: string }
type Source = { truncated_source: true; tables: Array<{ name: string; as_of: string | null; truncated: boolean }> }

export type Answer<Row> = {
  data: Row[]
  execution_time_ms: number
  row_count: number
  /** Whether rows beyond the limit were left out. */
  truncated: boolean
  version: number
  as_of: string | null
  meta?: Source | undefined
}

/** How the result of a query is drawn. */
export type Chart = {
  type: 'bar' | 'line' | 'area' | 'scatter' | 'pie'
  x: string
  y: string[]
  series: string | null
  stacked: boolean
}

export type QuestionAnswer<Row, Name extends string = string> = Answer<Row> & {
  query_used: Name
  /** Exactly what was bound. */
  parameters: Record<string, unknown>
  /** From 0 to 1; null where the caller named the query. */
  confidence: number | null
  /** Values that the question names and the answer does not heed. */
  unused?: string[] | undefined
  unexpressed?: Unexpressed[] | undefined
  /** As the author of the query draws it; left out: as its columns and rows suggest. */
  chart?: Chart | undefined
  follows?: { request_id: string; changed: string[] | null } | undefined
  /** With `explain`: why this query and these parameters. */
  routing?: object | undefined
}

export type StreamStart = {
  query_used: string
  version: number
  parameters: Record<string, unknown>
  columns: Column[]
  as_of: string | null
}
export type StreamEnd = { row_count: number; truncated: boolean; execution_time_ms: number }

/** Rows one by one, streamed. `start` and `end` describe the whole answer; `end` is there once all rows are read. */
export type RowStream<Row> = AsyncIterable<Row> & { start: Promise<StreamStart>; end: Promise<StreamEnd> }

export type CallOptions = { signal?: AbortSignal }
export type AskOptions = CallOptions & {
  /** Values that stand whatever the question says. */
  parameters?: Record<string, unknown>
  /** The query that is meant, where several could answer. */
  query_name?: string
  time_zone?: string
  /** Refuse also what is only likely to be left out. */
  strict?: boolean
  /** Answer also what leaves something out. */
  partial?: boolean
  explain?: boolean
  /** The request id of the answer that this question follows. */
  follows?: string
}

type NameOf<C extends Contract> = keyof C & string
/** An answer to a question tells its query, and that tells its columns. */
type AnyAnswer<C extends Contract> = { [Name in NameOf<C>]: QuestionAnswer<C[Name]['row'], Name> }[NameOf<C>]
type Parameters<C extends Contract, Name extends NameOf<C>> =
  Record<string, never> extends C[Name]['parameters']
    ? [parameters?: C[Name]['parameters'], options?: CallOptions]
    : [parameters: C[Name]['parameters'], options?: CallOptions]

export type Client<C extends Contract = AnyContract> = {
  /** Calls a deployed query. */
  call<Name extends NameOf<C>>(name: Name, ...given: Parameters<C, Name>): Promise<Answer<C[Name]['row']>>
  /** Calls a deployed query and streams its rows, however many there are. */
  rows<Name extends NameOf<C>>(name: Name, ...given: Parameters<C, Name>): RowStream<C[Name]['row']>
  /** Asks a question. Rejects with `QuestionRefused` where no query answers it as it was asked. */
  ask(question: string, options?: AskOptions): Promise<AnyAnswer<C>>
  askRows(question: string, options?: AskOptions): RowStream<C[NameOf<C>]['row']>
  /** The answer as bytes: `csv`, `ndjson`, `parquet`, `arrow` or `xlsx`. */
  download<Name extends NameOf<C>>(
    name: Name,
    format: 'csv' | 'ndjson' | 'parquet' | 'arrow' | 'xlsx',
    ...given: Parameters<C, Name>
  ): Promise<Response>
}

const accepted = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}

/**
 * A client of the query endpoints. It refuses a live key in a browser, where every visitor could read and use it: call
 * from your own server, or use a key of a test environment.
 */
export function createClient<C extends Contract = AnyContract>(options: ClientOptions): Client<C> {
  const { key, project, environment, ...rest } = options
  refuseExposedKey(key)
  const transport = openTransport({
    ...rest,
    secret: key,
    headers: {
      ...(project !== undefined && { 'x-sluice-project': project }),
      ...(environment !== undefined && { 'x-sluice-environment': environment }),
    },
  })
  const queryPath = (name: string): string => `/v1/queries/${encodeURIComponent(name)}`
  const post = (body: unknown, { signal }: CallOptions = {}) => ({
    method: 'POST',
    body,
    signal,
    // A call of a query changes nothing.
    repeatable: true,
  })
  const question = (text: string, options: AskOptions): object => {
    const { signal: _, ...asked } = options
    if (project === undefined) throw new TypeError('A question needs the project: createClient({ project })')
    return { query: text, project_id: project, ...asked }
  }
  return {
    call: (name, ...[parameters = {}, given]) => transport.json(queryPath(name), post(parameters, given)),
    rows: (name, ...[parameters = {}, given]) => streamRows(transport, queryPath(name), post(parameters, given)),
    // Not before it is waited for: a question without a project rejects like any other that cannot be asked.
    ask: async (text, given = {}) => transport.json('/v1/query', post(question(text, given), given)),
    askRows: (text, given = {}) =>
      streamRows(transport, '/v1/query', post({ ...question(text, given), stream: true }, given)),
    download: (name, format, ...[parameters = {}, given]) =>
      transport.response(queryPath(name), { ...post(parameters, given), headers: { accept: accepted[format] } }),
  }
}

function refuseExposedKey(key: string): void {
  const global = globalThis as { document?: unknown; WorkerGlobalScope?: unknown }
  const isBrowser = global.document !== undefined || global.WorkerGlobalScope !== undefined
  if (!/^slc_(live|test)_/.test(key)) {
    throw new TypeError('Calls need an API key: slc_live_… or slc_test_…')
  }
  if (isBrowser && key.startsWith('slc_live_')) {
    throw new TypeError(
      'A live key must not be in a web page: every visitor could read it. Call from your own server, or use a test key.',
    )
  }
}

type Promised<Value> = { promise: Promise<Value>; resolve: (value: Value) => void; reject: (error: unknown) => void }

/** Nobody need wait for it: a stream that fails tells who iterates. */
function promised<Value>(): Promised<Value> {
  let resolve: Promised<Value>['resolve'] = () => undefined
  let reject: Promised<Value>['reject'] = () => undefined
  const promise = new Promise<Value>((yes, no) => ([resolve, reject] = [yes, no]))
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}

function streamRows<Row>(
  transport: Transport,
  path: string,
  sending: { method: string; body: unknown; signal: AbortSignal | undefined; repeatable: boolean },
): RowStream<Row> {
  const start = promised<StreamStart>()
  const end = promised<StreamEnd>()
  async function* iterate(): AsyncGenerator<Row> {
    let isDone = false
    try {
      for await (const { event, data } of transport.events(path, sending)) {
        if (event === 'meta') start.resolve(data as StreamStart)
        else if (event === 'rows') yield* (data as { rows: Row[] }).rows
        else if (event === 'error') throw errorOf(0, data as ErrorBody)
        else if (event === 'done') {
          isDone = true
          end.resolve(data as StreamEnd)
        }
      }
      // A part of the rows is never taken for all of them.
      if (!isDone) throw errorOf(0, { error: 'broken_answer', message: 'The stream ended before its last row.' })
    } catch (error) {
      start.reject(error)
      end.reject(error)
      throw error
    } finally {
      const stopped = new Error('The stream was not read to its end.')
      start.reject(stopped)
      end.reject(stopped)
    }
  }
  let rows: AsyncGenerator<Row> | undefined
  return {
    // Once: the rows of an answer come once.
    [Symbol.asyncIterator]: () => (rows ??= iterate()),
    start: start.promise,
    end: end.promise,
  }
}
