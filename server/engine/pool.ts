import { Failure } from '../failure.ts'
import type { Frame } from './executor/socket/frames.ts'
import { isRefusedBySystem } from './executor/socket/out-of-memory.ts'
import type { FailedHead } from './executor/socket/protocol.ts'
import { createExecutors, killAfterMs, type ExecutorsOptions, type Blame } from './executors.ts'
import { createLane } from './lane.ts'
import { createQuarantine } from './quarantine.ts'
import { chooseSeat, type Seat } from './seat.ts'
import {
  callHead,
  cancelledError,
  catalogKey,
  failureOf,
  opensDatabase,
  overloaded,
  queryOf,
  waitedTooLong,
  type Reply,
  type Task,
  type Ticket,
} from './tickets.ts'

export type PoolOptions = ExecutorsOptions & {
  /** How long a statement that ended a process is refused. */
  quarantineMs: number
  queueLength: number
}

/** Places in each executor beyond its usual ones, where quick queries pass those that take long. */
const expressPerExecutor = 2
/** How soon it is seen that what runs takes long while others wait. */
const lookAgainMs = 200

/** The calls to executors of one kind: those that wait, those that run, and those whose process was lost. */
// Over 70 lines: every step moves a call between the seats, the lane and the suspects that it closes over.
export function createPool(options: PoolOptions) {
  const { executors, concurrency, queueLength, now } = options
  const express = options.background ? 0 : expressPerExecutor
  const lane = createLane<Ticket<Seat>>({
    queueLength,
    slots: executors * concurrency,
    expressSlots: executors * express,
    nowMs: () => performance.now(),
  })
  const quarantine = createQuarantine({ forMs: options.quarantineMs, now })
  /** Calls to be tried alone: those that were in a process when it died, once more, so that only a culprit fails. */
  const suspects: Ticket<Seat>[] = []
  let nextId = 1
  let lookingAgain: NodeJS.Timeout | null = null

  const processes = createExecutors(options, {
    changed: () => pump(),
    frame: (seat, frame) => receive(seat, frame),
    lost: (tickets, blame) => tickets.forEach((ticket) => orphan(ticket, blame)),
  })
  const { seats } = processes

  function receive(seat: Seat, frame: Frame): void {
    const ticket = seat.tickets.get(frame.id)
    if (ticket === undefined) return
    if (frame.kind === 'opened' || frame.kind === 'chunk') {
      ticket.streaming = true
      ticket.onFrame?.(frame, (kind) => seat.tickets.has(ticket.id) && seat.child?.send({ id: ticket.id, kind }))
    } else if (frame.kind === 'catalogUnknown') {
      seat.known.delete(catalogKey(ticket))
      sendCall(seat, ticket)
    } else if (frame.kind === 'result') {
      quarantine.clear(ticket)
      finish(seat, ticket, { head: frame.head, body: frame.body })
    } else if (frame.kind === 'failed') {
      const failure = failureOf(frame.head as FailedHead)
      if (failure.reason === 'memory_limit' && (options.background || isRefusedBySystem(String(failure.cause))))
        seat.outOfMemory = true
      // Only where our own statements run: queries of users could else keep every executor from taking work.
      if (options.background && seat.outOfMemory) seat.reserved = true
      finish(seat, ticket, failure)
    }
  }

  /** A call whose process died under it. While it waits for its second try it keeps its place among its scope's. */
  function orphan(ticket: Ticket<Seat>, blame: Blame): void {
    ticket.seat = null
    const isClosing = processes.isClosing()
    const isLost = ticket.cancelled !== null || ticket.streaming || isClosing
    const isGuilty = !isClosing && ticket.cancelled === null && (blame === 'guilty' || isTriedApart(ticket, blame))
    if (isGuilty) quarantine.note(ticket)
    if (!isLost && !isGuilty && blame === 'suspect' && mayTryApart()) {
      suspects.push(ticket)
      return
    }
    lane.release(ticket.place)
    if (!isLost && !isGuilty && blame === 'innocent' && lane.push(ticket)) return
    settle(ticket, orphanError(ticket, isGuilty))
  }

  function isTriedApart(ticket: Ticket<Seat>, blame: Blame): boolean {
    return blame === 'suspect' && ticket.apart
  }

  function orphanError(ticket: Ticket<Seat>, isGuilty: boolean): Error {
    if (ticket.cancelled !== null) return cancelledError(ticket)
    if (isGuilty) return quarantine.failure(ticket)
    return new Failure('internal_error', { cause: new Error('the executor ended while it ran this call') })
  }

  /** A statement that may end a process never runs in the last one that answers others. */
  function mayTryApart(): boolean {
    return options.background || seats.length > 1
  }

  /** Where a suspect may run: in the spare, or, where there is none, in an empty one of several. */
  function seatApart(): Seat | undefined {
    const ready = seats.filter((seat) => seat.ready)
    const places = options.spares > 0 ? ready.filter((seat) => seat.standby) : ready
    if (options.spares === 0 && !options.background && ready.length < 2) return undefined
    return places.find((seat) => seat.tickets.size === 0)
  }

  function pumpSuspects(): void {
    for (;;) {
      const [ticket] = suspects
      const seat = ticket === undefined ? undefined : seatApart()
      if (ticket === undefined || seat === undefined) break
      suspects.shift()
      seat.reserved = true
      ticket.apart = true
      dispatch(seat, ticket)
    }
    if (suspects.length === 0 || options.spares > 0 || seats.some((seat) => seat.reserved)) return
    const ready = seats.filter((seat) => seat.ready).sort((left, right) => left.tickets.size - right.tickets.size)
    const [quietest] = ready
    if (quietest !== undefined && (ready.length > 1 || options.background)) quietest.reserved = true
  }

  function pump(): void {
    pumpSuspects()
    pumpWaiting()
    // Calls would wait for one another, or for a process of their own.
    if (suspects.length > 0 || lane.waitingCount() > 0 || seats.some(({ tickets }) => tickets.size > 1))
      processes.wake()
    lookAgain()
  }

  function pumpWaiting(): void {
    for (;;) {
      const working = seats.filter((seat) => seat.ready && !seat.standby && !seat.reserved)
      const open = working.filter(({ tickets }) => tickets.size < concurrency + express)
      const free = open.filter(({ tickets }) => tickets.size < concurrency)
      if (open.length === 0) break
      const taken = lane.take(free.length > 0)
      if (taken === undefined) break
      const { item: ticket, place } = taken
      ticket.place = place
      dispatch(chooseSeat(place.isExpress ? open : free, ticket), ticket)
    }
  }

  /** Looks again after a while: a call turns out to be long without another one that ends or comes. */
  function lookAgain(): void {
    if (express === 0 || processes.isClosing() || lookingAgain !== null || lane.waitingCount() === 0) return
    lookingAgain = setTimeout(() => {
      lookingAgain = null
      pump()
    }, lookAgainMs)
    lookingAgain.unref()
  }

  function dispatch(seat: Seat, ticket: Ticket<Seat>): void {
    processes.noteUse(seat)
    ticket.seat = seat
    seat.tickets.set(ticket.id, ticket)
    sendCall(seat, ticket)
  }

  function sendCall(seat: Seat, ticket: Ticket<Seat>): void {
    const head = callHead(seat.known, ticket)
    if (opensDatabase(head)) seat.opened += 1
    seat.child?.send({ id: ticket.id, kind: 'call', head })
  }

  function finish(seat: Seat, ticket: Ticket<Seat>, outcome: Reply | Error): void {
    seat.tickets.delete(ticket.id)
    lane.release(ticket.place)
    if (seat.tickets.size === 0) {
      processes.noteUse(seat)
      seat.reserved = false
      if (seat.outOfMemory) processes.replace(seat)
    }
    settle(ticket, ticket.cancelled === null ? outcome : cancelledError(ticket))
    pump()
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
        lane.release(ticket.place)
      }
      if (lane.remove(ticket) || index !== -1) settle(ticket, waitedTooLong(ticket))
      return
    }
    seat.child?.send({ id: ticket.id, kind: 'cancel' })
    ticket.timers.push(
      setTimeout(() => {
        // The others in this process are innocent; they run again elsewhere.
        if (!seat.tickets.has(ticket.id)) return
        seat.stopped = true
        seat.child?.kill()
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
        query: queryOf(task),
        apart: false,
        seat: null,
        place: null,
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
      if (quarantine.refuses(task)) {
        reject(quarantine.failure(task))
        return
      }
      if (processes.isClosing() || !admit(ticket)) {
        reject(overloaded())
        return
      }
      task.signal?.addEventListener('abort', abort, { once: true })
      ticket.timers.push(setTimeout(() => cancel(ticket, 'deadline'), task.timeoutMs))
      pump()
    })
  }

  function admit(ticket: Ticket<Seat>): boolean {
    if (!mayTryApart() || !quarantine.sendsApart(ticket)) return lane.push(ticket)
    if (suspects.length >= queueLength) return false
    ticket.place = lane.hold(ticket)
    suspects.push(ticket)
    return true
  }

  async function opened(timeoutMs: number): Promise<void> {
    if (processes.isClosing()) throw overloaded()
    await processes.open(timeoutMs)
  }

  function health() {
    return { ...processes.health(), waiting: lane.waitingCount() + suspects.length }
  }

  return { run, opened, close: processes.close, health }
}
