import { findKey, keyNames, requireRole, type Caller, type KeyUses } from '../access/index.ts'
import { allProjectIds } from '../projects/index.ts'
import type { Database } from '../store/index.ts'
import { readGroups, readPieces, readTimes, type Figures, type Filter, type Group } from './report/figures.ts'
import { addLatency, type Latencies } from './stored/latencies.ts'
import { readTopQuestions, type TopQuestions } from './report/questions.ts'
import { readRange, type Range, type RangeInput } from './report/range.ts'
import type { Usage } from './record/record.ts'
import type { Clock } from '../clock.ts'

export type Report = {
  range: Range
  totals: Figures & { times: Latencies; cached: { hit: number; miss: number; bypass: number } }
  series: Array<Figures & { start: Date; times: Latencies }>
  queries: Array<Figures & { query: string; times: Latencies }>
  keys: Array<Figures & { keyId: string; name: string | null }>
  versions: Array<Figures & { query: string; version: number }>
  environments: Array<Figures & { environment: string }>
  projects: Array<Figures & { projectId: string }>
  failures: Array<{ status: number; error: string; reason: string; count: number }>
  questions: Questions
}

export type Questions = TopQuestions & {
  asked: number
  answered: number
  /** Of the answers: those that say what they leave out. */
  flagged: number
  refused: number
  byReason: Record<string, number>
}

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

/** What this process has seen is written first, so that it is counted. */
async function report(app: Parts, input: Filter & RangeInput): Promise<Report> {
  const range = await readRange(app.store, app.now(), input)
  await app.usage.flush()
  const [groups, pieces, times, questions] = await Promise.all([
    readGroups(app.store, input, range),
    readPieces(app.store, input, range),
    readTimes(app.store, input, range),
    readTopQuestions(app.store, input, range),
  ])
  const of = (by: Group['by']): Group[] => groups.filter((group) => group.by === by)
  const outcomes = of('outcome')
  return {
    range,
    totals: { ...figuresOf(of('all')[0]), times: merged(times.byPiece.values()), cached: cachedOf(of('cache')) },
    series: range.starts.map((start, piece) => ({
      ...figuresOf(pieces.get(piece)),
      start,
      times: times.byPiece.get(piece) ?? new Map(),
    })),
    queries: of('query').flatMap(({ query, ...group }) =>
      query === null || query === ''
        ? []
        : [{ ...figuresOf(group), query, times: times.byQuery.get(query) ?? new Map() }],
    ),
    keys: await named(app.store, of('key')),
    versions: of('version').flatMap(({ query, version, ...group }) =>
      query === null || query === '' || version === null ? [] : [{ ...figuresOf(group), query, version }],
    ),
    environments: busiestFirst(
      of('environment').flatMap(({ environment, ...group }) =>
        environment === null || environment === '' ? [] : [{ ...figuresOf(group), environment }],
      ),
      ({ environment }) => environment,
    ),
    projects: busiestFirst(
      of('project').flatMap(({ projectId, ...group }) =>
        projectId === null ? [] : [{ ...figuresOf(group), projectId }],
      ),
      ({ projectId }) => projectId,
    ),
    failures: failuresOf(outcomes),
    questions: { ...countQuestions(outcomes), ...questions },
  }
}

const none: Figures = { requests: 0, errors: 0, rejected: 0, totalMs: 0, rows: 0, bytes: 0 }

function figuresOf(group: Figures | undefined): Figures {
  const { requests, errors, rejected, totalMs, rows, bytes } = group ?? none
  return { requests, errors, rejected, totalMs, rows, bytes }
}

function merged(all: Iterable<Latencies>): Latencies {
  const sum: Latencies = new Map()
  for (const each of all) for (const [bucket, count] of each) addLatency(sum, bucket, count)
  return sum
}

function cachedOf(groups: Group[]): { hit: number; miss: number; bypass: number } {
  const of = (state: string): number => groups.find(({ cache }) => cache === state)?.requests ?? 0
  return { hit: of('hit'), miss: of('miss'), bypass: of('bypass') }
}

function failuresOf(outcomes: Group[]): Report['failures'] {
  const counts = new Map<string, Report['failures'][number]>()
  for (const { status, error, reason, requests, rejected } of outcomes) {
    if (status === null || status < 400) continue
    const key = `${status}\n${error}\n${reason}`
    const entry = counts.get(key) ?? { status, error: error ?? '', reason: reason ?? '', count: 0 }
    entry.count += requests + rejected
    counts.set(key, entry)
  }
  // Equal counts stay in one order, so that a page that is read again does not jump.
  return [...counts]
    .toSorted(([a, left], [b, right]) => right.count - left.count || a.localeCompare(b))
    .map(([, failure]) => failure)
}

/** Most calls first; equal ones by name. */
function busiestFirst<Each extends Figures>(groups: Each[], nameOf: (each: Each) => string): Each[] {
  const calls = ({ requests, rejected }: Figures): number => requests + rejected
  return groups.toSorted((a, b) => calls(b) - calls(a) || nameOf(a).localeCompare(nameOf(b)))
}

function countQuestions(outcomes: Group[]): Omit<Questions, keyof TopQuestions> {
  const counts = { asked: 0, answered: 0, flagged: 0, refused: 0, byReason: {} as Record<string, number> }
  for (const { entry, status, reason, requests } of outcomes) {
    if (entry !== 'question' || status === null) continue
    counts.asked += requests
    if (status < 400) counts.answered += requests
    if (status < 400 && reason === 'unexpressed') counts.flagged += requests
    if (status !== 422) continue
    counts.refused += requests
    const why = reason ?? ''
    counts.byReason[why] = (counts.byReason[why] ?? 0) + requests
  }
  return counts
}

async function named(store: Pick<Database, 'db'>, groups: Group[]): Promise<Report['keys']> {
  const used = groups.flatMap(({ keyId, ...group }) =>
    keyId === null || keyId === '' ? [] : [{ ...figuresOf(group), keyId }],
  )
  const busiest = busiestFirst(used, ({ keyId }) => keyId).slice(0, maxKeys)
  const names = await keyNames(
    store,
    busiest.map(({ keyId }) => keyId),
  )
  return busiest.map((each) => Object.assign(each, { name: names.get(each.keyId) ?? null }))
}

const maxKeys = 100
