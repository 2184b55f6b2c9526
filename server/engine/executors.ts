import type { Observe } from '../observe.ts'
import { startExecutor, type ChildSettings, type Lost } from './executor-child.ts'
import type { Frame } from './executor/socket/frames.ts'
import { newSeat, type Seat } from './seat.ts'
import type { Ticket } from './tickets.ts'

export type ExecutorsOptions = Omit<ChildSettings, 'name'> & {
  name: string
  executors: number
  /** Processes beyond `executors` that wait to take the place of one that died. */
  spares: number
  /** How many stay when nothing runs. */
  keeps: number
  /** How long nothing runs until the others are ended; 0: never. */
  restAfterMs: number
  observe: Observe
  now: () => number
}

/** How far the calls in a process are to blame for its end. */
export type Blame = 'innocent' | 'suspect' | 'guilty'

type Listener = {
  /** One became ready, or one was lost and another may do its work. */
  changed: () => void
  frame: (seat: Seat, frame: Frame) => void
  /** A process is gone, and these calls were in it. */
  lost: (tickets: Ticket<Seat>[], blame: Blame) => void
}

/** From its first request to end until it is killed. */
export const killAfterMs = 1_000
/** So many databases opened and closed leave some 100 MB in a process: the allocator finds no use for the gaps. */
const wornAfter = 64
/** Nobody has called it for so long, so hardly anybody waits for the one in its place. */
const wornQuietMs = 5_000
const wornLookMs = 1_000
const respawnMs = { first: 50, most: 5_000, healthyAfter: 10_000 }

/** The processes of a pool: each is started, and started again when it is lost; a spare takes over meanwhile. */
// Over 70 lines: its methods share the seats and whether they are being closed.
export function createExecutors(options: ExecutorsOptions, on: Listener) {
  const { observe, now } = options
  const readyWaiters = new Set<() => void>()
  let closing = false
  let usedAtMs = performance.now()

  const seats = Array.from({ length: options.executors + options.spares }, (_, index) =>
    newSeat(index, index >= options.executors),
  )

  function start(seat: Seat): void {
    seat.startedMs = now()
    seat.resting = false
    seat.known.clear()
    seat.opened = 0
    try {
      seat.child = startExecutor(
        { ...options, name: `${options.name}-${seat.index}` },
        { frame: (frame) => receive(seat, frame), lost: (lost) => lose(seat, lost) },
      )
    } catch (error) {
      // A full disk or no more processes: the same as one that died at once, and tried again later.
      lose(seat, { code: null, signal: null, stderr: String(error) })
    }
  }

  function receive(seat: Seat, frame: Frame): void {
    if (frame.kind !== 'ready') {
      on.frame(seat, frame)
      return
    }
    seat.ready = true
    observe({ kind: 'executor-started', pid: seat.child?.pid ?? 0, elapsedMs: now() - seat.startedMs })
    for (const wake of readyWaiters) wake()
    on.changed()
  }

  function lose(seat: Seat, lost: Lost): void {
    const tickets = [...seat.tickets.values()]
    const { outOfMemory: wasOutOfMemory, worn: wasWorn, stopped: wasStopped, resting: wasResting } = seat
    const wasReady = seat.ready || wasOutOfMemory || wasWorn
    Object.assign(seat, { child: null, ready: false, reserved: false })
    Object.assign(seat, { outOfMemory: false, worn: false, stopped: false })
    seat.tickets.clear()
    if (wasResting) {
      // Somebody may have come for it while it ended.
      if (readyWaiters.size > 0 && !closing) start(seat)
      else on.changed()
      return
    }
    const { code, signal, stderr } = lost
    const crashed = signal !== 'SIGKILL' && signal !== 'SIGTERM'
    on.lost(tickets, wasStopped ? 'innocent' : crashed && tickets.length === 1 ? 'guilty' : 'suspect')
    if (closing) return
    relieve(seat)
    const replaced = tickets.length > 0 ? null : wasOutOfMemory ? 'memory_limit' : wasWorn ? 'worn' : null
    if (replaced !== null) observe({ kind: 'executor-replaced', reason: replaced })
    else observe({ kind: 'executor-lost', code, signal, calls: tickets.length, stderr })
    // A call that ends a process explains its end; without one, starting another may not help.
    const isExplained = tickets.length > 0 || now() - seat.startedMs > respawnMs.healthyAfter
    seat.failures = wasReady && isExplained ? 0 : seat.failures + 1
    const delayMs = Math.min(respawnMs.most, respawnMs.first * 2 ** Math.min(10, Math.max(0, seat.failures - 1)))
    seat.respawn = setTimeout(() => {
      seat.respawn = null
      start(seat)
    }, delayMs)
    on.changed()
  }

  /** A spare takes over at once; the process that comes in place of the lost one is the spare then. */
  function relieve(seat: Seat): void {
    const spare = seats.find((other) => other.standby && other.ready && other.tickets.size === 0)
    if (seat.standby || spare === undefined) return
    spare.standby = false
    seat.standby = true
  }

  /** Ends one that is empty; the next takes its seat. */
  function replace(seat: Seat): void {
    const { child } = seat
    seat.ready = false
    child?.end()
    setTimeout(() => seat.child === child && child?.kill(), killAfterMs).unref()
  }

  /** One at a time: the others answer meanwhile. Where none need stay, another starts when there is something to do. */
  function renew(): void {
    const quietSinceMs = performance.now() - wornQuietMs
    const isWorn = ({ ready, opened, usedMs, tickets }: Seat): boolean =>
      ready && opened > wornAfter && usedMs < quietSinceMs && tickets.size === 0
    const seat = closing || !seats.every(({ ready, resting }) => ready || resting) ? undefined : seats.find(isWorn)
    if (seat === undefined) return
    seat.worn = true
    seat.resting = options.keeps === 0
    replace(seat)
  }

  const renewing = setInterval(renew, wornLookMs).unref()

  /** Each holds 50 MB: where nothing has run for a while, those that know most of what is asked stay, and no other. */
  function rest(): void {
    if (
      closing ||
      performance.now() - usedAtMs < options.restAfterMs ||
      seats.some(({ tickets }) => tickets.size > 0)
    ) {
      return
    }
    const running = seats.filter(({ ready, standby }) => ready && !standby)
    const survivors = running.toSorted((left, right) => right.known.size - left.known.size).slice(0, options.keeps)
    if (survivors.length < options.keeps) return
    for (const seat of seats.filter((each) => each.ready && !survivors.includes(each))) {
      seat.resting = true
      replace(seat)
    }
  }

  const resting = options.restAfterMs === 0 ? undefined : setInterval(rest, Math.max(20, options.restAfterMs / 4))
  resting?.unref()

  /** For whatever runs next. */
  function noteUse(seat?: Seat): void {
    usedAtMs = performance.now()
    if (seat !== undefined) seat.usedMs = usedAtMs
  }

  /** Starts those that were ended because nothing ran: there is more to do than those that are left should do alone. */
  function wake(): void {
    for (const seat of seats) if (seat.resting && seat.child === null) start(seat)
  }

  /** Starts those that are missing, and waits until those that work are ready. */
  async function open(timeoutMs: number): Promise<void> {
    noteUse()
    const working = seats.filter((seat) => !seat.standby)
    startMissing(working)
    await until(() => working.every((seat) => seat.ready), timeoutMs, readyWaiters)
    // Nobody waits for these.
    if (!closing) startMissing(seats)
  }

  function startMissing(which: Seat[]): void {
    which.filter((seat) => seat.child === null && seat.respawn === null).forEach(start)
  }

  /** Lets what runs finish for at most so long, then ends every process. */
  async function close(timeoutMs: number): Promise<void> {
    closing = true
    clearInterval(resting)
    clearInterval(renewing)
    const deadlineMs = performance.now() + timeoutMs
    while (seats.some((seat) => seat.tickets.size > 0) && performance.now() < deadlineMs) await pause(5)
    const left = seats.flatMap((seat) => (seat.respawn === null ? [] : [seat.respawn]))
    left.forEach((timer) => clearTimeout(timer))
    for (const seat of seats) seat.child?.end()
    const killAtMs = performance.now() + killAfterMs
    while (seats.some((seat) => seat.child !== null) && performance.now() < killAtMs) await pause(5)
    for (const seat of seats) seat.child?.kill()
    while (seats.some((seat) => seat.child !== null)) await pause(5)
  }

  function health() {
    const stateOf = (seat: Seat) => ({ pid: seat.child?.pid ?? null, ready: seat.ready, calls: seat.tickets.size })
    const states = seats.filter((seat) => !seat.standby).map(stateOf)
    return {
      ready: states.some((state) => state.ready),
      executors: states,
      spares: seats.filter((seat) => seat.standby).map(stateOf),
    }
  }

  return { seats, isClosing: () => closing, open, noteUse, wake, replace, close, health }
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
