import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { LRUCache } from 'lru-cache'
import { dataChanged, type Catalogs, type DatasourceDirectory } from '../../data/index.ts'
import { Failure } from '../../failure.ts'
import { openGate, within } from '../../flow/index.ts'
import type { QueryEngine } from '../../engine/index.ts'
import type { DeployGate, Deployments } from '../../queries/index.ts'
import type { Database } from '../../store/index.ts'
import { lazyEncoder, type EncoderOptions, type LazyEncoder } from './lazy-encoder.ts'
import { findLosses } from './losses.ts'
import { findRegressions, keepResults } from './regressions.ts'
import { questionsChanged, readProject, type AskedQuery, type QuestionPlace, type Supposed } from './snapshot.ts'
import { openAdmission, type QuestionAdmission } from './admission.ts'
import {
  buildIndex,
  patchIndex,
  type ProjectIndex,
  type RoutableProject,
  type RoutableQuery,
} from '../../router/index.ts'

/** An index for each place that is asked, kept fresh behind the questions. */
export type QuestionIndexes = DeployGate & {
  /** The newest index of a place. Waits for the first one, no longer than the limit; a later one takes its place unseen. */
  index(place: QuestionPlace, fresh?: 'fresh' | 'judging'): Promise<ProjectIndex>
  /** As it would be with queries changed, and others gone. Built for the occasion. */
  trial(place: QuestionPlace, changed: AskedQuery[], removed?: string[]): Promise<ProjectIndex>
  /** Builds what is asked of a project anew, and waits for it: what was changed holds from now on. */
  renew(projectId: string): Promise<void>
  /** Callers who ask pass here first, and are refused at once where too many questions are being read. */
  admission: QuestionAdmission
  /** Vectors of texts, for whoever compares questions with each other. */
  encode(texts: string[]): Promise<Float32Array[]>
  /** Opens the encoder before the first question needs it. What goes wrong is observed, and met again by who asks. */
  warm(): Promise<void>
  health(): { encoder: ReturnType<LazyEncoder['state']>; indexes: number }
  close(): Promise<void>
}

export type QuestionIndexesOptions = EncoderOptions & {
  /** Longest expected wait of a question for its turn. */
  questionWaitMs: number
  /** Longest wait of a question for its first index. */
  waitMs: number
  maxBytes: number
  store: Database
  datasources: DatasourceDirectory
  deployments: Deployments
  catalogs: Catalogs
  engine: Pick<QueryEngine, 'comparisons'>
}

type Entry = {
  place: QuestionPlace
  index: ProjectIndex | null
  fingerprint: string
  /** Hash of the values of its slots. */
  valuesPrint: string
  /** Whether it was patched since it was built as a whole. */
  isPatched: boolean
  /** It is to be built as a whole, whether anything changed or not. */
  wantsWhole: boolean
  /** Something may have changed since it was built. */
  stale: boolean
  building: Promise<void> | null
  usedAtMs: number
}

type Built = Pick<Entry, 'fingerprint' | 'valuesPrint' | 'isPatched'> & { index: ProjectIndex; sizeBytes: number }

/** A patched index is as good as one that was built but for what all queries together teach; that follows in quiet. */
const wholeAfterMs = 2_000

/** A trial is most often what is deployed a moment later: then it is the index. */
const trialMs = 60_000
const maxTrials = 2

/** An index that nobody asked for so long is built again when somebody does. */
const idleMs = 600_000
const settleMs = 15_000
/** Few, so that questions asked meanwhile find a nearly empty queue. */
const textsAtOnce = 8
/** More at once would only make each wait longer. */
const buildsAtOnce = 2
/** Longest time for the texts of a query that are not encoded yet. */
const perQueryMs = 100
/** Builds for an occasion beyond so many that wait already are refused. */
const maxWaiting = 64

// Over 70 lines: what it returns shares the entries, the trials and the turns.
export async function openQuestionIndexes(options: QuestionIndexesOptions): Promise<QuestionIndexes> {
  const { store, deployments, observe, now } = options
  const entries = new LRUCache<string, Entry>({ maxSize: options.maxBytes })
  const trials = new LRUCache<string, Built>({ max: maxTrials, ttl: trialMs, ttlAutopurge: true })
  const encoder = lazyEncoder(options)
  const builds = openGate({ room: buildsAtOnce, late: beingRead })
  let closed = false

  async function build(
    place: QuestionPlace,
    { supposed, before }: { supposed?: Supposed; before?: Entry },
  ): Promise<Built | null> {
    const project = await readProject(options, place, supposed)
    const valuesPrint = hashOf(project.values)
    const fingerprint = hashOf({ ...project, values: valuesPrint, queries: project.queries.map(printOf) })
    const isWhole = before?.wantsWhole === true
    if (before?.index !== null && before?.fingerprint === fingerprint && !isWhole) return null
    const tried = trials.get(keyOf(place))
    if (tried?.fingerprint === fingerprint && !isWhole) return tried
    const { building, asking } = await encoder.open()
    const startedMs = performance.now()
    const known = before?.valuesPrint === valuesPrint && !isWhole ? before.index : null
    const patched = known === null ? null : await patchIndex(building, project, known)
    const built = patched ?? (await buildIndex(building, project, before?.index?.vectors))
    observe({
      kind: 'question-index-built',
      projectId: place.projectId,
      environment: place.environment,
      queries: project.queries.length,
      elapsedMs: Math.round(performance.now() - startedMs),
    })
    const index = { ...built, encoder: asking }
    return { index, fingerprint, valuesPrint, isPatched: patched !== null, sizeBytes: sizeOf(built, project) }
  }

  function refresh(entry: Entry): Promise<void> {
    if (!entry.stale && entry.building === null) return Promise.resolve()
    entry.building ??= untilFresh(entry).finally(() => {
      entry.building = null
    })
    return entry.building
  }

  /** Each build in a turn of its own: an index that is never fresh lets others in between. */
  async function untilFresh(entry: Entry): Promise<void> {
    const isWanted = (): boolean => entry.stale && !closed
    while (isWanted()) await builds.run([entry.place.projectId], () => rebuild(entry))
  }

  async function rebuild(entry: Entry): Promise<void> {
    entry.stale = false
    try {
      const built = await build(entry.place, { before: entry })
      if (built === null) return
      Object.assign(entry, built, { wantsWhole: false })
      if (built.isPatched) completeLater(entry)
      const key = keyOf(entry.place)
      if (entries.peek(key) !== entry) return
      // The cache does not weigh a value again that it holds already.
      entries.delete(key)
      // One that is larger than all the room still has it alone: it would be built for every question otherwise.
      entries.set(key, entry, { size: Math.min(built.sizeBytes, options.maxBytes) })
    } catch (error) {
      entry.stale = true
      throw error
    }
  }

  function completeLater(entry: Entry): void {
    setTimeout(() => {
      if (closed || !entry.isPatched || entries.peek(keyOf(entry.place)) !== entry) return
      entry.wantsWhole = true
      entry.stale = true
      renew(entry)
    }, wholeAfterMs).unref()
  }

  function renew(entry: Entry): void {
    refresh(entry).catch((error: unknown) => {
      if (!closed && !(error instanceof Failure)) observe({ kind: 'fault', where: 'question-index', error })
    })
  }

  function outdate(isTouched: (place: QuestionPlace) => boolean): void {
    for (const [key, entry] of entries.entries()) {
      if (!isTouched(entry.place)) continue
      entry.stale = true
      if (now() - entry.usedAtMs > idleMs && entry.building === null) entries.delete(key)
      else renew(entry)
    }
  }

  function entryOf(place: QuestionPlace): Entry {
    const key = keyOf(place)
    const known = entries.get(key)
    if (known !== undefined) return known
    const entry: Entry = {
      place,
      index: null,
      fingerprint: '',
      valuesPrint: '',
      isPatched: false,
      wantsWhole: false,
      stale: true,
      building: null,
      usedAtMs: now(),
    }
    entries.set(key, entry, { size: 1 })
    return entry
  }

  const stopDeployments = deployments.onChange((changed) =>
    outdate(
      (place) =>
        changed === null || (place.projectId === changed.projectId && place.environment === changed.environment),
    ),
  )
  const stopData = await store.listen(
    dataChanged,
    (projectId) => outdate((place) => place.projectId === projectId),
    () => outdate(() => true),
  )

  const stopSettings = await store.listen(
    questionsChanged,
    (projectId) => outdate((place) => place.projectId === projectId),
    () => undefined,
  )

  const indexes: Omit<QuestionIndexes, 'regressions' | 'losses' | 'keepResults'> = {
    async index(place, fresh) {
      const entry = entryOf(place)
      entry.usedAtMs = now()
      if (entry.index !== null && fresh === undefined) {
        if (entry.stale && entry.building === null) renew(entry)
        return entry.index
      }
      // Judging a release waits rather than not know.
      const patience = fresh === 'judging' ? 3 : 1
      await awaited(refresh(entry), options.waitMs * patience)
      if (entry.index === null) throw new Failure('overloaded', { retryAfterSeconds: 1 })
      return entry.index
    },
    async trial(place, changed, removed = []) {
      if (builds.waiting() >= maxWaiting) throw new Failure('overloaded', { retryAfterSeconds: 5 })
      const before = entries.peek(keyOf(place))
      const waitMs = options.waitMs * 3 + changed.length * perQueryMs
      const work = async (): Promise<Built | null> => {
        if (closed) throw new Failure('overloaded', { retryAfterSeconds: 5 })
        const known = before !== undefined && { before: { ...before, fingerprint: '', wantsWhole: false } }
        return build(place, { supposed: { changed, removed }, ...known })
      }
      // A trial that nobody waits for any more leaves the queue.
      const built = await awaited(builds.run([place.projectId], work, { waitMs }), waitMs)
      if (built === null) throw new Failure('internal_error')
      trials.set(keyOf(place), built)
      return built.index
    },
    async settle({ projectId, environment }) {
      const touched = [...entries.values()].filter(
        ({ place }) => place.projectId === projectId && place.environment === environment,
      )
      await Promise.all(touched.map((entry) => awaited(refresh(entry), settleMs).catch(() => undefined)))
    },
    async renew(projectId) {
      outdate((place) => place.projectId === projectId)
      const touched = [...entries.values()].filter(({ place }) => place.projectId === projectId)
      await Promise.all(touched.map((entry) => awaited(refresh(entry), settleMs).catch(() => undefined)))
    },
    admission: openAdmission({
      waitMs: options.questionWaitMs,
      readers: Math.min(options.threads, availableParallelism()),
    }),
    async encode(texts) {
      const { asking } = await encoder.open()
      const vectors: Float32Array[] = []
      for (let at = 0; at < texts.length; at += textsAtOnce) {
        vectors.push(...(await asking.encode(texts.slice(at, at + textsAtOnce))))
      }
      return vectors
    },
    warm: () =>
      encoder.open().then(
        () => undefined,
        () => undefined,
      ),
    health: () => ({ encoder: encoder.state(), indexes: entries.size }),
    async close() {
      closed = true
      stopDeployments()
      stopData()
      stopSettings()
      entries.clear()
      trials.clear()
      await encoder.close()
    },
  }
  return {
    ...indexes,
    regressions: (input) => findRegressions({ ...indexes, store, deployments, now }, input),
    losses: (input) => findLosses({ ...indexes, store, deployments, now }, input),
    keepResults: (place, results) => keepResults(store, place, results),
  }
}

/** Queries that stay are the same objects from build to build: each is written out once. */
const prints = new WeakMap<RoutableQuery, string>()

function printOf(query: RoutableQuery): string {
  const print = prints.get(query) ?? hashOf(query)
  prints.set(query, print)
  return print
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}

function keyOf({ projectId, environment, only, release = null }: QuestionPlace): string {
  return `${projectId}\n${environment}\n${only === null ? '*' : only.toSorted().join(',')}\n${release ?? ''}`
}

const textBytes = 4_000
const valueBytes = 1_000

/** Near enough: vectors, the two whitened spaces, the words and the values. */
function sizeOf({ texts, queries, encoder }: ProjectIndex, project: RoutableProject): number {
  const vectorBytes = encoder.dimensions * 4
  const listed = Object.values(project.values).reduce((sum, values) => sum + values.length, 0)
  return (
    texts.length * (2 * vectorBytes + textBytes) +
    queries.length * 5 * vectorBytes +
    2 * encoder.dimensions * vectorBytes +
    listed * valueBytes
  )
}

/** Waits for an index that is being built. */
const beingRead = {
  message: 'The questions of this project are being read. Try again in a moment.',
  retryAfterSeconds: 2,
}

function awaited<Value>(work: Promise<Value>, limitMs: number): Promise<Value> {
  return within(limitMs, work, () => {
    throw new Failure('overloaded', beingRead)
  })
}
