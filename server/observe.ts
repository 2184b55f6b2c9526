import type { FailureCode } from '../api/failures.ts'
import type { VerdictName } from '../api/verdicts.ts'

/**
 * An event, recorded once. Logs, usage tables, Prometheus and alerts listen; nobody else writes a log line.
 * No member carries a secret, a header value, a row or a bound slot value: that is what keeps them out of the log.
 */
export type Observation =
  | { kind: 'app-started'; address: string; elapsedMs: number; database: 'embedded' | 'external' }
  | { kind: 'app-stopping'; signal: string }
  | { kind: 'app-stopped'; elapsedMs: number }
  | {
      kind: 'request-answered'
      requestId: string
      method: string
      route: string
      status: number
      elapsedMs: number
      /** As the caller sent it: the trace that the request is part of. */
      traceParent?: string | undefined
    }
  | { kind: 'request-failed'; requestId: string; method: string; route: string; error: unknown }
  | { kind: 'database-started'; pid: number; adopted: boolean }
  | { kind: 'database-lost'; error: unknown }
  | { kind: 'database-recovered' }
  | { kind: 'redis-lost'; error: unknown }
  | { kind: 'redis-recovered' }
  /** The bucket does not answer: what is cached is served, and nothing can be written. */
  | { kind: 'objects-lost'; error: unknown }
  | { kind: 'objects-recovered' }
  /** A file came from the bucket into this process' cache. */
  | { kind: 'object-fetched'; sizeBytes: number; elapsedMs: number }
  | { kind: 'migrated'; from: number; to: number }
  | { kind: 'executor-started'; pid: number; elapsedMs: number }
  /** It ran out of memory, and a fresh one takes its place. */
  | { kind: 'executor-replaced'; reason: 'memory_limit' | 'worn' }
  | { kind: 'executor-lost'; code: number | null; signal: string | null; calls: number; stderr: string }
  | ({ kind: 'job-started' } & JobFacts)
  | ({ kind: 'job-finished'; status: string; elapsedMs: number } & JobFacts)
  /** `final`: no attempt is left. */
  | ({ kind: 'job-failed'; final: boolean; elapsedMs: number; error: unknown } & JobFacts)
  /** The run ended, but another worker had the job by then, or will: its result does not count. */
  | ({ kind: 'job-lost'; elapsedMs: number } & JobFacts)
  | {
      kind: 'query-answered'
      requestId?: string | null
      entry: 'direct' | 'question' | 'tool' | 'preview'
      /** Null where the call did not come so far as to have one. */
      projectId: string | null
      environment: string | null
      /** Null for a question that found none. */
      query: string | null
      version: number | null
      keyId: string | null
      /** Null: it was answered. */
      code: FailureCode | null
      /** Why it was refused; of an answer, `unexpressed` where it says what it leaves out of the question. */
      reason: string | null
      totalMs: number
      /** Part of the total: waiting for an executor, and everything that is not the query itself. */
      queueMs: number
      sqlMs: number
      rows: number
      bytes: number
      cache: 'hit' | 'miss' | 'bypass' | null
      /** The question; the log leaves the words out, for they hold values. */
      question?: { text: string; confidence: number | null; verdict?: VerdictName | null } | undefined
      /** For a question: how long finding the query took. */
      routeMs?: number | undefined
    }
  /** Records of what happened that will never be written; what they tell of did happen. */
  | { kind: 'records-dropped'; where: string; count: number; reason: DropReason }
  | { kind: 'alert-changed'; alertId: string; projectId: string; state: 'ok' | 'firing' }
  | { kind: 'alert-undelivered'; alertId: string; deliveryId: string; final: boolean; reason: string }
  /** `lexical`: the native module did not load, and questions are matched by their words alone. */
  | { kind: 'encoder-opened'; encoder: 'neural' | 'lexical'; fallbackReason: string | null; elapsedMs: number }
  | { kind: 'question-index-built'; projectId: string; environment: string; queries: number; elapsedMs: number }
  /** All answers of a query by their keys are in a file now: calls are answered from it. */
  | { kind: 'lookup-written'; projectId: string; keys: number; sizeBytes: number; elapsedMs: number }
  /** They could not be written; the engine goes on answering, and it is tried again later. */
  | { kind: 'lookup-failed'; projectId: string; error: unknown }
  | { kind: 'fault'; where: string; error: unknown }

/** There was no room, the database does not take such a record, or the service stopped before it was written. */
export type DropReason = 'full' | 'refused' | 'closing'

type JobFacts = { jobId: string; jobType: string; projectId: string; attempt: number }

export type Observe = (observation: Observation) => void
