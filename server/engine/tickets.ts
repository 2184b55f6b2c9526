import type { FailureReason } from '../../api/failures.ts'
import { Failure } from '../failure.ts'
import type { Frame } from './executor/socket/frames.ts'
import type { LanePlace } from './lane.ts'
import type { CallHead, LocalCatalog, FailedHead, ScopedHead } from './executor/socket/protocol.ts'

export type Reply = { head: unknown; body: Buffer }

/** One call on its way. `onFrame` sees the frames of a stream; a call without it is answered by one frame. */
export type Task = {
  scope: string
  catalog: LocalCatalog | null
  call: CallHead['call']
  timeoutMs: number
  signal: AbortSignal | undefined
  /** Known to take long before it was ever run. */
  isHeavy?: boolean
  onFrame?: (frame: Frame, answer: (kind: 'credit' | 'cancel') => void) => void
}

/** A task with its number, its timers and where it runs. */
export type Ticket<Seat = unknown> = Task & {
  id: number
  /** Names the query among those of its scope, for its share of the executors. */
  query: string
  /** Runs alone, because it was in a process that died or comes from a project on probation. */
  apart: boolean
  seat: Seat | null
  place: LanePlace | null
  timers: NodeJS.Timeout[]
  cancelled: 'deadline' | 'caller' | null
  streaming: boolean
  settle: (outcome: Reply | Error) => void
}

const maxKnownCatalogs = 2_000

export function catalogKey(ticket: Ticket): string {
  return `${ticket.scope}\n${ticket.catalog?.version ?? ''}`
}

/** The head that goes to an executor for a call; the catalog only when it is not among the `known` ones. */
export function callHead(known: Set<string>, ticket: Ticket): CallHead {
  const { scope, catalog, call } = ticket
  if (catalog === null) return { scope: null, call } as CallHead
  const key = catalogKey(ticket)
  const head = { scope, version: catalog.version, call } as ScopedHead
  if (known.has(key)) return head
  if (known.size >= maxKnownCatalogs) known.clear()
  known.add(key)
  return { ...head, catalog }
}

/** Whether the executor opens a database for it: of a catalog that is new to it, or one for this call alone. */
export function opensDatabase(head: CallHead): boolean {
  return head.scope === null || head.catalog !== undefined
}

/** The text of a read, or the file of other work: calls of one query take turns with those of others. */
export function queryOf({ scope, call }: Task): string {
  return `${scope}\n${call.verb}\n${'sql' in call ? call.sql : 'parquetPath' in call ? call.parquetPath : ''}`
}

export function failureOf({ code, reason, cause, ...rest }: FailedHead): Failure {
  const engineError = Object.assign(new Error(cause), { name: 'EngineError' })
  return new Failure(code, {
    ...rest,
    cause: engineError,
    ...(reason !== undefined && { reason: reason as FailureReason<typeof code> }),
  })
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
