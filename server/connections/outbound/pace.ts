import { setTimeout as delay } from 'node:timers/promises'
import type { ApiRate } from '../../../api/apis.ts'
import { Failure } from '../../failure.ts'
import { openGate } from '../../flow/index.ts'
import { inTransaction, type Connection, type Database } from '../../store/index.ts'

/** Turns that calls to one API take, so that they stay within its rate. */
export type Pace = {
  /** Waits for a turn; where there is none in time, answers when the API takes calls again. */
  enter(asked: { waitMs: number; signal: AbortSignal }): Promise<Turn | { opensInMs: number }>
  /** The API takes no calls for so long, as it says itself. */
  pause(ms: number): Promise<void>
}
type Turn = { leave(): Promise<void> }

/** An API with its own word on how often it may be called. */
type Paced = { id: string; rate: ApiRate | null }
/** Turns at an API that connections share hold over all processes; those at any other are of the load that asks. */
export type Paces = { of(api: Paced | null): Pace }

type Store = Pick<Database, 'pool'>

const perMs = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 }
/** A call arrives within this time of its start, or when its answer comes, and counts from then. */
const arrivalMs = 500
/** Nobody tells when a call of another process ends. */
const pollMs = 50
/** A process that died has left the turn of its call by then. */
const callMs = 600_000
const longestPauseMs = 86_400_000

export function openPaces(store: Store): Paces {
  // One waiting call of each process asks the database; the others come after it, in their order.
  const queue = openGate({ room: Infinity, perName: 1 })
  const sharedPace = (api: Paced): Pace => ({
    async enter({ waitMs, signal }) {
      const deadline = performance.now() + waitMs
      const left = () => deadline - performance.now()
      let opensInMs = pollMs
      try {
        const ask = async () => {
          for (;;) {
            const found = await takeTurn(store, api)
            if ('leave' in found) return found
            opensInMs = found.opensInMs
            if (opensInMs > left()) return found
            await delay(opensInMs, undefined, { signal })
          }
        }
        return await queue.run([api.id], ask, { waitMs: Math.max(1, left()), signal })
      } catch (error) {
        if (signal.aborted || (error instanceof Failure && error.code === 'overloaded')) return { opensInMs }
        throw error
      }
    },
    async pause(ms) {
      await store.pool.query(
        `update apis set paused_until = greatest(paused_until, clock_timestamp() + $2 * interval '1 millisecond')
         where id = $1`,
        [api.id, Math.min(ms, longestPauseMs)],
      )
    },
  })
  return { of: (api) => (api === null || api.id === '' ? loadPace() : sharedPace(api)) }
}

/** Within one load: what an API said on one page holds for the next. */
function loadPace(): Pace {
  let opensAt = 0
  return {
    async enter({ waitMs, signal }) {
      const opensInMs = opensAt - performance.now()
      if (opensInMs > waitMs) return { opensInMs }
      if (opensInMs > 0) await delay(opensInMs, undefined, { signal }).catch(() => undefined)
      return { leave: () => Promise.resolve() }
    },
    pause(ms) {
      opensAt = Math.max(opensAt, performance.now() + Math.min(ms, longestPauseMs))
      return Promise.resolve()
    },
  }
}

async function takeTurn(store: Store, { id, rate }: Paced): Promise<Turn | { opensInMs: number }> {
  let found: Turn | { opensInMs: number } = { opensInMs: pollMs }
  await inTransaction(store, async (connection) => {
    const closedMs = await pausedMs(connection, id)
    const waitMs = closedMs > 0 || rate === null ? closedMs : await fullMs(connection, id, rate)
    if (waitMs > 0) {
      found = { opensInMs: waitMs }
      return
    }
    found = rate === null ? { leave: () => Promise.resolve() } : await begin(store, connection, id)
  })
  return found
}

/** Calls of one API are counted one at a time, by the clock of the database. An API that is gone takes any. */
async function pausedMs(connection: Connection, id: string): Promise<number> {
  const { rows } = await connection.query<{ ms: number | null }>(
    `select ceil(extract(epoch from paused_until - clock_timestamp()) * 1000)::float8 as ms
     from apis where id = $1 for no key update`,
    [id],
  )
  return Math.max(0, rows[0]?.ms ?? 0)
}

/** How long until there may be room for one more call; 0 where there is. */
async function fullMs(connection: Connection, id: string, rate: ApiRate): Promise<number> {
  const { requests, concurrency } = rate
  const windowMs = requests === undefined ? 0 : perMs[rate.per]
  await connection.query(
    `delete from api_calls where api_id = $1 and until < clock_timestamp()
       and counted_at < clock_timestamp() - $2 * interval '1 millisecond'`,
    [id, windowMs],
  )
  const { rows } = await connection.query<{ running: number; recent: number; oldest: number | null }>(
    `select count(*) filter (where until > clock_timestamp())::int as running,
       count(*) filter (where counted_at > opened)::int as recent,
       ceil(extract(epoch from min(counted_at - opened) filter (where counted_at > opened)) * 1000)::float8 as oldest
     from api_calls, (select clock_timestamp() - $2 * interval '1 millisecond' as opened) as span where api_id = $1`,
    [id, windowMs],
  )
  const { running = 0, recent = 0, oldest = 0 } = rows[0] ?? {}
  if (requests !== undefined && recent >= requests) return Math.max(1, oldest ?? 1)
  return concurrency !== undefined && running >= concurrency ? pollMs : 0
}

async function begin(store: Store, connection: Connection, apiId: string): Promise<Turn> {
  const { rows } = await connection.query<{ id: string }>(
    `insert into api_calls (api_id, counted_at, until)
     select id, clock_timestamp() + $2 * interval '1 millisecond', clock_timestamp() + $3 * interval '1 millisecond'
     from apis where id = $1 returning id`,
    [apiId, arrivalMs, callMs],
  )
  const [call] = rows
  return {
    async leave() {
      // Without an answer the turn ends by itself.
      await store.pool
        .query(
          `update api_calls set until = clock_timestamp(), counted_at = least(counted_at, clock_timestamp())
           where id = $1`,
          [call?.id],
        )
        .catch(() => undefined)
    },
  }
}
