import { Failure } from '../failure.ts'
import type { Frame } from './executor/frames.ts'
import type { CallHead, Catalog, FailedHead, ScopedHead } from './executor/protocol.ts'

export type Reply = { head: unknown; body: Buffer }

/** One call on its way. `onFrame` sees the frames of a stream; a call without it is answered by one frame. */
export type Task = {
  scope: string
  catalog: Catalog | null
  call: CallHead['call']
  timeoutMs: number
  signal: AbortSignal | undefined
  onFrame?: (frame: Frame, answer: (kind: 'credit' | 'cancel') => void) => void
}

/** A task with its number, its timers and where it runs. */
export type Ticket<Place = unknown> = Task & {
  id: number
  attempts: number
  seat: Place | null
  timers: NodeJS.Timeout[]
  cancelled: 'deadline' | 'caller' | null
  streaming: boolean
  settle: (outcome: Reply | Error) => void
}

const knownCatalogsMax = 2_000

export function catalogKey(ticket: Ticket): string {
  return `${ticket.scope}\n${ticket.catalog?.version ?? ''}`
}

/** What goes to an executor; the catalog only when it is not among the `known` ones. */
export function callHead(known: Set<string>, ticket: Ticket): CallHead {
  const { scope, catalog, call } = ticket
  if (catalog === null) return { scope: null, call } as CallHead
  const key = catalogKey(ticket)
  const head = { scope, version: catalog.version, call } as ScopedHead
  if (known.has(key)) return head
  if (known.size >= knownCatalogsMax) known.clear()
  known.add(key)
  return { ...head, catalog }
}

export function failureOf({ code, cause, ...options }: FailedHead): Failure {
  return new Failure(code, { ...(options as object), cause })
}

export function overloaded(): Failure {
  return new Failure('overloaded', { retryAfterSeconds: 1 })
}

/** A call that never ran: the queue was the problem, not the query. */
export function waitedTooLong(ticket: Ticket): Error {
  return ticket.cancelled === 'caller' ? cancelledError(ticket) : overloaded()
}

export function cancelledError(ticket: Ticket): Error {
  if (ticket.cancelled === 'deadline') return new Failure('query_timeout')
  const reason: unknown = ticket.signal?.reason
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}
