import type { metrics } from '../../../api/usage.ts'
import type { Value } from '../../../api/wire-codec.ts'
import { findKey, keyNames, requireRole, type Caller, type KeyUses } from '../../access/index.ts'
import { allProjectIds } from '../../projects/index.ts'
import type { Database } from '../../store/index.ts'
import { countsOf, noFigures, readGroups, readPieces, readTimes, share, type Filter, type Group } from './figures.ts'
import { addLatency, percentile, round, type Latencies } from '../stored/latencies.ts'
import { readTopQuestions } from './questions.ts'
import { readRange, type RangeInput } from './range.ts'
import type { Usage } from '../record/record.ts'
import type { Clock } from '../../clock.ts'

type Report = Value<typeof metrics>

type Parts = { store: Database; usage: Usage; now: Clock }
type Asked = RangeInput & { environment?: string | undefined; query?: string | undefined }

/** Usage of a project over a span of time. */
export async function reportUsage(
  app: Parts,
  caller: Caller,
  { projectId, ...input }: Asked & { projectId: string; keyId?: string | undefined },
): Promise<Report> {
  await requireRole(app, caller, projectId, 'viewer')
  return report(app, { ...input, projectIds: [projectId] })
}

/** Usage of an API key in every project that it reaches, for those who may see the key. */
export async function reportKeyUsage(
  app: Parts & { keyUses: KeyUses },
  caller: Caller,
  { keyId, ...input }: Asked & { keyId: string },
): Promise<Report> {
  const { permissions } = await findKey(app, caller, keyId)
  const named = permissions.map(({ projectId }) => projectId)
  const projectIds = named.includes('*') ? await allProjectIds(app.store) : [...new Set(named)]
  return report(app, { ...input, keyId, projectIds })
}

/** Calls that this process has not written yet are written first, so that they count. */
async function report(app: Parts, input: Filter & RangeInput): Promise<Report> {
  const range = await readRange(app.store, app.now(), input)
  await app.usage.flush()
  const [groups, pieces, times, { top, unanswered }] = await Promise.all([
    readGroups(app.store, input, range),
    readPieces(app.store, input, range),
    readTimes(app.store, input, range),
    readTopQuestions(app.store, input, range),
  ])
  const of = (by: Group['by']): Group[] => groups.filter((group) => group.by === by)
  const { from, to, interval, timeZone, starts } = range
  const all = of('all')[0] ?? noFigures
  const outcomes = of('outcome')
  return {
    from,
    to,
    interval,
    timeZone,
    totals: {
      ...countsOf(all),
      ...timesOf(merged(times.byPiece.values())),
      rows: all.rows,
      bytes: all.bytes,
      cache: cachedOf(of('cache')),
    },
    series: starts.map((time, piece) => ({
      time,
      ...countsOf(pieces.get(piece) ?? noFigures),
      ...timesOf(times.byPiece.get(piece) ?? new Map()),
    })),
    popularQueries: popular(of('query'), times.byQuery, ({ requests }) => requests),
    slowestQueries: popular(of('query'), times.byQuery, ({ totalMs }) => totalMs),
    errors: failuresOf(outcomes),
    byKey: await namedKeys(app.store, of('key')),
    byVersion: of('version')
      .flatMap(({ query, version, ...group }) =>
        query === null || query === '' || version === null ? [] : [{ query, version, ...countsOf(group) }],
      )
      .toSorted((left, right) => left.query.localeCompare(right.query) || left.version - right.version),
    byEnvironment: busiestFirst(of('environment'), 'environment').map(({ name: environment, ...counts }) => {
      return { environment, ...counts }
    }),
    byProject: busiestFirst(of('project'), 'projectId').map(({ name: projectId, ...counts }) => {
      return { projectId, ...counts }
    }),
    questions: { ...countQuestions(outcomes), top, unanswered },
  }
}

const maxPopular = 20

/** The queries that come first by some figure; equal ones by name. */
function popular(
  groups: Group[],
  times: Map<string, Latencies>,
  order: (group: Group) => number,
): Report['popularQueries'] {
  return groups
    .flatMap((group) => (group.query === null || group.query === '' ? [] : [{ group, query: group.query }]))
    .toSorted((left, right) => order(right.group) - order(left.group) || left.query.localeCompare(right.query))
    .slice(0, maxPopular)
    .map(({ group, query }) => {
      const p95Ms = percentile(times.get(query) ?? new Map(), 0.95)
      return { query, ...countsOf(group), p95Ms, totalMs: round(group.totalMs) }
    })
}

function timesOf(times: Latencies): Pick<Report['totals'], 'p50Ms' | 'p95Ms' | 'p99Ms'> {
  return { p50Ms: percentile(times, 0.5), p95Ms: percentile(times, 0.95), p99Ms: percentile(times, 0.99) }
}

function merged(all: Iterable<Latencies>): Latencies {
  const sum: Latencies = new Map()
  for (const each of all) for (const [bucket, count] of each) addLatency(sum, bucket, count)
  return sum
}

function cachedOf(groups: Group[]): Report['totals']['cache'] {
  const of = (state: string): number => groups.find(({ cache }) => cache === state)?.requests ?? 0
  const [hit, miss, bypass] = [of('hit'), of('miss'), of('bypass')]
  return { hit, miss, bypass, hitRate: share(hit, hit + miss + bypass) }
}

function failuresOf(outcomes: Group[]): Report['errors'] {
  const counts = new Map<string, Report['errors'][number]>()
  for (const { status, error, reason, requests, rejected } of outcomes) {
    if (status === null || status < 400) continue
    const key = `${status}\n${error}\n${reason}`
    const entry = counts.get(key) ?? { status, error: error ?? '', reason: reason === '' ? null : reason, count: 0 }
    entry.count += requests + rejected
    counts.set(key, entry)
  }
  // Equal counts stay in one order, so that a page that is read again does not jump.
  return [...counts]
    .toSorted(([a, left], [b, right]) => right.count - left.count || a.localeCompare(b))
    .map(([, failure]) => failure)
}

/** Counts by what a group is of, most calls first; equal ones by name. */
function busiestFirst(groups: Group[], column: 'keyId' | 'environment' | 'projectId') {
  return groups
    .flatMap((group) => {
      const name = group[column]
      return name === null || name === '' ? [] : [{ name, ...countsOf(group) }]
    })
    .toSorted((a, b) => b.requests + b.rejected - (a.requests + a.rejected) || a.name.localeCompare(b.name))
}

function countQuestions(outcomes: Group[]): Omit<Report['questions'], 'top' | 'unanswered'> {
  const counts = { asked: 0, answered: 0, flagged: 0, refused: 0, reasons: {} as Record<string, number> }
  for (const { entry, status, reason, requests } of outcomes) {
    if (entry !== 'question' || status === null) continue
    counts.asked += requests
    if (status < 400) counts.answered += requests
    if (status < 400 && reason === 'unexpressed') counts.flagged += requests
    if (status !== 422) continue
    counts.refused += requests
    const why = reason ?? ''
    counts.reasons[why] = (counts.reasons[why] ?? 0) + requests
  }
  return counts
}

const maxKeys = 100

async function namedKeys(store: Pick<Database, 'db'>, groups: Group[]): Promise<Report['byKey']> {
  const busiest = busiestFirst(groups, 'keyId').slice(0, maxKeys)
  const names = await keyNames(
    store,
    busiest.map(({ name }) => name),
  )
  return busiest.map(({ name: keyId, ...counts }) => ({ keyId, name: names.get(keyId) ?? null, ...counts }))
}
