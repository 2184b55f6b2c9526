import { requireRole, type Caller } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import type { Database } from '../../store/index.ts'
import { sourceOf, sums, type Figures, type Filter } from './figures.ts'
import type { Latencies } from '../stored/latencies.ts'
import { readRange, type Range, type RangeInput } from './range.ts'
import type { Usage } from '../record/record.ts'
import { readTimesBy } from './times.ts'

/** How one query did, and how it did in as long a time before. */
type QueryTrend = Timed & {
  query: string
  before: Timed
  /** Its requests by day, the oldest first. */
  days: number[]
}

type Timed = Figures & { times: Latencies }
type Asked = Pick<RangeInput, 'from' | 'to' | 'timeZone'> & { projectId: string; environment?: string | undefined }

const weekMs = 7 * 86_400_000
const none: Figures = { requests: 0, errors: 0, rejected: 0, totalMs: 0, rows: 0, bytes: 0 }

/** Every query that was called in a week, or the time given, or in as long a time before; by name. */
export async function reportQueries(
  app: { store: Database; usage: Usage; now: Clock },
  caller: Caller,
  { projectId, environment, ...input }: Asked,
): Promise<{ range: Range; beforeFrom: Date; queries: QueryTrend[] }> {
  await requireRole(app, caller, projectId, 'viewer')
  const end = input.to?.getTime() ?? app.now()
  const from = input.from ?? new Date(end - weekMs)
  const range = await readRange(app.store, app.now(), { ...input, from, interval: '1d' })
  const beforeFrom = new Date(range.from.getTime() - (range.to.getTime() - range.from.getTime()))
  const earlier = { ...range, from: beforeFrom, to: range.from, starts: [beforeFrom] }
  await app.usage.flush()
  const filter = { projectIds: [projectId], environment }
  const [now, before] = await Promise.all([
    readByQuery(app.store, filter, range),
    readByQuery(app.store, filter, earlier),
  ])
  const names = [...new Set([...now.keys(), ...before.keys()])].toSorted((left, right) => left.localeCompare(right))
  const nothing = (): Counted => ({ ...none, times: new Map(), days: [] })
  return {
    range,
    beforeFrom,
    queries: names.map((query) => {
      const { days, ...figures } = now.get(query) ?? nothing()
      const { days: _days, ...then } = before.get(query) ?? nothing()
      return { query, ...figures, before: then, days: range.starts.map((_, piece) => days[piece] ?? 0) }
    }),
  }
}

type Counted = Timed & { days: number[] }

async function readByQuery(store: Pick<Database, 'pool'>, filter: Filter, range: Range): Promise<Map<string, Counted>> {
  const source = await sourceOf(store, { filter, range, coarsest: range.coarsest })
  const [counted, times] = await Promise.all([
    store.pool.query<Figures & { query: string; piece: number }>(
      `with calls as (${source.text}) select query, piece, ${sums} from calls where query <> '' group by query, piece`,
      source.values,
    ),
    readTimesBy<string>(store, source, 'query'),
  ])
  const found = new Map<string, Counted>()
  for (const { query, piece, ...figures } of counted.rows) {
    const sum = found.get(query) ?? { ...none, times: times.get(query) ?? new Map(), days: [] }
    sum.days[piece] = figures.requests
    for (const name of Object.keys(none) as Array<keyof Figures>) sum[name] += figures[name]
    found.set(query, sum)
  }
  return found
}
