import type { Vault } from '../access/index.ts'
import type { Config } from '../config.ts'
import type { Catalogs } from '../data/index.ts'
import type { QueryEngine } from '../engine/index.ts'
import { createSerial, openPeriodic } from '../flow/index.ts'
import type { Observe } from '../observe.ts'
import { answersKey, type AnsweredCall, type Deployments, type ReleaseTrial } from '../queries/index.ts'
import { isRowRefused, type Database, type ReplayCounts } from '../store/index.ts'
import { addCounts, addComparedCall, noCounts, type CountsByQuery } from './counts.ts'
import { ensureReplay, keepCalls, replayedCall, maxReplayedCalls, type ReplayedCall } from './replay-records.ts'
import { compareCall } from './run-call.ts'

/** Runs answered calls a second time, on the other version of a release that is tried out, and compares. */
export type BehindCalls = {
  /** Never waits: what finds no room is counted and forgotten. */
  received(call: AnsweredCall): void
  /** Ends when nothing waits any more and all that was counted is written. */
  settled(): Promise<void>
  close(): Promise<void>
}

export type BehindParts = {
  store: Pick<Database, 'db'>
  vault: Vault
  engine: QueryEngine
  catalogs: Catalogs
  deployments: Deployments
  config: Config
  observe: Observe
  now: () => number
}

/** Compared with what it is to replace. */
type Comparing = ReleaseTrial & { replayId: string }

type Waiting = { call: AnsweredCall; trial: Comparing; at: number }

/** Results of one trial's calls that are not written yet. */
type Unwritten = { trial: Comparing; counts: CountsByQuery; calls: ReplayedCall[] }

const flushMs = 1_000

// Over 70 lines: what waits, what is counted and what is written are one state.
export function openBehindCalls(app: BehindParts): BehindCalls {
  const { shadowQueueLength, shadowCallsPerSecond } = app.config.limits
  const waiting: Waiting[] = []
  const unwritten = new Map<string, Unwritten>()
  const storedCounts = new Map<string, number>()
  const closing = new AbortController()
  const allowance = openAllowance(shadowCallsPerSecond)
  let working: Promise<void> | null = null

  function received(call: AnsweredCall): void {
    const trial = comparingTrial(app.deployments, call)
    if (trial === null) return
    const isFull = waiting.length >= shadowQueueLength || app.engine.health().waiting > 0 || !allowance()
    if (isFull) {
      ownOf(trial, call.name).dropped += 1
      return
    }
    waiting.push({ call, trial, at: app.now() })
    working ??= work().finally(() => (working = null))
  }

  /** The answer goes out first: whoever called is not made to wait by what is done with their call. */
  async function work(): Promise<void> {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    for (let next = waiting.shift(); next !== undefined && !closing.signal.aborted; next = waiting.shift()) {
      await compare(next).catch((error: unknown) => {
        if (!closing.signal.aborted) app.observe({ kind: 'fault', where: 'calls run behind', error })
      })
    }
  }

  async function compare({ call, trial, at }: Waiting): Promise<void> {
    const { projectId, environment, name, parameters } = call
    const before = app.deployments.find({ projectId, environment: environment ?? '', name })?.version
    const after = trial.versions.get(name)
    if (before === undefined || after === undefined) return
    const input = { projectId, before, after, parameters: { ...parameters }, signal: closing.signal }
    const compared = await compareCall(app, input)
    const own = unwrittenOf(trial)
    addComparedCall(own.counts, name, compared)
    const count = storedCounts.get(trial.replayId) ?? 0
    if (compared.outcome === 'equal' || count >= maxReplayedCalls) return
    storedCounts.set(trial.replayId, count + 1)
    const came = { calledAt: new Date(at), keyId: call.caller?.key.id ?? null, times: 1 }
    own.calls.push(replayedCall({ name, before, after }, { ...compared, ...came, parameters: { ...parameters } }))
  }

  function unwrittenOf(trial: Comparing): Unwritten {
    const own = unwritten.get(trial.replayId) ?? { trial, counts: {}, calls: [] }
    unwritten.set(trial.replayId, own)
    return own
  }

  function ownOf(trial: Comparing, query: string): ReplayCounts {
    return (unwrittenOf(trial).counts[query] ??= noCounts())
  }

  /** Results that could not be written are written with the next ones. */
  function waitOn({ trial, counts, calls }: Unwritten): void {
    const own = unwrittenOf(trial)
    for (const [query, sum] of Object.entries(counts))
      own.counts[query] = addCounts(own.counts[query] ?? noCounts(), sum)
    own.calls.unshift(...calls)
  }

  async function write(): Promise<void> {
    const [...all] = unwritten
    unwritten.clear()
    for (const [at, [replayId, own]] of all.entries()) {
      try {
        await addTo(app, replayId, own)
      } catch (error) {
        // Its project is gone: nobody asks any more.
        if (isRowRefused(error)) continue
        for (const [, each] of all.slice(at)) waitOn(each)
        throw error
      }
    }
  }

  /** One at a time: whoever waits for all to be written waits for what another flush has in hand, too. */
  const flush = createSerial(write)
  const periodic = openPeriodic({
    everyMs: flushMs,
    work: () => flush.run(),
    onError: (error) => app.observe({ kind: 'fault', where: 'calls run behind', error }),
  })
  return {
    received,
    async settled() {
      const rest = async (): Promise<void> => {
        if (working === null) return
        await working
        await rest()
      }
      await rest()
      await flush.run()
    },
    async close() {
      closing.abort()
      waiting.length = 0
      await working
      await periodic.close()
      await flush.run().catch((error: unknown) => app.observe({ kind: 'fault', where: 'calls run behind', error }))
    },
  }
}

/** The trial that wants this call compared; null where there is none. Of a canary, calls that it answered itself. */
function comparingTrial(
  deployments: Deployments,
  { projectId, environment, name, caller }: AnsweredCall,
): Comparing | null {
  if (environment === null || caller === null) return null
  const trial = deployments.find({ projectId, environment, name })?.trial ?? null
  if (trial === null || trial.replayId === null) return null
  if (trial.kind === 'canary' && !answersKey(trial, caller.key.id)) return null
  return { ...trial, replayId: trial.replayId }
}

/** So many a second, and no more. */
function openAllowance(perSecond: number): () => boolean {
  let fullAtMs = 0
  return () => {
    const nowMs = performance.now()
    const next = Math.max(fullAtMs, nowMs - 1_000) + 1_000 / perSecond
    if (next > nowMs) return false
    fullAtMs = next
    return true
  }
}

/** Several processes count for the same release. */
async function addTo(
  app: Pick<BehindParts, 'store' | 'vault'>,
  replayId: string,
  { trial, counts, calls }: Unwritten,
): Promise<void> {
  await app.store.db.transaction().execute(async (transaction) => {
    await ensureReplay(transaction, { id: replayId, ...trial })
    const row = await transaction
      .selectFrom('replays')
      .select('counts')
      .where('id', '=', replayId)
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined) return
    const sum = { ...row.counts }
    for (const [query, own] of Object.entries(counts)) sum[query] = addCounts(sum[query] ?? noCounts(), own)
    await keepCalls({ transaction, vault: app.vault }, { projectId: trial.projectId, replayId }, calls)
    await transaction
      .updateTable('replays')
      .set({ counts: JSON.stringify(sum) })
      .where('id', '=', replayId)
      .execute()
  })
}
