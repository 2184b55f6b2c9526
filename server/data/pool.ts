import { Failure } from '../failure.ts'
import type { Observe } from '../observe.ts'
import { startExecutor, type ChildSettings, type Lost } from './executor-child.ts'
import type { Frame } from './executor/frames.ts'
import { isRefusedBySystem } from './executor/out-of-memory.ts'
import type { FailedHead } from './executor/protocol.ts'
import { createLane } from './lane.ts'
import { chooseSeat, mayRun, newSeat, type Seat } from './seat.ts'
import {
  callHead,
  cancelledError,
  catalogKey,
  createLookups,
  failureOf,
  isAlike,
  overloaded,
  statementOf,
  waitedTooLong,
  type Group,
  type Reply,
  type Task,
  type Ticket,
} from './tickets.ts'

export type PoolOptions = Omit<ChildSettings, 'name'> & {
  name: string
  executors: number
  queueLength: number
  observe: Observe
  now: () => number
}

const killAfterMs = 1_000
/** Calls that are sent together. */
const groupMax = 32
const respawnMs = { first: 50, most: 5_000, healthyAfter: 10_000 }

/** Executors of one kind and the work that waits for them. */
export function createPool(options: PoolOptions) {
  const { executors, concurrency, queueLength, observe, now } = options
  const lane = createLane<Ticket<Seat>>({ queueLength, slots: executors * concurrency })
  /** Calls that were in a process when it died. Each is tried once more, alone, so that only a culprit fails. */
  const suspects: Ticket<Seat>[] = []
  const lookups = createLookups()
  const readyWaiters = new Set<() => void>()
  let nextId = 1
  let closing = false

  const seats = Array.from({ length: executors }, (_, index) => newSeat(index))

  function start(seat: Seat): void {
    seat.startedMs = now()
    seat.known.clear()
    const on = { frame: (frame: Frame) => receive(seat, frame), lost: (lost: Lost) => lose(seat, lost) }
    try {
      seat.child = startExecutor({ ...options, name: `${options.name}-${seat.index}` }, on)
    } catch (error) {
      // A full disk or no more processes: the same as one that died at once, and tried again later.
      lose(seat, { code: null, signal: null, stderr: String(error) })
    }
  }

  function receive(seat: Seat, frame: Frame): void {
    if (frame.kind === 'ready') {
      seat.ready = true
      observe({ kind: 'executor-started', pid: seat.child?.pid ?? 0, elapsedMs: now() - seat.startedMs })
      for (const wake of readyWaiters) wake()
      pump()
      return
    }
    const ticket = seat.tickets.get(frame.id)
    if (ticket === undefined) return
    if (frame.kind === 'opened' || frame.kind === 'chunk') {
      ticket.streaming = true
      ticket.onFrame?.(frame, (kind) => seat.tickets.has(ticket.id) && seat.child?.send({ id: ticket.id, kind }))
    } else if (frame.kind === 'catalogUnknown') {
      seat.known.delete(catalogKey(ticket))
      sendCall(seat, ticket.group)
    } else if (frame.kind === 'result') {
      lookups.note(ticket, frame.head)
      finish(seat, ticket, { head: frame.head, body: frame.body })
    } else if (frame.kind === 'failed') {
      const failure = failureOf(frame.head as FailedHead)
      if (failure.reason === 'memory_limit' && (options.background || isRefusedBySystem(String(failure.cause))))
        seat.worn = true
      // Only where our own statements run: queries of users could else keep every executor from taking work.
      if (options.background && seat.worn) seat.reserved = true
      finish(seat, ticket, failure)
    }
  }

  function lose(seat: Seat, lost: Lost): void {
    const tickets = [...seat.tickets.values()]
    const { worn: wasWorn } = seat
    const wasReady = seat.ready || wasWorn
    Object.assign(seat, { child: null, ready: false, reserved: false, worn: false, groups: 0 })
    seat.tickets.clear()
    seat.lookups.clear()
    for (const ticket of tickets) orphan(ticket)
    if (closing) return
    const { code, signal, stderr } = lost
    if (wasWorn && tickets.length === 0) observe({ kind: 'executor-replaced', reason: 'memory_limit' })
    else observe({ kind: 'executor-lost', code, signal, calls: tickets.length, stderr })
    seat.failures = wasReady && now() - seat.startedMs > respawnMs.healthyAfter ? 0 : seat.failures + 1
    const delayMs = Math.min(respawnMs.most, respawnMs.first * 2 ** Math.min(10, seat.failures - 1))
    seat.respawn = setTimeout(() => {
      seat.respawn = null
      start(seat)
    }, delayMs)
    pump()
  }

  /** A call whose process died under it. While it waits for its second try it keeps its place among its scope's. */
  function orphan(ticket: Ticket<Seat>): void {
    ticket.seat = null
    // From here on it goes by itself.
    if (ticket.group.left > 1) lane.hold(ticket.scope)
    ticket.group.left -= 1
    if (ticket.cancelled === null && !ticket.streaming && ticket.attempts === 1 && !closing) {
      suspects.push(ticket)
      return
    }
    lane.release(ticket.scope)
    const cause = 'the executor ended while it ran this call'
    settle(ticket, ticket.cancelled === null ? new Failure('internal_error', { cause }) : cancelledError(ticket))
  }

  function pump(): void {
    while (suspects.length > 0) {
      const seat = seats.find((candidate) => candidate.ready && candidate.tickets.size === 0)
      const ticket = suspects[0]
      if (seat === undefined || ticket === undefined) break
      suspects.shift()
      seat.reserved = true
      dispatch(seat, [ticket], null)
    }
    if (suspects.length > 0 && !seats.some((seat) => seat.reserved)) {
      const quietest = seats
        .filter((seat) => seat.ready)
        .sort((left, right) => left.tickets.size - right.tickets.size)[0]
      if (quietest !== undefined) quietest.reserved = true
    }
    for (;;) {
      const free = seats.filter((seat) => seat.ready && !seat.reserved && seat.groups < concurrency)
      if (free.length === 0) return
      const ticket = lane.take((candidate) => free.some((seat) => mayRun(seat, candidate)))
      if (ticket === undefined) return
      const seat = chooseSeat(free, ticket)
      const lookup = lookups.has(ticket) ? ticket.statement : null
      const others =
        lookup === null ? [] : lane.takeAlike(ticket.scope, (other) => isAlike(ticket, other), groupMax - 1)
      dispatch(seat, [ticket, ...others], lookup)
    }
  }

  function dispatch(seat: Seat, tickets: Ticket<Seat>[], lookup: string | null): void {
    const group = { tickets, left: tickets.length, lookup }
    seat.groups += 1
    if (lookup !== null) seat.lookups.add(lookup)
    for (const ticket of tickets) {
      ticket.seat = seat
      ticket.group = group
      ticket.attempts += 1
      seat.tickets.set(ticket.id, ticket)
    }
    sendCall(seat, group)
  }

  function sendCall(seat: Seat, { tickets }: Group<Seat>): void {
    const [ticket, ...others] = tickets
    if (ticket !== undefined) {
      seat.child?.send({ id: ticket.id, kind: 'call', head: callHead(seat.known, ticket, others) })
    }
  }

  function finish(seat: Seat, ticket: Ticket<Seat>, outcome: Reply | Error): void {
    seat.tickets.delete(ticket.id)
    ticket.group.left -= 1
    if (ticket.group.left === 0) {
      seat.groups -= 1
      if (ticket.group.lookup !== null) seat.lookups.delete(ticket.group.lookup)
      lane.release(ticket.scope)
    }
    if (seat.tickets.size === 0) {
      seat.reserved = false
      if (seat.worn) replace(seat)
    }
    settle(ticket, ticket.cancelled === null ? outcome : cancelledError(ticket))
    if (ticket.group.left === 0) pump()
  }

  function replace(seat: Seat): void {
    const { child } = seat
    seat.ready = false
    child?.end()
    setTimeout(() => seat.child === child && child?.kill(), killAfterMs).unref()
  }

  function settle(ticket: Ticket<Seat>, outcome: Reply | Error): void {
    for (const timer of ticket.timers) clearTimeout(timer)
    ticket.settle(outcome)
  }

  /** Stops a call that waits, or interrupts one that runs and kills its executor when that does not help. */
  function cancel(ticket: Ticket<Seat>, why: 'deadline' | 'caller'): void {
    if (ticket.cancelled !== null) return
    ticket.cancelled = why
    const { seat } = ticket
    if (seat === null) {
      const index = suspects.indexOf(ticket)
      if (index !== -1) {
        suspects.splice(index, 1)
        lane.release(ticket.scope)
      }
      if (lane.remove(ticket.scope, ticket) || index !== -1) settle(ticket, waitedTooLong(ticket))
      return
    }
    seat.child?.send({ id: ticket.id, kind: 'cancel' })
    ticket.timers.push(
      setTimeout(() => {
        // The others in this process are innocent; they run again elsewhere.
        if (seat.tickets.has(ticket.id)) seat.child?.kill()
      }, killAfterMs),
    )
  }

  function run(task: Task): Promise<Reply> {
    return new Promise((resolve, reject) => {
      task.signal?.throwIfAborted()
      const abort = (): void => cancel(ticket, 'caller')
      const ticket: Ticket<Seat> = {
        ...task,
        id: nextId,
        statement: statementOf(task),
        attempts: 0,
        seat: null,
        group: { tickets: [], left: 0, lookup: null },
        timers: [],
        cancelled: null,
        streaming: false,
        settle: (outcome) => {
          task.signal?.removeEventListener('abort', abort)
          if (outcome instanceof Error) reject(outcome)
          else resolve(outcome)
        },
      }
      nextId = nextId === 0xff_ff_ff_ff ? 1 : nextId + 1
      if (closing || !lane.push(task.scope, ticket)) {
        reject(overloaded())
        return
      }
      task.signal?.addEventListener('abort', abort, { once: true })
      ticket.timers.push(setTimeout(() => cancel(ticket, 'deadline'), task.timeoutMs))
      pump()
    })
  }

  async function opened(timeoutMs: number): Promise<void> {
    if (closing) throw overloaded()
    seats.filter((seat) => seat.child === null && seat.respawn === null).forEach(start)
    await until(() => seats.every((seat) => seat.ready), timeoutMs, readyWaiters)
  }

  async function close(timeoutMs: number): Promise<void> {
    closing = true
    const deadlineMs = now() + timeoutMs
    while (seats.some((seat) => seat.tickets.size > 0) && now() < deadlineMs) await pause(5)
    const left = seats.flatMap((seat) => (seat.respawn === null ? [] : [seat.respawn]))
    left.forEach((timer) => clearTimeout(timer))
    for (const seat of seats) seat.child?.end()
    const killAtMs = now() + killAfterMs
    while (seats.some((seat) => seat.child !== null) && now() < killAtMs) await pause(5)
    for (const seat of seats) seat.child?.kill()
    while (seats.some((seat) => seat.child !== null)) await pause(5)
  }

  function health() {
    const states = seats.map((seat) => ({ pid: seat.child?.pid ?? null, ready: seat.ready, calls: seat.tickets.size }))
    return {
      ready: states.some((state) => state.ready),
      executors: states,
      waiting: lane.waitingCount() + suspects.length,
    }
  }

  return { run, opened, close, health }
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs)
  })
}

async function until(holds: () => boolean, timeoutMs: number, wakers: Set<() => void>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const finish = (act: () => void): void => {
      clearTimeout(timer)
      wakers.delete(check)
      act()
    }
    const timer = setTimeout(() => finish(() => reject(new Error('no executor became ready in time'))), timeoutMs)
    const check = (): void => {
      if (holds()) finish(resolve)
    }
    wakers.add(check)
    check()
  })
}
