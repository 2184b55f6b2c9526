import { openTransport, SluiceError, type Sending, type Transport } from '../../clients/typescript/index.ts'
import { CommandFailure, type ExitName } from '../terminal/exit.ts'

/** The management API, as anyone calls it. */
export type Manage = {
  url: string
  get<Answer>(path: string, query?: Query): Promise<Answer>
  send<Answer>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Answer>
  /** Every entry of a list, page by page, up to `most`. */
  list<Item>(path: string, query?: Query, most?: number): Promise<Item[]>
  events(path: string, query?: Query, signal?: AbortSignal): ReturnType<Transport['events']>
}

export type Query = Record<string, string | number | boolean | undefined>

const pageItems = 200

export function openManage(url: string, token: string, timeoutMs = 300_000): Manage {
  const transport = openTransport({ url, secret: token, timeoutMs })
  const json = async <Answer>(path: string, sending?: Sending): Promise<Answer> => {
    try {
      return await transport.json<Answer>(path, sending)
    } catch (error) {
      throw failureOf(error)
    }
  }
  const get = <Answer>(path: string, query: Query = {}): Promise<Answer> => json<Answer>(withQuery(path, query))
  return {
    url,
    get,
    send: (method, path, body) => json(path, { method, ...(body !== undefined && { body }) }),
    async list<Item>(path: string, query: Query = {}, most = Number.POSITIVE_INFINITY) {
      const all: Item[] = []
      let cursor: string | undefined
      do {
        const limit = Math.min(pageItems, most - all.length)
        const page: { data: Item[]; next_cursor: string | null } = await get(path, { ...query, limit, cursor })
        all.push(...page.data)
        cursor = page.next_cursor ?? undefined
      } while (cursor !== undefined && all.length < most)
      return all
    },
    async *events(path, query = {}, signal) {
      try {
        yield* transport.events(withQuery(path, query), { signal })
      } catch (error) {
        throw signal?.aborted === true ? error : failureOf(error)
      }
    },
  }
}

export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  if (given.length === 0) return path
  const words = given.map(([name, value]): [string, string] => [name, String(value)])
  return `${path}?${new URLSearchParams(words).toString()}`
}

/** A refusal of the service, as the end of the command: with the exit code that scripts can tell apart. */
export function failureOf(error: unknown): unknown {
  if (!(error instanceof SluiceError)) return error
  const { status, code, message, details, more, requestId } = error
  const lines = [message, ...details.map((each) => `  ${each.field}: ${each.message}`)]
  if (more > 0) lines.push(`  and ${more} more`)
  const hint = hints[code]
  return new CommandFailure(exitOf(status, code), lines.join('\n'), {
    ...(hint !== undefined && { hint }),
    fields: { ...error.body, ...(requestId !== undefined && { request_id: requestId }) },
    cause: error,
  })
}

function exitOf(status: number, code: string): ExitName {
  if (code === 'unreachable' || code === 'timeout') return 'unreachable'
  if (status === 401 || status === 403) return 'credentials'
  if (status === 409) return 'refused'
  return status === 422 ? 'negative' : 'failed'
}

const hints: Partial<Record<string, string>> = {
  unreachable: 'Is the service running there? `sluice start` starts one here; --url and SLUICE_URL say where it is.',
  authentication_failed: 'Set SLUICE_TOKEN to a management token, or run `sluice login`.',
  permission_denied: 'The token does not reach this project, or its role is too small.',
}
