import type { Database } from '../../store/index.ts'
import { grainMs } from '../stored/grains.ts'
import { outcomeText, type Filter } from './figures.ts'

/** A filter of the calls of one project. */
export type Sought = Omit<Filter, 'projectIds'> & {
  projectId: string
  error?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
}

type Span = { from: Date; to: Date }

/** The last moment that PostgreSQL and a Date both know. */
const latest = Date.parse('9999-12-31T00:00:00Z')

/**
 * The minutes that hold calls which a filter lets through, newest first, as figures tell: a call that is rare among
 * millions is found without reading those. Previews are in no figure, hence not in these minutes either.
 */
export async function* seekMinutes(store: Pick<Database, 'pool'>, input: Sought): AsyncGenerator<Span> {
  const { rows } = await store.pool.query<{ until: Date | null; oldest: Date | null }>(
    `select (select until from usage_progress where grain = 'hour') as until,
            (select min(start) from request_batches where project_id = $1) as oldest`,
    [input.projectId],
  )
  const { until, oldest } = rows[0] ?? { until: null, oldest: null }
  if (oldest === null) return
  const from = Math.floor(Math.max(oldest.getTime(), input.from?.getTime() ?? 0) / grainMs.minute) * grainMs.minute
  const to = Math.min(latest, input.to?.getTime() ?? latest)
  // Figures of the last hours are by minute only.
  const whole = Math.max(from, until?.getTime() ?? 0)
  const starts = (stored: 'minute' | 'hour', begin: number, end: number) =>
    startsOf(store, input, { stored, from: begin, to: end })
  yield* joined(await starts('minute', whole, to))
  const firstHour = Math.floor(from / grainMs.hour) * grainMs.hour
  for (const hour of await starts('hour', firstHour, Math.min(to, whole))) {
    yield* joined(await starts('minute', Math.max(from, hour), Math.min(to, whole, hour + grainMs.hour)))
  }
}

type Stretch = { stored: 'minute' | 'hour'; from: number; to: number }

/** Starts of periods with such calls, newest first. Unknown queries are counted without a name, which may be any. */
async function startsOf(
  store: Pick<Database, 'pool'>,
  { projectId, environment, query, version, keyId, entry, status, error, outcome }: Sought,
  { stored, from, to }: Stretch,
): Promise<number[]> {
  if (from >= to) return []
  const { rows } = await store.pool.query<{ start: Date }>(
    `select distinct start from usage_rollups
      where project_id = $1 and grain = $2 and start >= $3 and start < $4
        and ($5::text is null or environment in ($5, '')) and ($6::text is null or query in ($6, ''))
        and ($7::text is null or key_id = $7) and ($8::text is null or entry = $8)
        and ($9::int is null or status = $9) and ($10::text is null or error = $10)
        and ($11::int is null or version = $11)
        ${outcomeText(outcome)}
      order by start desc`,
    [projectId, stored, new Date(from), new Date(to), environment, query, keyId, entry, status, error, version],
  )
  return rows.map(({ start }) => start.getTime())
}

/** Minutes that follow one another are one span. */
function* joined(minutes: number[]): Generator<Span> {
  let span: { from: number; to: number } | undefined
  for (const minute of minutes) {
    if (span !== undefined && span.from === minute + grainMs.minute) {
      span.from = minute
      continue
    }
    if (span !== undefined) yield { from: new Date(span.from), to: new Date(span.to) }
    span = { from: minute, to: minute + grainMs.minute }
  }
  if (span !== undefined) yield { from: new Date(span.from), to: new Date(span.to) }
}
