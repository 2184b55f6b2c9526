import type { queryFigures } from '../../../api/usage.ts'
import type { Value } from '../../../api/wire-codec.ts'
import { requireRole, type Caller } from '../../access/index.ts'
import type { Clock } from '../../clock.ts'
import type { Database } from '../../store/index.ts'
import { countsOf, noFigures, sourceOf, sums, type Figures, type Filter } from './figures.ts'
import { percentile, type Latencies } from '../stored/latencies.ts'
import { readRange, type Range, type RangeInput } from './range.ts'
import type { Usage } from '../record/record.ts'
import { readTimesBy } from './times.ts'

type Timed = Figures & { times: Latencies }
type Asked = Pick<RangeInput, 'from' | 'to' | 'timeZone'> & { projectId: string; environment?: string | undefined }

const weekMs = 7 * 86_400_000

/** Every query that was called in a week, or the time given, or in as long a time before; by name. */
export async function reportQueries(
  app: { store: Database; usage: Usage; now: Clock },
  caller: Caller,
  { projectId, environment, ...input }: Asked,
): Promise<Value<typeof queryFigures>> {
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
  const nothing = (): Counted => ({ ...noFigures, times: new Map(), days: [] })
  return {
    from: range.from,
    to: range.to,
    beforeFrom,
    data: names.map((query) => {
      const { days, ...figures } = now.get(query) ?? nothing()
      const counts = { ...timedCounts(figures), before: timedCounts(before.get(query) ?? nothing()) }
      return { query, ...counts, days: range.starts.map((_, piece) => days[piece] ?? 0) }
    }),
  }
}

function timedCounts(timed: Timed) {
  return { ...countsOf(timed), p95Ms: percentile(timed.times, 0.95) }
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
    const sum = found.get(query) ?? { ...noFigures, times: times.get(query) ?? new Map(), days: [] }
    sum.days[piece] = figures.requests
    for (const name of Object.keys(noFigures) as Array<keyof Figures>) sum[name] += figures[name]
    found.set(query, sum)
  }
  return found
}
