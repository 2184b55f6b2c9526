import type { ExecutorChild } from './executor-child.ts'
import { catalogKey, type Ticket } from './tickets.ts'

/** A place for an executor: the process in it may be replaced, the seat stays. */
export type Seat = {
  index: number
  /** Ready to take the place of another, and where suspects run. */
  standby: boolean
  child: ExecutorChild | null
  ready: boolean
  startedMs: number
  failures: number
  tickets: Map<number, Ticket<Seat>>
  known: Set<string>
  /** Databases that were opened in it since it started. */
  opened: number
  /** When it last began or ended a call. */
  usedMs: number
  /** Takes no new work until it is empty: a suspect is to run alone in it. */
  reserved: boolean
  /** Ran out of memory: what was freed does not all come back, so it is replaced when it is empty. */
  outOfMemory: boolean
  /** Opened so many databases that it is replaced while nobody calls. */
  worn: boolean
  /** Killed by us for a call that could not be stopped: the others in it are innocent. */
  stopped: boolean
  /** Has nothing to do and was ended for that: another starts when there is. */
  resting: boolean
  respawn: NodeJS.Timeout | null
}

export function newSeat(index: number, standby: boolean): Seat {
  return {
    index,
    standby,
    child: null,
    ready: false,
    startedMs: 0,
    failures: 0,
    tickets: new Map(),
    known: new Set(),
    opened: 0,
    usedMs: 0,
    reserved: false,
    outOfMemory: false,
    worn: false,
    stopped: false,
    resting: false,
    respawn: null,
  }
}

/** An executor that has the scope open answers at once; among those, the least busy. */
export function chooseSeat(free: Seat[], ticket: Ticket<Seat>): Seat {
  const key = catalogKey(ticket)
  const cost = (seat: Seat): number => seat.tickets.size + (seat.known.has(key) ? 0 : 0.5)
  return free.reduce((best, seat) => (cost(seat) < cost(best) ? seat : best))
}
