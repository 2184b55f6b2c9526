import { setTimeout as wait } from 'node:timers/promises'
import type { CatalogEntry } from '../../../api/catalog.ts'
import { failures, type FailureCode } from '../../../api/failures.ts'
import { Failure } from '../../failure.ts'

/**
 * A port: one operation of the API, called with the credential of the client. Roles, limits, gates and the audit log are
 * those of any other caller, and nothing comes back that the API would not give; null where that is megabytes.
 */
export type Perform = (operation: {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body?: unknown
}) => Promise<{ status: number; body: unknown } | null>

/** A port: the APIs that are ready to connect, by name. */
export type ReadCatalog = () => Promise<Array<{ name: string; entry: CatalogEntry }>>

/** The operations of one project. */
export type Operations = {
  projectId: string
  catalog: ReadCatalog
  get<Answer>(path: string): Promise<Answer>
  /** All pages of a list, up to what a model can read. */
  list<Item>(path: string): Promise<Item[]>
  send<Answer>(method: 'POST' | 'PUT', path: string, body: unknown): Promise<Answer>
  /** The job when it has ended, or as it is when the wait is over. */
  ended(jobId: string, signal: AbortSignal): Promise<Job>
}

export type Job = { id: string; status: string; error?: unknown; [field: string]: unknown }

/** Entries of a list, and calls for them: pages of long entries are short. */
const [maxItems, maxPages, pageGrowth] = [1_000, 40, 8]
const lookMs = 300
/** Clients give a call a minute. */
const maxWaitMs = 40_000
const finalStates = new Set(['succeeded', 'failed', 'cancelled'])

export function projectOperations(
  { perform, catalog }: { perform: Perform; catalog: ReadCatalog },
  projectId: string,
): Operations {
  const path = (rest: string): string => (rest.startsWith('/v1/') ? rest : `/v1/projects/${projectId}${rest}`)
  async function call<Answer>(method: 'GET' | 'POST' | 'PUT', rest: string, body?: unknown): Promise<Answer> {
    const answered = await perform({ method, path: path(rest), body })
    if (answered === null) throw tooLargeForModel()
    if (answered.status >= 400) throw failureOf(answered.body)
    return answered.body as Answer
  }
  return {
    projectId,
    catalog,
    get: (rest) => call('GET', rest),
    async list<Item>(rest: string) {
      const items: Item[] = []
      // The database gives a page at once: each is at most eight times what was short enough.
      let [cursor, limit] = ['', pageGrowth]
      for (let page = 0; page < maxPages && items.length < maxItems; page += 1) {
        const search = new URLSearchParams({ limit: String(limit), ...(cursor !== '' && { cursor }) }).toString()
        const found = await call<{ data: Item[]; next_cursor: string | null }>('GET', `${rest}?${search}`).catch(
          (error: unknown) => {
            if (limit === 1 || !(error instanceof Failure) || error.code !== 'result_too_large') throw error
            return null
          },
        )
        if (found === null) {
          limit = Math.ceil(limit / pageGrowth)
          continue
        }
        items.push(...found.data)
        limit = Math.min(200, limit * pageGrowth)
        if (found.next_cursor === null) break
        cursor = found.next_cursor
      }
      return items
    },
    send: (method, rest, body) => call(method, rest, body),
    async ended(jobId, signal) {
      const until = Date.now() + maxWaitMs
      for (;;) {
        const job = await call<Job>('GET', `/v1/jobs/${jobId}`)
        if (finalStates.has(job.status) || Date.now() > until) return job
        await wait(lookMs, undefined, { signal })
      }
    },
  }
}

type Envelope = {
  error?: string
  reason?: string
  message?: string
  details?: Array<{ field: string; message: string }>
}

/** An answer that no model can read is refused with what to do, never cut in the middle. */
export function tooLargeForModel(): Failure {
  return new Failure('result_too_large', {
    message: 'The answer is too large for a model: ask for fewer rows or columns.',
  })
}

/** The refusal of an operation, as it was said. */
function failureOf(body: unknown): Failure {
  const { error = '', reason, message, details, ...rest } = (body ?? {}) as Envelope & Record<string, unknown>
  const { request_id: _id, more: _more, retry_after: retryAfter, ...fields } = rest
  if (error === 'result_too_large') return tooLargeForModel()
  const code = Object.hasOwn(failures, error) ? (error as FailureCode) : 'invalid_request'
  return new Failure(code, {
    message: message ?? 'The operation was refused.',
    ...(reason !== undefined && { reason: reason as never }),
    ...(details !== undefined && { details }),
    ...(typeof retryAfter === 'number' && { retryAfterSeconds: retryAfter }),
    fields,
  })
}
