import { invalidField } from '../../failure.ts'
import type { Database } from '../../store/index.ts'
import { grainMs, grains, type Grain } from '../stored/grains.ts'

export const intervals = ['1m', '5m', '1h', '1d'] as const
export type Interval = (typeof intervals)[number]

export type RangeInput = {
  from?: Date | undefined
  to?: Date | undefined
  interval?: Interval | undefined
  timeZone?: string | undefined
}

/** A span of time cut into pieces of equal name: minutes, hours or days of a place. */
export type Range = {
  from: Date
  to: Date
  interval: Interval
  timeZone: string
  /** The beginning of each piece. */
  starts: Date[]
  /** The longest grain of which every piece is a whole number. */
  coarsest: Grain
}

const intervalMs: Record<Interval, number> = { '1m': 60_000, '5m': 300_000, '1h': 3_600_000, '1d': 86_400_000 }
const maxPieces = 1_500
const dayMs = 86_400_000
/** The last moment that is written with four digits of a year. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59)

/** Cuts the range that a caller asks for into whole pieces, or refuses it. Figures are by minute, so ends are whole minutes. */
export async function readRange(store: Pick<Database, 'pool'>, now: number, input: RangeInput): Promise<Range> {
  const to = Math.ceil((input.to?.getTime() ?? now + 1) / grainMs.minute) * grainMs.minute
  const from = Math.floor((input.from?.getTime() ?? to - dayMs) / grainMs.minute) * grainMs.minute
  if ((input.from?.getTime() ?? from) >= (input.to?.getTime() ?? to)) throw invalidField('from', 'must be before to')
  if (to > lastMs) throw invalidField('to', 'must be before the end of the year 9999')
  const timeZone = input.timeZone ?? 'UTC'
  if (!isTimeZone(timeZone)) throw invalidField('time_zone', 'must be the name of a time zone, such as Europe/Berlin')
  const interval = input.interval ?? intervalFor(to - from)
  const pieces = Math.ceil((to - from) / intervalMs[interval])
  if (pieces > maxPieces) {
    const message = `cuts the range into ${pieces.toLocaleString('en')} pieces; at most ${maxPieces.toLocaleString('en')} are answered`
    throw invalidField('interval', message)
  }
  const starts = await startsOf(store, { from, to, interval, timeZone })
  return { from: new Date(from), to: new Date(to), interval, timeZone, starts, coarsest: coarsestFor(interval, starts) }
}

function intervalFor(spanMs: number): Interval {
  if (spanMs <= 2 * grainMs.hour) return '1m'
  if (spanMs <= 12 * grainMs.hour) return '5m'
  return spanMs <= 14 * dayMs ? '1h' : '1d'
}

/** Hours and days begin where the clocks of the place say so, which the database knows. */
async function startsOf(
  store: Pick<Database, 'pool'>,
  { from, to, interval, timeZone }: { from: number; to: number; interval: Interval; timeZone: string },
): Promise<Date[]> {
  const stepMs = intervalMs[interval]
  if (interval === '1d') {
    const { rows } = await store.pool.query<{ start: Date }>(
      `select day at time zone $3 as start
         from generate_series(date_trunc('day', $1::timestamptz at time zone $3),
                              $2::timestamptz at time zone $3, '1 day') as day
        where day at time zone $3 < $2`,
      [new Date(from), new Date(to), timeZone],
    )
    return rows.map(({ start }) => start)
  }
  let first = Math.floor(from / stepMs) * stepMs
  if (interval === '1h') {
    const { rows } = await store.pool.query<{ start: Date }>('select date_trunc($1, $2::timestamptz, $3) as start', [
      'hour',
      new Date(from),
      timeZone,
    ])
    first = rows[0]?.start.getTime() ?? first
  }
  const starts: Date[] = []
  for (let start = first; start < to; start += stepMs) starts.push(new Date(start))
  return starts
}

function coarsestFor(interval: Interval, starts: Date[]): Grain {
  const isWhole = (ms: number): boolean => starts.every((start) => start.getTime() % ms === 0)
  const fitting = grains.filter((grain) => grainMs[grain] <= intervalMs[interval] && isWhole(grainMs[grain]))
  return fitting.at(-1) ?? 'minute'
}

function isTimeZone(name: string): boolean {
  // Bare offsets mean the opposite in PostgreSQL. One way to match each text: a caller writes it.
  if (!/^[A-Za-z]+(?:[/_-][A-Za-z0-9/+_-]*)?$/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
